#pragma once
// TextBuffer: collects text and hands it to a Sink in pieces of about 64 KiB. Flush() before it goes.
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "export/prometheus/sink.h"

namespace kepler::prometheus {

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
