#pragma once
// PolledSource: a slow meter (a BMC, a driver that may hang) behind a thread of its own, so that no tick ever waits for
// it. The thread reads it once a period; a sample takes over what was read last, with the time of that. Where it fails
// its period doubles, up to kMaxBackOff times; where it says nothing for kMaxAge periods its domains fail. It is left
// behind, with its thread, when it hangs at the end.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "energy/energy_source.h"

namespace kepler::energy {

class PolledSource final : public EnergySource {
 public:
  static constexpr int kMaxBackOff = 8;
  static constexpr int kMaxAge = 3;

  /// `slow` belongs to the thread from Start() on. `clock` must outlive the thread: the program's, not a scope's.
  PolledSource(std::unique_ptr<EnergySource> slow, Nanoseconds period, const Clock& clock);
  ~PolledSource() override;

  [[nodiscard]] Status Start();
  /// What the thread does in turn: finds its domains where that is due, and reads them. Returns how long to wait for
  /// the next. For the thread, and for tests that have none.
  Nanoseconds Poll();

  [[nodiscard]] std::string_view Name() const override { return name_; }
  [[nodiscard]] snapshot::Domain Measures() const override { return measures_; }
  /// What the thread has found; an error until it has, and while it fails to.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Whether that is another list than was handed out last.
  [[nodiscard]] bool HasChanged() override;
  void Read(std::vector<DomainReading>& out) override;

 private:
  struct Shared;
  std::string name_;
  snapshot::Domain measures_;
  Nanoseconds period_;
  const Clock& clock_;
  std::shared_ptr<Shared> shared_;
  uint64_t list_ = 0;  // number of the list that Discover() handed out; 0: none
};

}  // namespace kepler::energy
