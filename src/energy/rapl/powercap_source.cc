#include "energy/rapl/powercap_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "os/dirents.h"
#include "os/file.h"

namespace kepler::energy::rapl {
namespace {

/// On AMD and Hygon each core has its own register, and the "core" zone shows the register of a single core of the
/// socket. The CPU modalias contains the vendor: "cpu:type:x86,ven0002fam…" (X86_VENDOR_AMD is 2, X86_VENDOR_HYGON 9).
bool IsAmd(const std::string& sysfs, os::ReadBuffer& buffer) {
  const auto modalias = os::ReadAttribute(sysfs + "/devices/system/cpu/modalias", buffer);
  if (!modalias) return false;
  return modalias->find("ven0002") != std::string_view::npos || modalias->find("ven0009") != std::string_view::npos;
}

std::string BaseNames(const std::vector<PowercapZone>& zones) {
  std::set<std::string> names;
  for (const PowercapZone& zone : zones) names.insert(zone.base);
  return fmt::format("{}", fmt::join(names, ", "));
}

Domain ToDomain(const PowercapZone& zone) {
  // The key does not contain the control type, so the domain continues if another driver shows the same counter.
  const auto range = zone.fault ? std::nullopt : std::optional(zone.range);
  return {zone.base, zone.path, zone.Identity(), range, zone.max_power, {}};
}

}  // namespace

PowercapSource::PowercapSource(std::string sysfs, const std::vector<std::string>& zones, const Clock& clock)
    : sysfs_(std::move(sysfs)), clock_(clock), topology_(sysfs_) {
  for (const std::string& zone : zones)
    if (const auto name = Trim(zone); !name.empty()) wanted_.push_back(ToLowerAscii(name));
}

void PowercapSource::SayLeftOut(const Error& problem) {
  limiter_.Say(log::Level::kWarn, problem.message, clock_.Now(), "ignoring an energy zone",
               {{"meter", "rapl"},
                {"err", problem.message},
                {"action", "other zones are used; a counter without a name or range is unreliable"}});
}

/// Leaves out zones without any usable counter. If a zone has another usable counter, the unusable one stays as a
/// missing part of the zone.
Status PowercapSource::LeaveOutFaulted(std::vector<PowercapZone>& zones) {
  const std::optional<Error> first = zones.front().fault;
  std::set<std::string> usable;
  for (const PowercapZone& zone : zones)
    if (!zone.fault) usable.insert(zone.base);
  std::erase_if(zones, [&](const PowercapZone& zone) {
    if (usable.contains(zone.base)) return false;
    SayLeftOut(*zone.fault);
    return true;
  });
  if (!zones.empty()) return {};
  return Fail(first->kind, "no RAPL counter is usable, because its range is unknown: " + first->message);
}

void PowercapSource::SayCoreIsLeftOut() {
  if (std::exchange(core_is_said_, true)) return;
  log::Info("ignoring an energy zone", {{"meter", "rapl"},
                                        {"zone", "core"},
                                        {"err", "on AMD its counter covers a single core of the socket"},
                                        {"action", "add it to rapl.zones to use it"}});
}

Result<std::vector<Domain>> PowercapSource::Discover() {
  auto tree = ReadPowercapTree(sysfs_);
  if (!tree) {
    return Fail(tree.error().kind, tree.error().message +
                                       "; this kernel has no RAPL zones there (is the intel_rapl_msr module " +
                                       "loaded? virtual machines usually have none)");
  }
  for (const Error& problem : tree->problems) SayLeftOut(problem);
  listed_ = std::move(tree->entries);
  faulted_.clear();  // includes both twins: the fault of either may go away
  for (const PowercapZone& zone : tree->zones)
    if (zone.fault) faulted_.push_back(zone.path);
  auto zones = WithoutTwins(std::move(tree->zones));
  if (zones.empty()) {
    return Fail(ErrorKind::kNotFound,
                fmt::format("no RAPL zone in {}/class/powercap; is the intel_rapl_msr module loaded?", sysfs_));
  }
  const std::string existing = BaseNames(zones);
  const bool amd = IsAmd(sysfs_, buffer_);
  const size_t erased = std::erase_if(zones, [&](const PowercapZone& zone) {
    if (!wanted_.empty()) return std::ranges::find(wanted_, ToLowerAscii(zone.base)) == wanted_.end();
    return amd && zone.base == "core";
  });
  if (wanted_.empty() && erased > 0) SayCoreIsLeftOut();
  if (zones.empty()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("rapl.zones selects no zone of {}/class/powercap; available: {}", sysfs_, existing));
  }
  KEPLER_CHECK_OK(LeaveOutFaulted(zones));
  KEPLER_CHECK_OK(CheckReadable(zones));
  zones_ = std::move(zones);
  mirrors_.Adopt(zones_);
  topology_.Learn();
  for (const PowercapZone& zone : zones_)
    if (zone.part) parts_[zone.Identity()] = *zone.part;
  std::vector<Domain> domains;
  for (const PowercapZone& zone : zones_) {
    domains.push_back(ToDomain(zone));
    if (amd && zone.base == "core") domains.back().note = "on AMD this zone measures a single core of the socket";
  }
  return domains;
}

Status PowercapSource::CheckReadable(const std::vector<PowercapZone>& zones) {
  Error refusal;
  for (const PowercapZone& zone : zones) {
    if (zone.fault) continue;
    const auto counter = os::ReadNumber<uint64_t>(zone.path + "/energy_uj", buffer_);
    if (counter || counter.error().kind != ErrorKind::kPermission) return {};
    refusal = counter.error();
  }
  return Fail(refusal.kind,
              refusal.message + "; only root may read energy counters: run as root or grant CAP_DAC_READ_SEARCH");
}

void PowercapSource::Read(std::vector<DomainReading>& out) {
  out.resize(zones_.size());
  for (size_t i = 0; i < zones_.size(); ++i) {
    out[i].value = mirrors_.IsMirror(i) ? Withheld{.for_good = true} : ReadCounter(i);
    out[i].at = clock_.Now();
  }
  mirrors_.Judge(out, [this](size_t index) { return ReadCounter(index); });
}

void PowercapSource::UpdateMaxPower(size_t index, Domain& domain) {
  if (const auto limit = ReadMaxPower(zones_[index].path, buffer_)) domain.max_power = limit;
}

bool PowercapSource::HasChanged() {
  const auto listed = os::ListDir(PowercapRoot(sysfs_));
  if (listed && *listed != listed_) return true;
  return std::ranges::any_of(faulted_, [this](const std::string& path) {
    return os::ReadNumber<uint64_t>(path + "/max_energy_range_uj", buffer_).value_or(0) > 0;
  });
}

bool PowercapSource::IsOffline(const Domain& domain) {
  const auto part = parts_.find(domain.key);
  return part != parts_.end() && topology_.IsOffline(part->second);
}

Answer PowercapSource::ReadCounter(size_t index) {
  if (zones_[index].fault) return *zones_[index].fault;
  const auto counter = os::ReadNumber<uint64_t>(zones_[index].path + "/energy_uj", buffer_);
  if (!counter) return counter.error();
  return RawCounter{*counter};
}

}  // namespace kepler::energy::rapl
