#include "http/server/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "base/percent.h"
#include "base/text.h"

namespace kepler::http::server {
namespace {

constexpr size_t kMaxShown = 80;  // bytes of bad text in an error

/// One name or value of a form (application/x-www-form-urlencoded).
std::optional<std::string> FormDecode(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return PercentDecode(spaced);
}

}  // namespace

std::string Headers::Get(std::string_view name) const {
  const std::string wanted = ToLowerAscii(name);
  std::string all;
  bool found = false;
  for (const auto& [line, value] : lines_) {
    if (line.size() != wanted.size() || ToLowerAscii(line) != wanted) continue;
    if (std::exchange(found, true)) all += ", ";
    all += value;
  }
  return all;
}

Result<std::optional<std::string>> FindParameter(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  Splitter parameters(query, '&');
  while (const auto parameter = parameters.Next()) {
    const auto equals = std::min(parameter->find('='), parameter->size());
    const auto its_name = FormDecode(parameter->substr(0, equals));
    auto value = FormDecode(parameter->substr(std::min(equals + 1, parameter->size())));
    if (!its_name || !value) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("cannot decode the query parameter \"{}\": % must be followed by two "
                              "hexadecimal digits; write a percent sign as %25",
                              EscapeControls(SanitizeUtf8(*parameter, kMaxShown))));
    }
    if (!found && *its_name == name) found = *std::move(value);
  }
  return found;
}

}  // namespace kepler::http::server
