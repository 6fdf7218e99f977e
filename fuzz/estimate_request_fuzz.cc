// Requests on the socket of the estimator: any bytes give a request within its limits or a reason, and the end of the
// object is where a parser finds it.
#include "fuzz.h"
#include "modelserver/estimator/estimate_request.h"

using namespace kepler::modelserver::estimator;

void Fuzz(std::string_view text) {
  ObjectEnd whole;
  ObjectEnd pieces;
  const ObjectEnd::Found found = whole.Read(text);
  for (size_t i = 0; i + 1 < text.size(); ++i) (void)pieces.Read(text.substr(i, 1));
  if (pieces.Read(text.substr(text.empty() ? 0 : text.size() - 1)) != found) std::abort();
  const auto request = ReadEstimateRequest(text);
  if (!request) {
    if (request.error().message.empty()) std::abort();
    return;
  }
  if (found != ObjectEnd::Found::kEnd || request->source.empty() || request->rows.size() > kMaxRows) std::abort();
  for (const auto& row : request->rows)
    if (row.size() != request->features.size()) std::abort();
}
