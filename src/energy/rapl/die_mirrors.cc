#include "energy/rapl/die_mirrors.h"

#include <algorithm>
#include <variant>

#include "base/log.h"

namespace kepler::energy::rapl {
namespace {

/// Maximum energy of a socket in a few updates of its counter, in microjoules. Updates come every millisecond, and dies
/// may show them one after the other.
constexpr uint64_t kLag = 5'000'000;

/// Returns the distance of two values of a counter that wraps after `range`.
uint64_t Distance(RawCounter a, RawCounter b, uint64_t range) {
  const uint64_t direct = std::max(a, b).microjoules - std::min(a, b).microjoules;
  return std::min(direct, range + 1 - direct);
}

}  // namespace

void DieMirrors::Adopt(std::span<const PowercapZone> zones) {
  pairs_.clear();
  by_zone_.assign(zones.size(), nullptr);
  std::map<std::string, size_t> first;  // of each package's domain
  for (size_t i = 0; i < zones.size(); ++i) {
    const PowercapZone& zone = zones[i];
    if (zone.package.empty()) continue;
    Die& die = dies_[zone.Identity()];
    by_zone_[i] = &die;
    // A die without a usable counter cannot be compared.
    if (die.verdict != Verdict::kOpen || zone.fault) continue;
    const auto [known, is_first] = first.emplace(zone.base + "@" + zone.package, i);
    if (!is_first) pairs_.push_back({known->second, i, &die, zone.path, zone.range});
  }
}

bool DieMirrors::IsMirror(size_t index) const {
  return by_zone_[index] != nullptr && by_zone_[index]->verdict == Verdict::kMirror;
}

void DieMirrors::Judge(std::span<DomainReading> readings, const ReadAgain& again) {
  for (const Pair& pair : pairs_) {
    if (pair.what->verdict != Verdict::kOpen) continue;
    const Answer& before = readings[pair.first].value;
    Answer& shown = readings[pair.die].value;
    if (std::holds_alternative<RawCounter>(before)) pair.what->first_was_read = true;
    const bool reported = Compare(pair, before, shown, again);
    if (!std::holds_alternative<RawCounter>(shown)) continue;
    // The next reading of the first die includes the time without readings. A mirror must not count that time too.
    pair.what->withheld = !reported && pair.what->first_was_read;
    const bool mirror = pair.what->verdict == Verdict::kMirror;
    if (pair.what->withheld || mirror) shown = Withheld{.for_good = mirror};
  }
}

bool DieMirrors::Compare(const Pair& pair, const Answer& before, const Answer& shown, const ReadAgain& again) {
  const auto* low = std::get_if<RawCounter>(&before);
  const auto* value = std::get_if<RawCounter>(&shown);
  if (low == nullptr || value == nullptr) return false;
  const Answer after = again(pair.first);
  const auto* high = std::get_if<RawCounter>(&after);
  if (high == nullptr || *high < *low) return false;  // the counter wrapped between the readings
  Die& die = *pair.what;
  if (*value < *low || *value > *high) {
    if (Distance(*value, *low, pair.range) <= kLag || Distance(*value, *high, pair.range) <= kLag) return false;
    die.verdict = Verdict::kSeparate;
    return true;
  }
  if (die.seen_equal.value_or(*value) != *value) {
    die.verdict = Verdict::kMirror;
    log::Info("ignoring an energy zone",
              {{"meter", "rapl"}, {"path", pair.path}, {"err", "it shows the same counter as another die"}});
    return true;
  }
  die.seen_equal = *value;
  return !die.withheld;  // the first die may have counted the withheld energy
}

}  // namespace kepler::energy::rapl
