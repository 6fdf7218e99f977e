#include "energy/rapl/powercap_source.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "energy/rapl/x86_model.h"
#include "os/dirents.h"

namespace kepler::energy::rapl {
namespace {

std::string BaseNames(const std::vector<PowercapZone>& zones) {
  std::set<std::string> names;
  for (const PowercapZone& zone : zones) names.insert(zone.base);
  return fmt::format("{}", fmt::join(names, ", "));
}

Domain ToDomain(const PowercapZone& zone) {
  // The key does not contain the control type, so the domain continues if another driver shows the same counter.
  const auto range = zone.fault ? std::nullopt : std::optional(zone.range);
  // The driver rounds the steps of the register, 15 to 61 uJ on most processors, to this unit of the file.
  return {zone.base, zone.path, zone.Identity(), range, zone.max_power, {}, {}, {.joules = 1e-6}};
}

}  // namespace

PowercapSource::PowercapSource(std::string sysfs, const std::vector<std::string>& zones, const Clock& clock)
    : sysfs_(std::move(sysfs)), wanted_(zones), clock_(clock), topology_(sysfs_) {}

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
    if (!tree->problems.empty()) return std::unexpected(tree->problems.front());
    return Fail(ErrorKind::kNotFound,
                fmt::format("no RAPL zone in {}/class/powercap; is the intel_rapl_msr module loaded?", sysfs_));
  }
  const std::string existing = BaseNames(zones);
  const bool amd = ReadX86Model(sysfs_, buffer_).value_or(X86Model{}).is_amd();
  const size_t erased = std::erase_if(zones, [&](const PowercapZone& zone) { return !wanted_.Takes(zone.base, amd); });
  if (wanted_.all() && erased > 0) SayCoreIsLeftOut(core_is_said_);
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
