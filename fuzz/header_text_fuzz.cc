// The headers file of exporters that push, and the headers in OpenTelemetry's environment variables.
#include "export/push/header_text.h"
#include "fuzz.h"

void Fuzz(std::string_view text) {
  kepler::http::client::ClientRequest lines, pairs;
  static_cast<void>(kepler::push::AddHeaderLines(text, lines));
  static_cast<void>(kepler::push::AddHeaderPairs(text, pairs));
  for (const auto* request : {&lines, &pairs})
    for (const auto& [name, value] : request->headers)
      if (name.empty() || value.empty() || request->headers.size() > kepler::push::kMaxHeaders) std::abort();
}
