#pragma once
// LibbpfLog: captures libbpf messages while this thread opens, loads or attaches. libbpf has one log callback per
// process.
#include <bpf/libbpf.h>

#include <string>

namespace kepler::activity::bpf {

class LibbpfLog {
 public:
  LibbpfLog();
  ~LibbpfLog();
  LibbpfLog(const LibbpfLog&) = delete;
  LibbpfLog& operator=(const LibbpfLog&) = delete;

  /// The first line that reports a failure. Later lines are consequences of the first failure.
  [[nodiscard]] std::string Reason() const { return text_.substr(0, text_.find('\n')); }
  /// Name of the refused program, or "".
  [[nodiscard]] std::string Refused() const;

 private:
  libbpf_print_fn_t before_;
  std::string text_;
};

}  // namespace kepler::activity::bpf
