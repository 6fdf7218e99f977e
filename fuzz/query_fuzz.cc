// A query: any bytes give values or an error; a parameter that was encoded is found again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kepler::http::server::FindParameter;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = FindParameter(text, "name");
  if (!value && value.error().message.empty()) std::abort();
  if (value && *value && (*value)->size() > size) std::abort();
  // What is malformed is so whatever is asked for.
  if (FindParameter(text, "").has_value() != value.has_value()) std::abort();
  const auto name = text.substr(0, size / 2);
  const auto rest = text.substr(size / 2);
  const auto found = FindParameter("=&x=%41&" + Encode(name) + "=" + Encode(rest), name);
  if (!found || !*found) std::abort();
  if (name != "x" && !name.empty() && **found != rest) std::abort();
  return 0;
}
