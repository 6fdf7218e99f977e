// A query: any bytes give values or an error; a parameter that was encoded is found again.
#include <string>

#include "fuzz.h"
#include "http/server/request.h"

namespace {

std::string Encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

}  // namespace

void Fuzz(std::string_view text) {
  using kepler::http::server::FindParameter;
  const auto value = FindParameter(text, "name");
  if (!value && value.error().message.empty()) std::abort();
  if (value && *value && (*value)->size() > text.size()) std::abort();
  // What is malformed is so whatever is asked for.
  if (FindParameter(text, "").has_value() != value.has_value()) std::abort();
  const auto name = text.substr(0, text.size() / 2);
  const auto rest = text.substr(text.size() / 2);
  const auto found = FindParameter("=&x=%41&" + Encode(name) + "=" + Encode(rest), name);
  if (!found || !*found) std::abort();
  if (name != "x" && !name.empty() && **found != rest) std::abort();
}
