#include "energy/rapl/perf_source.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "energy/rapl/x86_model.h"

namespace kepler::energy::rapl {
namespace {

constexpr std::string_view EventOf(CounterKind kind) {
  constexpr std::array<std::string_view, kCounterKinds.size()> kNames = {"energy-pkg", "energy-cores", "energy-gpu",
                                                                         "energy-ram", "energy-psys"};
  return kNames.at(static_cast<size_t>(kind));
}

/// Readings of a package counter without a step. It has one every millisecond.
constexpr int kStillReads = 3;

std::string Join(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

PerfSource::PerfSource(std::string sysfs, const std::vector<std::string>& zones, PerfOpener opener, const Clock& clock)
    : sysfs_(std::move(sysfs)),
      pmu_(sysfs_ + "/bus/event_source/devices/power"),
      wanted_(zones),
      opener_(std::move(opener)),
      clock_(clock),
      topology_(sysfs_) {}

Result<std::vector<Domain>> PerfSource::Discover() {
  const bool is_amd = ReadX86Model(sysfs_, buffer_).value_or(X86Model{}).is_amd();
  KEPLER_TRY(const auto events, FindEvents());
  KEPLER_TRY(auto found, FindCounters(is_amd, events));
  const Error* fault = OpenAll(found, events);
  if (found.empty()) {
    const bool denied = fault->kind == ErrorKind::kPermission;
    return Fail(
        fault->kind,
        fault->message + (denied ? "; grant CAP_PERFMON and set kernel.perf_event_paranoid to at most 2 (Debian has 3, "
                                   "Ubuntu 4)"
                                 : "; check the kernel's log for messages of rapl"));
  }
  listed_.clear();
  std::vector<Domain> domains;
  for (PlacedCounter& at : found) {
    if (at.kind != CounterKind::kPsys) parts_[at.domain.key] = at.at.part;
    at.domain.is_summed = true;
    at.domain.resolution.joules = events.at(at.kind).joules_per_count;
    listed_.push_back(&counters_[at.domain.key]);
    domains.push_back(std::move(at.domain));
  }
  return domains;
}

Result<std::map<CounterKind, PerfSource::Event>> PerfSource::FindEvents() {
  auto type = os::ReadNumber<uint32_t>(pmu_ + "/type", buffer_);
  const std::string direct = sysfs_ + "/devices/power";
  if (!type && type.error().kind == ErrorKind::kNotFound && ::access(direct.c_str(), F_OK) == 0) {
    pmu_ = direct;
    type = os::ReadNumber<uint32_t>(pmu_ + "/type", buffer_);
  }
  if (!type)
    return Fail(type.error().kind,
                type.error().message + "; this kernel has no power PMU there (is the rapl module loaded?)");
  std::map<CounterKind, Event> events;
  for (const CounterKind kind : kCounterKinds) {
    const std::string path = fmt::format("{}/events/{}", pmu_, EventOf(kind));
    auto event = ReadEvent(path, *type);
    if (event)
      events.emplace(kind, *event);
    else if (event.error().kind != ErrorKind::kNotFound)
      limiter_.Say(log::Level::kWarn, path, clock_.Now(), "ignoring an energy event",
                   {{"meter", "rapl"}, {"err", event.error().message}, {"action", "other events are used"}});
  }
  if (events.empty()) return Fail(ErrorKind::kNotFound, "no usable energy event in " + pmu_ + "/events");
  return events;
}

Result<PerfSource::Event> PerfSource::ReadEvent(const std::string& path, uint32_t type) {
  const auto at = [&](const std::string& file, const Error& error) {
    return Fail(error.kind, fmt::format("read {}: {}", file, error.message));
  };
  KEPLER_TRY(const std::string_view text, os::ReadAttribute(path, buffer_));
  const auto config = ParseEventConfig(text);
  if (!config) return at(path, config.error());
  KEPLER_TRY(const std::string_view scale_text, os::ReadAttribute(path + ".scale", buffer_));
  const auto scale = ParseEventScale(scale_text);
  if (!scale) return at(path + ".scale", scale.error());
  KEPLER_TRY(const std::string_view unit, os::ReadAttribute(path + ".unit", buffer_));
  if (unit != "Joules") return os::FailMalformed(path + ".unit", unit, "Joules");
  return Event{{type, *config}, *scale};
}

Result<std::vector<os::PlacedCpu>> PerfSource::FindPlaces(bool is_amd) {
  const std::string path = pmu_ + "/cpumask";
  KEPLER_TRY(const std::string_view text, os::ReadAttribute(path, buffer_));
  std::string cpumask(text);
  const auto cpus = os::ParseCpuList(cpumask);
  if (!cpus) return os::FailMalformed(path, cpumask, "a list of CPUs");
  topology_.Learn();
  auto places = OnePerPart(topology_.PlacesOf(*cpus), !is_amd && topology_.HasDies());
  if (places.empty())
    return Fail(ErrorKind::kNotFound,
                fmt::format("{} lists no CPU of a package in {}/devices/system/cpu", path, sysfs_));
  cpumask_ = std::move(cpumask);
  return places;
}

Result<std::vector<PlacedCounter>> PerfSource::FindCounters(bool is_amd, const std::map<CounterKind, Event>& events) {
  KEPLER_TRY(const auto places, FindPlaces(is_amd));
  std::vector<CounterKind> kinds;
  std::set<std::string> existing;
  for (const auto& [kind, event] : events) {
    kinds.push_back(kind);
    existing.emplace(ZoneOf(kind));
  }
  auto counters = LayOut(sysfs_, places, kinds);
  std::erase_if(counters, [&](const PlacedCounter& at) { return !wanted_.Takes(at.domain.zone, is_amd); });
  if (counters.empty())
    return Fail(ErrorKind::kInvalid,
                fmt::format("rapl.zones selects no event of {}; available: {}", pmu_, Join(existing)));
  return counters;
}

/// Removes from `found` the kinds of counters that cannot be opened on any CPU. Returns the first fault, if any. Events
/// that are no longer found are closed: their CPU may return, but not they.
const Error* PerfSource::OpenAll(std::vector<PlacedCounter>& found, const std::map<CounterKind, Event>& events) {
  for (const PlacedCounter& at : found) Open(counters_[at.domain.key], at, events.at(at.kind));
  std::set<CounterKind> usable;
  std::set<std::string_view> keys;
  const Error* fault = nullptr;
  for (const PlacedCounter& at : found) {
    const Counter& counter = counters_[at.domain.key];
    keys.insert(at.domain.key);
    if (counter.open != nullptr)
      usable.insert(at.kind);
    else if (fault == nullptr)
      fault = &counter.fault;
  }
  for (auto& [key, counter] : counters_)
    if (!keys.contains(key)) counter.open.reset();
  std::erase_if(found, [&](const PlacedCounter& at) { return !usable.contains(at.kind); });
  return fault;
}

/// Opens the event unless it is open on this CPU. After the CPU went offline the kernel counts on with another one of
/// the package, so what the open event has counted until now is taken over.
void PerfSource::Open(Counter& counter, const PlacedCounter& at, const Event& event) {
  if (counter.open != nullptr && counter.cpu == at.at.cpu) return;
  if (counter.open != nullptr) static_cast<void>(Update(counter));
  counter.open.reset();
  counter.cpu = at.at.cpu;
  counter.uj_per_count = static_cast<long double>(event.joules_per_count) * 1e6L;
  auto opened = opener_(event.perf, counter.cpu);
  const auto count = opened ? (*opened)->Read() : Result<uint64_t>(std::unexpected(opened.error()));
  if (!count) {
    counter.fault = {count.error().kind, fmt::format("{}: {}", EventOf(at.kind), count.error().message)};
    const bool denied = counter.fault.kind == ErrorKind::kPermission;  // for all events: Discover() fails
    limiter_.Say(denied ? log::Level::kDebug : log::Level::kWarn, at.domain.key, clock_.Now(),
                 "failed to open an energy event",
                 {{"meter", "rapl"},
                  {"err", counter.fault.message},
                  {"action", "other events are used; it is retried every ten seconds"}});
    return;
  }
  counter.open = *std::move(opened);
  counter.count = *count;
  counter.is_package = at.kind == CounterKind::kPackage;
  counter.still_reads = -1;
}

/// Adds what was counted since the last call. The kernel's 64-bit count wraps too: 2^64 counts are 4.3 GJ, some months
/// of a busy socket.
Status PerfSource::Update(Counter& counter) {
  KEPLER_TRY(const uint64_t count, counter.open->Read());
  const uint64_t delta = count - std::exchange(counter.count, count);
  if (delta != 0)
    counter.still_reads = 0;
  else if (counter.still_reads >= 0)
    ++counter.still_reads;
  constexpr uint64_t kBackwards = uint64_t{1} << 63;
  if (delta >= kBackwards) return {};  // not a step of a counter: it continues from here
  const long double exact = static_cast<long double>(delta) * counter.uj_per_count + counter.fraction_uj;
  const long double whole = std::floor(exact);
  counter.fraction_uj = exact - whole;
  counter.microjoules += static_cast<uint64_t>(whole);
  return {};
}

void PerfSource::Read(std::vector<DomainReading>& out) {
  out.resize(listed_.size());
  for (size_t i = 0; i < listed_.size(); ++i) {
    out[i].value = ReadCounter(*listed_[i]);
    out[i].at = clock_.Now();
  }
}

Answer PerfSource::ReadCounter(Counter& counter) {
  if (counter.open == nullptr) return counter.fault;
  const Status updated = Update(counter);
  if (updated && !(counter.is_package && counter.still_reads >= kStillReads)) return RawCounter{counter.microjoules};
  const Error fault = updated ? Error{ErrorKind::kGone, "the perf event has stopped counting"} : updated.error();
  if (fault.kind != ErrorKind::kGone) return fault;
  for (Counter* other : listed_) {
    if (other->open == nullptr || other->cpu != counter.cpu) continue;
    other->open.reset();
    other->fault = fault;
  }
  return fault;
}

bool PerfSource::HasChanged() {
  const auto cpumask = os::ReadAttribute(pmu_ + "/cpumask", buffer_);
  if (cpumask && *cpumask != cpumask_) return true;
  return std::ranges::any_of(listed_, [](const Counter* counter) { return counter->open == nullptr; });
}

bool PerfSource::IsOffline(const Domain& domain) {
  const auto part = parts_.find(domain.key);
  return part != parts_.end() && topology_.IsOffline(part->second);
}

}  // namespace kepler::energy::rapl
