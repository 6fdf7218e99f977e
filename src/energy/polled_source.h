#pragma once
// PolledSource: a slow meter (a BMC, a driver that may hang) behind a thread of its own, so that no tick ever waits for
// it. The thread reads it once a period; a sample takes over what was read last, with the time of that. The thread
// integrates the power of a sensor: a sample sees a counter of energy, with the latest power. After a failure the
// period is kMaxBackOff times as long, up to kMaxPause. Without an answer for kMaxAge periods all domains fail. A
// source that hangs does not delay the destructor by more than its MaxFarewell(): its thread is left behind
// (base/thread.h).
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread.h"
#include "base/units.h"
#include "energy/energy_source.h"

namespace kepler::energy {

class PolledSource final : public EnergySource {
 public:
  /// A meter that works again is then read within two periods.
  static constexpr int kMaxBackOff = 2;
  static constexpr int kMaxAge = 3;
  /// A search that another part asks for because a domain is missing is done at most once in this time.
  static constexpr std::chrono::minutes kSearchPeriod{5};
  /// Shorter than the silence after which a Meter drops an interval.
  static constexpr std::chrono::minutes kMaxPause{4};

  /// `slow` belongs to the thread from Start() on, which may outlive everything that it does not own.
  PolledSource(std::unique_ptr<EnergySource> slow, Nanoseconds period, std::shared_ptr<const Clock> clock);
  ~PolledSource() override;

  /// Starts the thread. Call it once at most.
  [[nodiscard]] Status Start();
  /// One turn of the thread: discovers domains if required, and reads them. Returns the pause until the next turn. For
  /// the thread, and for tests without one.
  Nanoseconds Poll();

  [[nodiscard]] std::string_view Name() const override { return name_; }
  [[nodiscard]] status::Domain domain() const override { return domain_; }
  [[nodiscard]] Authority authority() const override { return authority_; }
  /// What the thread has found and read; an error until it has, and while it fails to. It looks again in its next turn.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Whether that is another list than was handed out last.
  [[nodiscard]] bool HasChanged() override;
  void Read(std::vector<DomainReading>& out) override;
  /// Both as the thread saw them last.
  void UpdateMaxPower(size_t index, Domain& domain) override;
  [[nodiscard]] bool IsOffline(const Domain& domain) override;

 private:
  struct Shared;
  std::string name_;
  status::Domain domain_;
  Authority authority_;
  std::shared_ptr<Shared> shared_;
  uint64_t list_ = 0;              // number of the list that Discover() handed out; 0: none
  std::vector<std::string> keys_;  // of that list
  std::optional<BlockingThread> thread_;
};

}  // namespace kepler::energy
