#include "energy/polled_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/thread.h"

namespace kepler::energy {

struct PolledSource::Shared {
  // The thread's.
  std::unique_ptr<EnergySource> slow;
  Nanoseconds period;
  const Clock& clock;
  int back_off = 1;
  bool lost = true;  // its domains are to be found (again)

  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  // Why there is no list, or no newer one.
  std::optional<Error> error = Error{ErrorKind::kUnavailable, "it has not answered yet"};
  std::vector<Domain> domains;
  uint64_t lists = 0;
  std::vector<DomainReading> readings;
  BootTime read_at{};

  Nanoseconds Poll();
  bool Find();
  void Run();
};

PolledSource::PolledSource(std::unique_ptr<EnergySource> slow, Nanoseconds period, const Clock& clock)
    : name_(slow->Name()),
      measures_(slow->Measures()),
      period_(period),
      clock_(clock),
      shared_(std::make_shared<Shared>(std::move(slow), period, clock)) {}

PolledSource::~PolledSource() {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->stopped = true;
  }
  shared_->changed.notify_all();
}

Status PolledSource::Start() {
  KEPLER_TRY(std::jthread thread, StartThread(name_, [shared = shared_](const std::stop_token&) { shared->Run(); }));
  thread.detach();
  return {};
}

void PolledSource::Shared::Run() {
  while (true) {
    const Nanoseconds wait = Poll();
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, wait, [this] { return stopped; })) return;
  }
}

Nanoseconds PolledSource::Poll() { return shared_->Poll(); }

/// The lock is not held while the source works.
Nanoseconds PolledSource::Shared::Poll() {
  bool good = !lost || Find();
  if (good) {
    std::vector<DomainReading> now;
    slow->Read(now);
    const auto is_error = [](const DomainReading& reading) { return std::holds_alternative<Error>(reading.value); };
    good = !std::ranges::all_of(now, is_error);
    lost = !good || slow->HasChanged();
    const std::scoped_lock lock(mutex);
    readings = std::move(now);
    read_at = clock.Now();
  }
  back_off = good ? 1 : std::min(2 * back_off, kMaxBackOff);
  return back_off * period;
}

bool PolledSource::Shared::Find() {
  auto found = slow->Discover();
  lost = !found;
  const std::scoped_lock lock(mutex);
  error = found ? std::nullopt : std::optional(found.error());
  if (!found) {
    readings.assign(domains.size(), {clock.Now(), found.error()});
    return false;
  }
  const bool same = std::ranges::equal(*found, domains, {}, &Domain::key, &Domain::key);
  domains = *std::move(found);
  if (same && lists > 0) return true;
  ++lists;
  readings.clear();
  return true;
}

Result<std::vector<Domain>> PolledSource::Discover() {
  const std::scoped_lock lock(shared_->mutex);
  if (shared_->error) return std::unexpected(*shared_->error);
  list_ = shared_->lists;
  return shared_->domains;
}

bool PolledSource::HasChanged() {
  const std::scoped_lock lock(shared_->mutex);
  return list_ != shared_->lists;
}

void PolledSource::Read(std::vector<DomainReading>& out) {
  const std::scoped_lock lock(shared_->mutex);
  const BootTime now = clock_.Now();
  const bool other_list = list_ != shared_->lists || shared_->readings.empty();
  const Nanoseconds age = now - shared_->read_at;
  if (other_list || age > kMaxAge * period_) {
    const Error silent{ErrorKind::kTimeout, fmt::format("{} has not answered for {:.0f} s", name_,
                                                        std::chrono::duration<double>(age).count())};
    const Error changed{ErrorKind::kGone, "its domains are others now"};
    out.assign(shared_->domains.size(), {now, other_list ? changed : silent});
    return;
  }
  out = shared_->readings;
}

}  // namespace kepler::energy
