#include "export/push/header_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/base64.h"
#include "base/parse.h"
#include "base/percent.h"
#include "base/text.h"

namespace kepler::push {
namespace {

using http::client::ClientRequest;

/// `scheme` with its blank, in any case; nothing if `value` has another one.
std::optional<std::string_view> AfterScheme(std::string_view value, std::string_view scheme) {
  if (ToLowerAscii(value.substr(0, scheme.size())) != scheme) return std::nullopt;
  return Trim(value.substr(scheme.size()));
}

/// Returns why the value is invalid, "" if it is valid.
std::string_view SetLogin(std::string_view value, ClientRequest& request) {
  if (const auto token = AfterScheme(value, "bearer ")) {
    request.bearer_token = *token;
    return "";
  }
  const auto basic = AfterScheme(value, "basic ");
  if (!basic) return "Authorization is neither Bearer nor Basic";
  const auto login = DecodeBase64(*basic);
  const size_t colon = login ? login->find(':') : std::string::npos;
  if (colon == std::string::npos) return "Authorization has no user and password in Base64";
  request.user = login->substr(0, colon);
  request.password = login->substr(colon + 1);
  return "";
}

std::string AddHeader(std::string_view name, std::string_view value, const HeaderCheck& check, ClientRequest& request) {
  name = Trim(name);
  value = Trim(value);
  if (name.empty() || value.empty()) return "a header needs a name and a value";
  if (ToLowerAscii(name) == "authorization") return std::string(SetLogin(value, request));
  if (request.headers.size() >= kMaxHeaders) return "there are too many headers";
  if (const Status checked = check(name, value); !checked) return checked.error().message;
  request.headers.emplace_back(name, value);
  return "";
}

/// Calls add(part, its number), which returns why the part is invalid, for each
/// part of `text` that is not blank.
Status ForEachPart(std::string_view text, char separator, std::string_view noun, const auto& add) {
  Splitter parts(text, separator);
  size_t number = 0;
  while (const auto next = parts.Next()) {
    ++number;
    const std::string_view part = Trim(*next);
    if (part.empty()) continue;
    if (const std::string why = add(part); !why.empty())
      return Fail(ErrorKind::kMalformed, fmt::format("{} {}: {}", noun, number, why));
  }
  return {};
}

}  // namespace

Status AddHeaderLines(std::string_view text, ClientRequest& request, const HeaderCheck& check) {
  return ForEachPart(text, '\n', "line", [&](std::string_view line) -> std::string {
    if (line.starts_with('#')) return "";
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return "a header is written as Name: value";
    return AddHeader(line.substr(0, colon), line.substr(colon + 1), check, request);
  });
}

Status AddHeaderPairs(std::string_view text, ClientRequest& request, const HeaderCheck& check) {
  return ForEachPart(text, ',', "pair", [&](std::string_view pair) -> std::string {
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return "a header is written as name=value";
    const auto value = PercentDecode(Trim(pair.substr(equals + 1)));
    if (!value) return "% is not followed by two hexadecimal digits";
    return AddHeader(pair.substr(0, equals), *value, check, request);
  });
}

}  // namespace kepler::push
