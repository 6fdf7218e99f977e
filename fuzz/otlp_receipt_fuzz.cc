// The answer of an OTLP server.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "export/otlp/receipt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto receipt = kepler::otlp::ReadReceipt({reinterpret_cast<const char*>(data), size});
  if (receipt && receipt->message.size() > size) std::abort();
  if (!receipt && receipt.error().kind != kepler::ErrorKind::kMalformed) std::abort();
  return 0;
}
