#pragma once
// PlatformMeters: all meters that measure the whole machine: a BMC by Redfish or IPMI, the ACPI power meter, power
// supplies. They are usually one sensor behind several interfaces, so their energies are never added: the total of
// the machine is that of one meter, the most trusted one that answers. To the MeterSet it is one source with one
// counter. The figures of each meter are exported in addition. Collection thread only.
//
//   a meter answers ──► it is the total ──► silent for kMaxSilence ──► the next one that answers is the total
//                            ▲                                                      │
//                            └────────── a more trusted meter gives energy ◄────────┘
//
// A meter with several sensors, such as one for each power supply, answers only while all of them do: a part of the sum
// is not the machine. The total then has no watts, its energy waits, and after kMaxSilence the next meter takes over.
//
// A meter that takes over adds what it measured since the former one was counted. No time is counted twice: energy of
// the new meter counts from the first interval between its readings that begins after that time.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "energy/energy_source.h"
#include "energy/meter.h"
#include "status/platform_status.h"

namespace kepler::energy {

/// A platform meter that this machine may have.
struct PlatformMeter {
  std::string name;  // "redfish", "dcmi", "acpi", …
  /// Returns true if the machine has the meter now: a device file exists, a BMC is configured. Cheap; called
  /// every few seconds until it is true.
  std::function<bool()> is_present;
  /// Makes the source, which must not block: a PolledSource with a running thread. Called once at most.
  std::function<Result<std::unique_ptr<EnergySource>>()> make;
};

class PlatformMeters final : public EnergySource {
 public:
  /// Time after which a meter that no longer answers is replaced as the total. Shorter than the silence after which
  /// the MeterSet falls back on an estimate.
  static constexpr std::chrono::minutes kMaxSilence{2};

  /// `meters`: the most trusted first.
  PlatformMeters(std::vector<PlatformMeter> meters, const Clock& clock);

  static constexpr std::string_view kName = "platform";
  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kPlatform; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// The machine's total, or kUnavailable until a meter answers.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Samples every meter.
  void Read(std::vector<DomainReading>& out) override;

  /// The total of the machine since the first reading.
  struct Total {
    Energy energy;
    BootTime until{};   // time up to which it is counted; epoch before the second reading
    uint64_t gaps = 0;  // intervals whose energy is not known
  };
  [[nodiscard]] const Total& total() const { return total_; }
  /// Replaces `out` by the figures of every sensor that was ever read. Allocates nothing in the steady state.
  void ReadSensors(std::vector<status::PlatformReading>& out) const;
  /// Appends the status of each meter that the machine has or had.
  void AppendStatus(std::vector<status::SourceStatus>& out) const;

 private:
  struct Member {
    PlatformMeter meter;
    std::unique_ptr<Meter> reader;  // null until the meter is present
    bool open = false;
    std::vector<Energy> totals;  // by zone of the reader
    BootTime answered_at{};
    // The energy of the last sample was used between these times; epoch: no interval yet.
    BootTime counted_from{};
    BootTime counted_until{};
    Energy pending;  // given by some sensors of it, while others hold back counted_until
    // Of a meter that is not the total: its energy since the total was counted, for the case that it becomes the total.
    Energy reserve;
    BootTime reserve_from{};  // epoch: no reserve

    [[nodiscard]] bool has_interval() const { return counted_from != BootTime{} && counted_until > counted_from; }
  };
  /// A sample of the sensors that measure the machine as a whole.
  struct Whole {
    Energy energy;
    Power power;
    bool answers = false;   // a sensor was read
    bool fresh = false;     // a sensor gave an amount
    bool is_new = false;    // … that it had not given before
    bool complete = false;  // every sensor gave one
  };
  void Appear(Member& member);
  void TryOpen(Member& member);
  void Sample(Member& member);
  [[nodiscard]] static Whole WholeOf(const Member& member);
  void Reserve(Member& member) const;
  void Choose();
  void UseReserve(Member& member);
  void CountUntilNow(const Member& member);
  [[nodiscard]] static std::string DescribeSilence(const Member& member);
  [[nodiscard]] static BootTime CountedUntil(const Meter& reader);
  [[nodiscard]] static BootTime LatestCounted(const Meter& reader);
  void Count(Member& member);

  std::vector<Member> members_;
  const Clock& clock_;
  BootTime searched_at_{};
  std::optional<size_t> chosen_;  // index of the member that is the total
  Total total_;
  BootTime latest_{};      // time up to which any sensor of the total is counted: some may be ahead of the others
  uint64_t rejected_ = 0;  // readings of the chosen member that gave no amount, as far as total_.gaps has them
  DomainReading reading_;
  log::LogLimiter limiter_{std::chrono::hours(1)};
};

}  // namespace kepler::energy
