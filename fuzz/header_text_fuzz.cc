// The headers file of exporters that push, and the headers in OpenTelemetry's environment variables.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "export/push/header_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kepler::http::client::ClientRequest lines, pairs;
  static_cast<void>(kepler::push::AddHeaderLines(text, lines));
  static_cast<void>(kepler::push::AddHeaderPairs(text, pairs));
  for (const auto* request : {&lines, &pairs})
    for (const auto& [name, value] : request->headers)
      if (name.empty() || value.empty() || request->headers.size() > kepler::push::kMaxHeaders) std::abort();
  return 0;
}
