#include "model_store/place.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace kepler::model_store {
namespace {

constexpr std::string_view kChecksum = "#sha256=";
constexpr size_t kSha256Digits = 64;

std::unexpected<Error> Refuse(std::string_view why) { return Fail(ErrorKind::kInvalid, std::string(why)); }

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Cuts "#sha256=…" off.
Result<std::string> TakeChecksum(std::string_view& text) {
  const size_t at = text.rfind(kChecksum);
  if (at == std::string_view::npos) return std::string();
  std::string digits = ToLowerAscii(text.substr(at + kChecksum.size()));
  if (digits.size() != kSha256Digits || !std::ranges::all_of(digits, IsHexDigit))
    return Refuse("has a checksum that is not 64 hexadecimal digits");
  text = text.substr(0, at);
  return digits;
}

std::string_view WithoutQuery(std::string_view target) { return target.substr(0, target.find('?')); }

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string Place::Key() const { return url ? url->peer.Url() + url->target : path; }

Result<Place> ParsePlace(std::string_view text) {
  Place place;
  KEPLER_TRY(place.sha256, TakeChecksum(text));
  const std::string scheme = ToLowerAscii(text.substr(0, text.find("://")));
  const bool has_scheme = text.contains("://") && scheme.find('/') == std::string::npos;
  if (has_scheme && scheme != "file") {
    if (scheme != "http" && scheme != "https") return Refuse("is neither a path nor a URL of http or https");
    KEPLER_TRY(place.url, http::ParseUrl(text));
    const std::string_view path = WithoutQuery(place.url->target);
    place.shown = place.url->peer.Url() + std::string(path);
    place.name = ModelNameOf(path);
    return place;
  }
  if (has_scheme) text.remove_prefix(std::string_view("file://").size());
  if (has_scheme && !text.starts_with('/')) return Refuse("is a file of another machine; write file:///PATH");
  if (const std::string_view why = WhyNoPath(text); !why.empty()) return Refuse(why);
  if (text.empty()) return Refuse("names nothing");
  place.shown = place.path = text;
  place.name = ModelNameOf(text);
  return place;
}

std::string ModelNameOf(std::string_view path) {
  std::string_view last = LastPart(path);
  if ((last == "model.json" || last == "weight.json") && last.size() + 1 < path.size()) {
    path.remove_suffix(last.size() + 1);
    last = LastPart(path);
    return std::string(last);
  }
  return std::string(last.ends_with(".json") ? last.substr(0, last.size() - 5) : last);
}

}  // namespace kepler::model_store
