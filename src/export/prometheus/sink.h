#pragma once
// Where rendered text goes, piece by piece: as it is, or gzip-compressed on the way, so that a large scrape never
// exists as plain text. One sink per rendering; not thread-safe.
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kepler::prometheus {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void Write(std::string_view piece) = 0;
};

class StringSink final : public Sink {
 public:
  explicit StringSink(size_t expected_bytes = 0) { text_.reserve(expected_bytes); }
  void Write(std::string_view piece) override { text_.append(piece); }
  /// The text; the sink is used up.
  [[nodiscard]] std::string Finish() && { return std::move(text_); }

 private:
  std::string text_;
};

/// One gzip member.
class GzipSink final : public Sink {
 public:
  GzipSink();
  ~GzipSink() override;
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  void Write(std::string_view piece) override;
  /// The whole member; the sink is used up.
  [[nodiscard]] std::string Finish() &&;

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
