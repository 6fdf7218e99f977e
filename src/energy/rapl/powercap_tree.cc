#include "energy/rapl/powercap_tree.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "os/dirents.h"

namespace kepler::energy::rapl {

namespace {

constexpr size_t kMaxNameBytes = 64;

/// Cuts "-N" off the end of `text`. Returns nothing if there is no "-N", or no text before it.
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

namespace {

constexpr std::string_view kPreferredControl = "intel-rapl";
/// Firmware states a higher limit for "unlimited" (4095 W is common).
constexpr uint64_t kMaxBelievableMicrowatts = 1'000'000'000;
constexpr int kMaxConstraints = 8;  // the kernel has three: long_term, short_term, peak_power

/// Returns "intel-rapl:0" for "intel-rapl:0:1"; "" for a top-level zone, whose parent is the control type.
std::string ParentOf(const std::string& entry) {
  const std::string parent = entry.substr(0, entry.rfind(':'));
  return parent.find(':') == std::string::npos ? std::string() : parent;
}

std::string UnitText(const ZoneName& zone) {
  std::string text = std::to_string(*zone.index);
  if (zone.die) text += "." + std::to_string(*zone.die);
  return text;
}

/// Returns the largest positive limit of all constraints. max_power_uw alone is not enough: a laptop states its thermal
/// design power of 15 W there, but may use 60 W for a minute. The power_limit_uw of the short-term constraint has the
/// higher value.
std::optional<Power> LargestLimit(const std::string& path, os::ReadBuffer& buffer) {
  uint64_t largest = 0;
  for (int i = 0; i < kMaxConstraints; ++i) {
    for (const std::string_view attribute : {"max_power_uw", "power_limit_uw"}) {
      const auto value = os::ReadNumber<uint64_t>(fmt::format("{}/constraint_{}_{}", path, i, attribute), buffer);
      if (value) largest = std::max(largest, *value);
    }
  }
  if (largest == 0) return std::nullopt;
  return Power::Microwatts(static_cast<double>(std::min(largest, kMaxBelievableMicrowatts)));
}

using Entries = std::map<std::string, ZoneName>;  // key: "intel-rapl:0:1"

/// Returns the package of `entry`: the nearest name with an index, of `entry` or of a zone above it.
const ZoneName* PackageOf(const Entries& entries, std::string entry) {
  for (; !entry.empty(); entry = ParentOf(entry)) {
    const auto found = entries.find(entry);
    if (found != entries.end() && found->second.index) return &found->second;
  }
  return nullptr;
}

Entries ReadEntries(const std::string& root, const std::vector<std::string>& names, os::ReadBuffer& buffer,
                    std::vector<Error>& problems) {
  Entries entries;
  for (const std::string& name : names) {
    if (name.find(':') == std::string::npos) continue;  // a control type, not a zone
    const std::string path = fmt::format("{}/{}", root, name);
    const auto text = os::ReadAttribute(path + "/name", buffer);
    if (!text) {
      if (text.error().kind != ErrorKind::kNotFound) problems.push_back(text.error());
      continue;
    }
    if (text->empty()) {
      problems.push_back({ErrorKind::kMalformed, path + "/name is empty"});
      continue;
    }
    entries.emplace(name, ParseZoneName(*text));
  }
  return entries;
}

}  // namespace

std::string PowercapRoot(const std::string& sysfs) { return sysfs + "/class/powercap"; }

Result<PowercapTree> ReadPowercapTree(const std::string& sysfs) {
  const std::string root = PowercapRoot(sysfs);
  PowercapTree tree;
  KEPLER_TRY(tree.entries, os::ListDir(root));
  os::ReadBuffer buffer;
  const auto entries = ReadEntries(root, tree.entries, buffer, tree.problems);
  std::map<std::string, int> seen;
  for (const auto& [name, zone_name] : entries) {
    const std::string path = fmt::format("{}/{}", root, name);
    // A zone without a counter limits power but does not measure it.
    if (::access((path + "/energy_uj").c_str(), F_OK) != 0 && KindOfErrno(errno) == ErrorKind::kNotFound) continue;
    PowercapZone zone{name.substr(0, name.find(':')), zone_name.base, "-", {}, path, 0, {}};
    if (const ZoneName* package = PackageOf(entries, name)) {
      zone.unit = UnitText(*package);
      zone.part = {*package->index, package->die};
      if (package->die) zone.package = std::to_string(*package->index);
    }
    // Zones without a number ("psys", two "core" of one package) are numbered within their control type.
    const int ordinal = seen[zone.control + ":" + zone.Identity()]++;
    if (ordinal > 0) zone.unit += "#" + std::to_string(ordinal);
    zone.max_power = ReadMaxPower(path, buffer);
    const auto range = os::ReadNumber<uint64_t>(path + "/max_energy_range_uj", buffer);
    zone.range = range.value_or(0);
    if (zone.range == 0) {
      // Always kUnavailable: the counter exists, so another discovery does not help.
      zone.fault = {ErrorKind::kUnavailable, range ? path + "/max_energy_range_uj is 0" : range.error().message};
    }
    tree.zones.push_back(std::move(zone));
  }
  return tree;
}

std::optional<Power> ReadMaxPower(const std::string& path, os::ReadBuffer& buffer) {
  const std::string root = std::filesystem::path(path).parent_path().string() + "/";
  std::string entry = path.substr(root.size());
  for (; !entry.empty(); entry = ParentOf(entry))
    if (const auto limit = LargestLimit(root + entry, buffer)) return limit;
  return std::nullopt;
}

std::vector<PowercapZone> WithoutTwins(std::vector<PowercapZone> zones) {
  std::vector<PowercapZone> kept;
  for (PowercapZone& zone : zones) {
    const auto twin = std::ranges::find(kept, zone.Identity(), &PowercapZone::Identity);
    if (twin == kept.end())
      kept.push_back(std::move(zone));
    else if (std::pair(!zone.fault, zone.control == kPreferredControl) >
             std::pair(!twin->fault, twin->control == kPreferredControl))
      *twin = std::move(zone);
  }
  return kept;
}

}  // namespace kepler::energy::rapl
