#include "energy/polled_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>

#include "base/log.h"
#include "energy/counter_check.h"
#include "energy/power_integral.h"
#include "energy/power_limits.h"

namespace kepler::energy {
namespace {

bool IsError(const DomainReading& reading) { return std::holds_alternative<Error>(reading.value); }

bool IsGone(const DomainReading& reading) {
  const auto* error = std::get_if<Error>(&reading.value);
  return error != nullptr && (error->kind == ErrorKind::kGone || error->kind == ErrorKind::kNotFound);
}

}  // namespace

struct PolledSource::Shared {
  /// Energy of a power sensor since its first reading, or since a gap that was too long.
  struct Integral {
    PowerIntegral power;
    Energy total;
    uint64_t start = 0;  // number of the start of `total`
    BootTime at{};
    CounterCheck check;
  };
  /// What the thread knows, handed over as a whole.
  struct State {
    std::optional<Error> error = Error{ErrorKind::kUnavailable, "it has not answered yet"};  // why no (newer) list
    std::vector<Domain> domains;
    std::vector<bool> offline;            // parallel to domains
    std::vector<DomainReading> readings;  // likewise
    uint64_t lists = 0;
    BootTime answered_at{};  // whatever it said
    Nanoseconds took{0};
    Nanoseconds pause{0};  // until the next answer is expected

    /// The index of that domain; as many as there are if it is not among them.
    [[nodiscard]] size_t Find(std::string_view key) const;
  };

  // Owned by the thread, except the period and the clock, which are constant.
  std::unique_ptr<EnergySource> slow;
  const Nanoseconds period;
  const std::shared_ptr<const Clock> clock;
  bool lost = true;                                        // its domains are to be found (again)
  BootTime found_at{};                                     // latest successful search
  std::map<std::string, Integral, std::less<>> integrals;  // by the key of the domain
  uint64_t starts = 0;                                     // of all integrals
  State own;

  std::mutex mutex;
  std::condition_variable_any stopped;
  bool wanted = false;  // somebody misses a domain
  State reported;

  Nanoseconds Poll();
  bool FindAndRead();
  bool Find();
  void Integrate(Domain& domain, DomainReading& reading);
  void Add(std::optional<Energy> energy, Integral& integral);
  std::optional<Energy> EnergyOf(const Domain& domain, const DomainReading& reading, Power now, Integral& integral);
  void Run(const std::stop_token& stop);
};

PolledSource::PolledSource(std::unique_ptr<EnergySource> slow, Nanoseconds period, std::shared_ptr<const Clock> clock)
    : name_(slow->Name()),
      domain_(slow->domain()),
      authority_(slow->authority()),
      shared_(std::make_shared<Shared>(std::move(slow), period, std::move(clock))) {}

PolledSource::~PolledSource() {
  if (!thread_) return;
  thread_->RequestStop();
  shared_->slow->Interrupt();
  thread_->EndBy(std::chrono::steady_clock::now() + shared_->slow->MaxFarewell());
}

Status PolledSource::Start() {
  KEPLER_TRY(BlockingThread thread,
             BlockingThread::Start(name_, [shared = shared_](const std::stop_token& stop) { shared->Run(stop); }));
  thread_.emplace(std::move(thread));
  return {};
}

void PolledSource::Shared::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Nanoseconds wait = Poll();
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, wait, [] { return false; });
  }
}

Nanoseconds PolledSource::Poll() { return shared_->Poll(); }

/// The lock is not held while the source works.
Nanoseconds PolledSource::Shared::Poll() {
  const BootTime begin = clock->Now();
  {
    const std::scoped_lock lock(mutex);
    // A sensor that is gone for good must not cost a search in each turn.
    lost |= std::exchange(wanted, false) && (own.error || begin - found_at >= kSearchPeriod);
  }
  bool good = false;
  try {
    good = FindAndRead();
  } catch (const std::exception& thrown) {  // of a library: it costs this turn
    lost = true;
    own.error = Error{ErrorKind::kIo, thrown.what()};
    own.readings.assign(own.domains.size(), {begin, *own.error});
  }
  own.answered_at = clock->Now();
  own.took = own.answered_at - begin;
  own.pause = good ? period : std::max(period, std::min<Nanoseconds>(kMaxBackOff * period, kMaxPause));
  {
    const std::scoped_lock lock(mutex);
    reported = own;
  }
  return std::max(own.pause - own.took, Nanoseconds::zero());
}

bool PolledSource::Shared::FindAndRead() {
  if (lost && !Find()) return false;
  slow->Read(own.readings);
  own.readings.resize(own.domains.size(), {clock->Now(), Error{ErrorKind::kGone, "it has no reading"}});
  for (size_t i = 0; i < own.domains.size(); ++i) {
    slow->UpdateMaxPower(i, own.domains[i]);
    Integrate(own.domains[i], own.readings[i]);
    own.offline[i] = slow->IsOffline(own.domains[i]);
  }
  const bool good = !std::ranges::all_of(own.readings, IsError);
  lost = !good || std::ranges::any_of(own.readings, IsGone) || slow->HasChanged();
  return good;
}

/// A power becomes the counter of its energy, so that a tick that is slower than the polls loses nothing. An impossible
/// power stays a power, which the Meter rejects and counts. A sensor that is not in use adds 0 W, and no reading.
void PolledSource::Shared::Integrate(Domain& domain, DomainReading& reading) {
  if (const auto* withheld = std::get_if<Withheld>(&reading.value)) {
    if (!withheld->unused) return;
    Integral& integral = integrals[domain.key];
    Add(integral.power.Add(Power(), reading.at), integral);
    return;
  }
  const Power* const power = std::get_if<Power>(&reading.value);
  if (power == nullptr) return;
  const Power now = std::max(*power, Power());
  if (now > PlausiblePower(*domain.max_power)) return;
  Integral& integral = integrals[domain.key];
  if (integral.at != reading.at || integral.power.empty()) {
    Add(EnergyOf(domain, reading, now, integral), integral);
    integral.at = reading.at;
  }
  reading.value = RawCounter{static_cast<uint64_t>(integral.total.microjoules())};
  reading.start = integral.start;
  reading.power = now;
  if (integral.check.has_begun()) reading.check = integral.check.result();
}

/// The counter starts again if the energy is unknown. The Meter cannot see that in its value, which may be higher.
void PolledSource::Shared::Add(std::optional<Energy> energy, Integral& integral) {
  integral.total = energy ? integral.total + *energy : Energy();
  if (!energy) integral.start = ++starts;
}

/// Energy since the previous reading; nothing if that is unknown.
std::optional<Energy> PolledSource::Shared::EnergyOf(const Domain& domain, const DomainReading& reading, Power now,
                                                     Integral& integral) {
  const bool first = integral.power.empty();
  const Nanoseconds elapsed = reading.at - integral.at;
  const auto energy = integral.power.Add(now, reading.at);
  if (!reading.counter) {
    integral.check.Skip();
    return energy;
  }
  if (first || !integral.check.has_begun()) {
    integral.check.Begin(*reading.counter);
    return energy;
  }
  const uint64_t bridged = integral.check.result().bridged;
  const auto counted = integral.check.Add(
      *reading.counter,
      {.integral = energy, .elapsed = elapsed, .is_gap = elapsed > period + period / 2, .max = *domain.max_power});
  if (integral.check.result().bridged != bridged)
    log::Info("took the energy of a gap from the meter's own energy counter",
              {{"meter", std::string(slow->Name())},
               {"sensor", domain.path},
               {"seconds", fmt::format("{:.0f}", std::chrono::duration<double>(elapsed).count())},
               {"joules", fmt::format("{:.0f}", counted->ToJoules())}});
  return counted;
}

bool PolledSource::Shared::Find() {
  auto found = slow->Discover();
  lost = !found;
  own.error = found ? std::nullopt : std::optional(found.error());
  if (!found) {
    own.readings.assign(own.domains.size(), {clock->Now(), found.error()});
    return false;
  }
  const auto is_same = [](const Domain& a, const Domain& b) {
    return a.key == b.key && a.sensor == b.sensor && a.doubt == b.doubt;
  };
  if (own.lists == 0 || !std::ranges::equal(*found, own.domains, is_same)) ++own.lists;
  own.domains = *std::move(found);
  found_at = clock->Now();
  for (Domain& domain : own.domains) domain.max_power = domain.max_power.value_or(kMaxOfSensor);
  // Another sensor may measure the machine meanwhile, so one that returns must not catch up.
  std::erase_if(integrals, [this](const auto& entry) { return own.Find(entry.first) == own.domains.size(); });
  own.offline.assign(own.domains.size(), false);
  return true;
}

size_t PolledSource::Shared::State::Find(std::string_view key) const {
  return static_cast<size_t>(std::ranges::find(domains, key, &Domain::key) - domains.begin());
}

Result<std::vector<Domain>> PolledSource::Discover() {
  const std::scoped_lock lock(shared_->mutex);
  shared_->wanted = true;
  const Shared::State& reported = shared_->reported;
  if (reported.error) return std::unexpected(*reported.error);
  list_ = reported.lists;
  keys_.clear();
  for (const Domain& domain : reported.domains) keys_.push_back(domain.key);
  return reported.domains;
}

bool PolledSource::HasChanged() {
  const std::scoped_lock lock(shared_->mutex);
  return list_ != shared_->reported.lists;
}

/// The thread may have another list by now: of what was handed out those that are still there go on.
void PolledSource::Read(std::vector<DomainReading>& out) {
  const std::scoped_lock lock(shared_->mutex);
  const Shared::State& reported = shared_->reported;
  const BootTime now = shared_->clock->Now();
  const Nanoseconds age = now - reported.answered_at;
  const bool silent = age > reported.pause + reported.took + (kMaxAge - 1) * shared_->period;
  out.clear();
  for (const std::string& key : keys_) {
    const size_t next = out.size();  // usually the lists are equal
    const bool is_next = next < reported.domains.size() && reported.domains[next].key == key;
    const size_t index = is_next ? next : reported.Find(key);
    if (silent)
      out.push_back({now, Error{ErrorKind::kTimeout, fmt::format("{} has not answered for {:.0f} s", name_,
                                                                 std::chrono::duration<double>(age).count())}});
    else if (index == reported.domains.size())
      out.push_back({now, Error{ErrorKind::kGone, "it no longer exists"}});
    else
      out.push_back(reported.readings[index]);
  }
}

void PolledSource::UpdateMaxPower(size_t /*index*/, Domain& domain) {
  const std::scoped_lock lock(shared_->mutex);
  const size_t known = shared_->reported.Find(domain.key);
  if (known < shared_->reported.domains.size()) domain.max_power = shared_->reported.domains[known].max_power;
}

bool PolledSource::IsOffline(const Domain& domain) {
  const std::scoped_lock lock(shared_->mutex);
  const size_t known = shared_->reported.Find(domain.key);
  return known < shared_->reported.domains.size() && shared_->reported.offline[known];
}

}  // namespace kepler::energy
