#pragma once
// RequestBuilder: joins encoded messages into requests of a bounded size, and
// compresses them while they are joined, so that the plain text of a large node
// is never in memory as a whole. One thread.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/gzip_stream.h"
#include "export/push/delivery.h"

namespace kepler::otlp {

enum class Compression : uint8_t { kNone, kGzip };

class RequestBuilder {
 public:
  /// A request has at most this number of bytes before compression, if each
  /// message is much smaller: servers limit requests, often to 4 MiB for gRPC
  /// behind them, or to 20 MiB.
  static constexpr size_t kMaxBytes = size_t{3} << 20;

  RequestBuilder(Compression compression, std::function<void(push::Request)> take);

  /// Adds a message in two parts. `points`: its data points.
  void Add(std::string_view head, std::string_view rest, uint64_t points);
  /// Passes the last request. Without messages there is none.
  void End();

 private:
  void Write(std::string_view piece);

  const std::function<void(push::Request)> take_;
  std::optional<GzipStream> gzip_;  // nothing: no compression
  std::string body_;
  size_t plain_bytes_ = 0;
  uint64_t points_ = 0;
};

}  // namespace kepler::otlp
