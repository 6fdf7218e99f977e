// The answer of an OTLP server.
#include "export/otlp/receipt.h"
#include "fuzz.h"

void Fuzz(std::string_view text) {
  const auto receipt = kepler::otlp::ReadReceipt(text);
  if (receipt && receipt->message.size() > text.size()) std::abort();
  if (!receipt && receipt.error().kind != kepler::ErrorKind::kMalformed) std::abort();
}
