#include "energy/rapl/zone_name.h"

#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::energy::rapl {
namespace {

constexpr size_t kMaxNameBytes = 64;

/// Cuts "-N" off the end; nothing if `text` has no such end or nothing before it.
std::optional<uint32_t> CutNumber(std::string_view& text) {
  const size_t dash = text.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto number = ParseNumber<uint32_t>(text.substr(dash + 1));
  if (number) text = text.substr(0, dash);
  return number;
}

}  // namespace

ZoneName ParseZoneName(std::string_view text) {
  text = Trim(text);
  ZoneName whole{SanitizeUtf8(text, kMaxNameBytes), {}, {}};
  std::string_view base = text;
  auto index = CutNumber(base);
  if (!index) return whole;
  std::optional<uint32_t> die;
  constexpr std::string_view kDie = "-die";
  if (base.ends_with(kDie)) {
    base.remove_suffix(kDie.size());
    die = std::exchange(index, CutNumber(base));
    if (!index) return whole;
  }
  if (base.find('-') != std::string_view::npos) return whole;
  return {SanitizeUtf8(base, kMaxNameBytes), index, die};
}

}  // namespace kepler::energy::rapl
