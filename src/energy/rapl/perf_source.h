#pragma once
// PerfSource: reads RAPL counters through the kernel's power PMU (Linux arch/x86/events/rapl.c). The kernel reads the
// 32-bit registers often enough, so a counter never wraps between two scans, however rare they are. Needs CAP_PERFMON.
// Keeps one descriptor per counter, which holds the kernel's module.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "energy/energy_source.h"
#include "energy/rapl/counter_layout.h"
#include "energy/rapl/perf_event.h"
#include "os/cpu_topology.h"
#include "os/file.h"

namespace kepler::energy::rapl {

class PerfSource final : public EnergySource {
 public:
  /// `zones`: as of PowercapSource. `opener`: OpenPerfCounter, or a double. `clock` must outlive the source.
  PerfSource(std::string sysfs, const std::vector<std::string>& zones, PerfOpener opener, const Clock& clock);

  [[nodiscard]] std::string_view Name() const override { return "rapl"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Opens each event on one CPU of each package, as the PMU's cpumask says; on AMD the kernel may list a CPU per die,
  /// but the counter is that of the package. Counters that are open stay open.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// If a package counter that moved is not advancing, the events of its CPU are kGone and are opened again: the kernel
  /// ends the events of a CPU that went offline, also if it came back.
  void Read(std::vector<DomainReading>& out) override;
  /// Returns true if the cpumask has changed, or if an event could not be opened.
  [[nodiscard]] bool HasChanged() override;
  [[nodiscard]] bool IsOffline(const Domain& domain) override;

 private:
  struct Event {
    PerfEvent perf;
    double joules_per_count = 0;
  };
  /// Energy of one domain. Continues when its event is opened again, on another CPU.
  struct Counter {
    std::unique_ptr<PerfCounter> open;
    uint32_t cpu = 0;
    uint64_t count = 0;            // at the last reading of `open`
    uint64_t microjoules = 0;      // sum since the first reading
    long double fraction_uj = 0;   // not in the sum yet, in [0, 1)
    long double uj_per_count = 0;  // exact for the kernel's scale, 2^-32 J
    bool is_package = false;       // moves on every machine that is on
    int still_reads = 0;           // in a row, after it moved; negative: it has not moved since it was opened
    Error fault{};                 // why it is not open
  };
  [[nodiscard]] Result<std::map<CounterKind, Event>> FindEvents();
  [[nodiscard]] Result<Event> ReadEvent(const std::string& path, uint32_t type);
  [[nodiscard]] Result<std::vector<os::PlacedCpu>> FindPlaces(bool is_amd);
  [[nodiscard]] Result<std::vector<PlacedCounter>> FindCounters(bool is_amd,
                                                                const std::map<CounterKind, Event>& events);
  const Error* OpenAll(std::vector<PlacedCounter>& found, const std::map<CounterKind, Event>& events);
  void Open(Counter& counter, const PlacedCounter& at, const Event& event);
  static Status Update(Counter& counter);
  [[nodiscard]] Answer ReadCounter(Counter& counter);

  std::string sysfs_;
  std::string pmu_;  // directory of the PMU: <sysfs>/bus/event_source/devices/power, a link to <sysfs>/devices/power.
                     // A container may have only the latter
  ZoneChoice wanted_;
  PerfOpener opener_;
  const Clock& clock_;
  os::CpuTopology topology_;
  std::string cpumask_;                       // at the last Discover()
  std::map<std::string, Counter> counters_;   // of all domains found so far, by key
  std::vector<Counter*> listed_;              // in the order of the last Discover()
  std::map<std::string, os::CpuPart> parts_;  // of all domains found so far, by key
  os::ReadBuffer buffer_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::energy::rapl
