// The message and the trailers of a gRPC answer: the first byte is the length of grpc-status-details-bin, the second
// one that of grpc-message; the rest is the body.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/percent.h"
#include "http/grpc/framing.h"
#include "http/grpc/status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kepler::http::grpc;
  constexpr size_t kMax = 4096;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto next = [&bytes](size_t count) {
    const std::string_view field = bytes.substr(0, count);
    bytes.remove_prefix(field.size());
    return field;
  };
  if (size < 2) return 0;
  next(2);
  const std::string_view details = next(data[0]), text = next(data[1]);
  const auto delay = ReadRetryDelay(details);
  if (delay && (delay->count() < 0 || *delay > std::chrono::hours(24))) std::abort();
  if (kepler::PercentDecodeLenient(text).size() > text.size()) std::abort();
  static_cast<void>(ParseCode(text));
  const auto message = ReadOnlyMessage(bytes, "gzip", kMax);
  if (message && message->size() > kMax) std::abort();
  if (!message && message.error().kind != kepler::ErrorKind::kMalformed) std::abort();
  return 0;
}
