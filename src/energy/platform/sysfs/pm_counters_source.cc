#include "energy/platform/sysfs/pm_counters_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "base/parse.h"
#include "energy/power_limits.h"
#include "os/dirents.h"

namespace kepler::energy::platform::sysfs {
namespace {

constexpr std::string_view kEnergySuffix = "energy";
constexpr uint64_t kMicrojoulesPerJoule = 1'000'000;

/// "energy" of the node and "cpu_energy" of a part are counters; "energy_cap" is not.
bool IsEnergyFile(std::string_view name) { return name == kEnergySuffix || name.ends_with("_energy"); }

/// Removes and returns the first word of `text`.
std::string_view TakeWord(std::string_view& text) {
  text = Trim(text);
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace

std::optional<PmCounter> ParsePmCounter(std::string_view text, std::string_view unit) {
  const auto value = ParseNumber<uint64_t>(TakeWord(text));
  if (!value || TakeWord(text) != unit) return std::nullopt;
  PmCounter counter{*value, std::nullopt};
  const std::string_view time = TakeWord(text);
  if (time.empty()) return counter;
  counter.microseconds = ParseNumber<uint64_t>(time);
  if (!counter.microseconds || TakeWord(text) != "us" || !Trim(text).empty()) return std::nullopt;
  return counter;
}

PmCountersSource::PmCountersSource(const std::string& sysfs, std::shared_ptr<const Clock> clock)
    : directory_(sysfs + "/cray/pm_counters"), clock_(std::move(clock)) {}

bool PmCountersSource::IsPresent(const std::string& sysfs) {
  std::error_code failed;
  return std::filesystem::exists(sysfs + "/cray/pm_counters/energy", failed);
}

Result<std::vector<Domain>> PmCountersSource::Discover() {
  auto listed = os::ListDir(directory_);
  if (!listed) return Fail(listed.error().kind, listed.error().message + "; only HPE Cray blades have it");
  std::vector<std::string> names = *std::move(listed);
  std::erase_if(names, [](const std::string& name) { return !IsEnergyFile(name); });
  if (names.empty())
    return Fail(ErrorKind::kNotFound,
                fmt::format("{} has no energy counter; check the cray pm_counters driver", directory_));
  std::ranges::sort(names);
  counters_.clear();
  std::vector<Domain> domains;
  for (const std::string& name : names) {
    const std::string file = directory_ + "/" + name;
    const std::string stem = name.substr(0, name.size() - kEnergySuffix.size());
    counters_.push_back({file, directory_ + "/" + stem + "power", {}, {}});
    Domain domain{name, file, name, {}, kMaxOfSensor, {}};
    domain.sensor = {.bmc_id = {},
                     .chassis_id = {},
                     .source_id = name,
                     .source_name = stem.empty() ? "node" : stem.substr(0, stem.size() - 1),
                     .source_type = std::string(kName),
                     .whole = stem.empty()};
    domains.push_back(std::move(domain));
  }
  return domains;
}

void PmCountersSource::Read(std::vector<DomainReading>& out) {
  out.clear();
  for (Counter& counter : counters_) out.push_back(ReadCounter(counter));
}

DomainReading PmCountersSource::ReadCounter(Counter& counter) {
  const BootTime now = clock_->Now();
  const auto text = os::ReadAttribute(counter.energy_file, buffer_);
  if (!text) return {now, text.error()};
  const auto energy = ParsePmCounter(*text, "J");
  if (!energy || energy->value > std::numeric_limits<uint64_t>::max() / kMicrojoulesPerJoule)
    return {now, os::FailMalformed(counter.energy_file, *text, "a number of joules, as in \"123 J 456 us\"").error()};
  const bool is_old = energy->microseconds && *energy == counter.last && counter.reading.at != BootTime{};
  if (is_old && now - counter.reading.at > kMaxStandstill)
    return {now,
            Error{ErrorKind::kTimeout, fmt::format("{}: the blade controller has written no new measurement for {} s",
                                                   counter.energy_file, kMaxStandstill.count())}};
  if (is_old) return counter.reading;
  counter.last = *energy;
  counter.reading = {now, RawCounter{energy->value * kMicrojoulesPerJoule}};
  if (const auto power_text = os::ReadAttribute(counter.power_file, buffer_))
    if (const auto power = ParsePmCounter(*power_text, "W"))
      counter.reading.power = Power::Watts(static_cast<double>(power->value));
  return counter.reading;
}

}  // namespace kepler::energy::platform::sysfs
