#pragma once
// Collects rendered text. Each piece is compressed at once, so a large scrape never exists as plain text. One sink and
// one buffer per rendering; not thread-safe.
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/gzip_stream.h"
#include "export/prometheus/page.h"

namespace kepler::prometheus {

/// Turns each piece of text into one piece of the page.
class GzipSink {
 public:
  GzipSink();

  void Write(std::string_view piece);
  /// Returns the whole page. The sink must not be used afterwards.
  [[nodiscard]] Page Finish() &&;

 private:
  GzipStream gzip_;
  Page page_;
};

class TextBuffer {
 public:
  explicit TextBuffer(GzipSink& sink);

  /// Returns room for `bytes` more. Write there, then pass the end of the written text to Commit().
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

  GzipSink& sink_;
  std::vector<char> buffer_;
  size_t used_ = 0;
};

}  // namespace kepler::prometheus
