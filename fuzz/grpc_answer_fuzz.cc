// The message and the trailers of a gRPC answer: the first byte is the length of grpc-status-details-bin, the second
// one that of grpc-message; the rest is the body.
#include "base/percent.h"
#include "fuzz.h"
#include "http/grpc/framing.h"
#include "http/grpc/status.h"

void Fuzz(std::string_view bytes) {
  using namespace kepler::http::grpc;
  constexpr size_t kMax = 4096;
  const auto next = [&bytes](size_t count) {
    const std::string_view field = bytes.substr(0, count);
    bytes.remove_prefix(field.size());
    return field;
  };
  if (bytes.size() < 2) return;
  const std::string_view sizes = next(2);
  const std::string_view details = next(static_cast<uint8_t>(sizes[0])), text = next(static_cast<uint8_t>(sizes[1]));
  const auto delay = ReadRetryDelay(details);
  if (delay && (delay->count() < 0 || *delay > std::chrono::hours(24))) std::abort();
  if (kepler::PercentDecodeLenient(text).size() > text.size()) std::abort();
  static_cast<void>(ParseCode(text));
  const auto message = ReadOnlyMessage(bytes, "gzip", kMax);
  if (message && message->size() > kMax) std::abort();
  if (!message && message.error().kind != kepler::ErrorKind::kMalformed) std::abort();
}
