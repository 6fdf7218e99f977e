#pragma once
// LibbpfLog: what libbpf says while this thread opens, loads or attaches; libbpf has one sink for the whole process.
#include <bpf/libbpf.h>

#include <string>

namespace kepler::activity::bpf {

class LibbpfLog {
 public:
  LibbpfLog();
  ~LibbpfLog();
  LibbpfLog(const LibbpfLog&) = delete;
  LibbpfLog& operator=(const LibbpfLog&) = delete;

  /// The first line that reports a failure: later ones are its consequences.
  [[nodiscard]] std::string Reason() const { return text_.substr(0, text_.find('\n')); }
  /// "" or the program that was refused.
  [[nodiscard]] std::string Refused() const;

 private:
  libbpf_print_fn_t before_;
  std::string text_;
};

}  // namespace kepler::activity::bpf
