#pragma once
// Where rendered text goes, piece by piece: compressed on the way, so that a large scrape never exists as plain text.
// One sink per rendering; not thread-safe.
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "export/prometheus/page.h"

namespace kepler::prometheus {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void Write(std::string_view piece) = 0;
};

/// Each piece of text becomes one of the page.
class GzipSink final : public Sink {
 public:
  GzipSink();
  ~GzipSink() override;
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  void Write(std::string_view piece) override;
  /// The whole page; the sink is used up.
  [[nodiscard]] Page Finish() &&;

 private:
  struct Deflate;
  std::unique_ptr<Deflate> deflate_;
};

class TextBuffer {
 public:
  explicit TextBuffer(Sink& sink);

  /// Room for `bytes` more; write there, then Commit() the end of what was written.
  [[nodiscard]] char* Reserve(size_t bytes) {
    if (buffer_.size() - used_ < bytes) MakeRoom(bytes);
    return buffer_.data() + used_;
  }
  void Commit(const char* end) { used_ = static_cast<size_t>(end - buffer_.data()); }
  void Append(std::string_view text) {
    char* out = Reserve(text.size());
    std::memcpy(out, text.data(), text.size());
    Commit(out + text.size());
  }
  void Flush();

 private:
  void MakeRoom(size_t bytes);

  Sink& sink_;
  std::vector<char> buffer_;
  size_t used_ = 0;
};

}  // namespace kepler::prometheus
