#include "model_store/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "model/file_name.h"

namespace kepler::model_store {
namespace {

constexpr std::string_view kChecksum = "sha256=";
constexpr std::string_view kPower = "power=";
constexpr size_t kSha256Digits = 64;

std::unexpected<Error> Refuse(std::string_view why) { return Fail(ErrorKind::kInvalid, std::string(why)); }

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

Status TakeChecksum(std::string_view value, Place& place) {
  std::string digits = ToLowerAscii(value);
  if (digits.size() != kSha256Digits || !std::ranges::all_of(digits, IsHexDigit))
    return Refuse("has a checksum that is not 64 hexadecimal digits");
  place.sha256 = std::move(digits);
  return {};
}

Status TakeOption(std::string_view option, Place& place) {
  if (option.starts_with(kChecksum) && place.sha256.empty())
    return TakeChecksum(option.substr(kChecksum.size()), place);
  if (!option.starts_with(kPower) || place.output)
    return Refuse("has an unknown or repeated option after #; options are sha256= and power=, joined by &");
  place.output = model::OutputTypeOf(option.substr(kPower.size()));
  return place.output ? Status() : Refuse("power= must be AbsPower or DynPower");
}

/// Returns true if the text after '#' is meant as options. Otherwise it is a part of the file name.
bool AreOptions(std::string_view behind) {
  const std::string lower = ToLowerAscii(behind);
  return !behind.contains('/') && (behind.contains('=') || lower == "sha256" || lower == "power");
}

/// Removes "#sha256=…&power=…" from the text and stores the options.
Status TakeOptions(std::string_view& text, Place& place) {
  const size_t at = text.rfind('#');
  if (at == std::string_view::npos) return {};
  const std::string_view behind = text.substr(at + 1);
  if (!AreOptions(behind)) return {};
  text = text.substr(0, at);
  Splitter options(behind, '&');
  while (const auto option = options.Next()) KEPLER_CHECK_OK(TakeOption(*option, place));
  return {};
}

std::string_view WithoutQuery(std::string_view target) { return target.substr(0, target.find('?')); }

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string Place::Key() const {
  if (url) return url->peer.Url() + url->target;
  std::string key = std::filesystem::path(path).lexically_normal();
  if (key.size() > 1 && key.ends_with('/')) key.pop_back();
  return key;
}

std::string Place::SignatureTarget() const {
  const size_t end = WithoutQuery(url->target).size();
  return url->target.substr(0, end) + ".sig" + url->target.substr(end);
}

std::string Place::OldTarget() const {
  const std::string_view best = WithoutQuery(url->target);
  return std::string(best.substr(0, best.size() - std::string_view(kBestPath).size())) + kOldPath;
}

std::string Place::CacheKey(bool with_signature) const { return (with_signature ? "signed " : "") + Key(); }

Result<Place> ParsePlace(std::string_view text) {
  Place place;
  KEPLER_CHECK_OK(TakeOptions(text, place));
  const std::string scheme = ToLowerAscii(text.substr(0, text.find("://")));
  const bool has_scheme = text.contains("://") && scheme.find('/') == std::string::npos;
  if (has_scheme && scheme != "file") {
    if (scheme != "http" && scheme != "https") return Refuse("is neither a path nor an http or https URL");
    KEPLER_TRY(place.url, http::client::ParseUrl(text));
    const std::string_view path = WithoutQuery(place.url->target);
    place.shown = place.url->peer.Url() + std::string(path);
    place.name = model::NameOfFile(path);
    return place;
  }
  if (has_scheme) text.remove_prefix(std::string_view("file://").size());
  if (has_scheme && !text.starts_with('/')) return Refuse("is a file of another machine; write file:///PATH");
  if (const std::string_view why = WhyNoPath(text); !why.empty()) return Refuse(why);
  if (text.empty()) return Refuse("names nothing");
  if (!text.starts_with('/')) return Refuse("is a relative path; write an absolute path");
  place.shown = place.path = text;
  place.name = model::NameOfFile(text);
  return place;
}

Result<Place> PlaceOfServer(std::string_view server, ModelQuery query) {
  while (server.ends_with('/')) server.remove_suffix(1);
  KEPLER_TRY(Place place, ParsePlace(fmt::format("{}{}?{}", server, kBestPath, BestQuery(query))));
  place.is_named = false;
  place.query = std::move(query);
  return place;
}

model::OutputType OutputOf(std::string_view path) {
  auto output = model::OutputType::kAbsPower;
  Splitter parts(path.substr(0, path.size() - LastPart(path).size()), '/');
  while (const auto part = parts.Next()) output = model::OutputTypeOf(*part).value_or(output);
  return output;
}

}  // namespace kepler::model_store
