#pragma once
// Where rendered text goes, piece by piece: as it is, or gzip-compressed on the way, so that a large scrape never
// exists as plain text. One sink per rendering; not thread-safe.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace kepler::prometheus
