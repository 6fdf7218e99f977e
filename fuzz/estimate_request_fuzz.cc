// Requests on the socket of the estimator: any bytes give a request within its limits or a reason, and the end of the
// object is where a parser finds it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "modelserver/estimator/estimate_request.h"

using namespace kepler::modelserver::estimator;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ObjectEnd whole;
  ObjectEnd pieces;
  const ObjectEnd::Found found = whole.Read(text);
  for (size_t i = 0; i + 1 < size; ++i) (void)pieces.Read(text.substr(i, 1));
  if (pieces.Read(text.substr(size == 0 ? 0 : size - 1)) != found) std::abort();
  const auto request = ReadEstimateRequest(text);
  if (!request) {
    if (request.error().message.empty()) std::abort();
    return 0;
  }
  if (found != ObjectEnd::Found::kEnd || request->source.empty() || request->rows.size() > kMaxRows) std::abort();
  for (const auto& row : request->rows)
    if (row.size() != request->features.size()) std::abort();
  return 0;
}
