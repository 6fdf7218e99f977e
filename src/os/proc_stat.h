#pragma once
// The machine's total CPU times: the "cpu" line of <procfs>/stat. The kernel samples them at timer ticks: the values
// are accurate over seconds, but not over milliseconds. Also the machine's use of memory at the same moment.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "os/file.h"

namespace kepler::os {

/// Times in clock ticks since boot. Guest time is included in user and nice.
struct ProcStatCpu {
  uint64_t user = 0;
  uint64_t nice = 0;
  uint64_t system = 0;
  uint64_t idle = 0;
  uint64_t iowait = 0;
  uint64_t irq = 0;
  uint64_t softirq = 0;
  uint64_t steal = 0;
  uint32_t cpus = 0;  // number of "cpuN" lines: online CPUs
  bool operator==(const ProcStatCpu&) const = default;
};

[[nodiscard]] Result<ProcStatCpu> ParseProcStat(std::string_view text);

/// Returns a digest of the set of online CPUs ("cpuN" lines). The digest changes with the set.
[[nodiscard]] uint64_t OnlineDigest(std::string_view text);

/// Parses the "processes" line: tasks (including threads) created since boot, in all pid namespaces. Returns nothing if
/// the line is missing.
[[nodiscard]] std::optional<uint64_t> ParseTasksMade(std::string_view text);

/// Number of runs of each software interrupt kind since boot, on all CPUs. Only the kinds for input and output.
struct Softirqs {
  uint64_t net_tx = 0;
  uint64_t net_rx = 0;
  uint64_t block = 0;
  bool operator==(const Softirqs&) const = default;
};

/// Returns the increase of a counter between two readings; 0 if the counter decreased.
[[nodiscard]] constexpr uint64_t Forward(uint64_t previous, uint64_t now) {
  return now > previous ? now - previous : 0;
}

/// Returns the increase of each kind.
[[nodiscard]] constexpr Softirqs Forward(const Softirqs& previous, const Softirqs& now) {
  return {.net_tx = Forward(previous.net_tx, now.net_tx),
          .net_rx = Forward(previous.net_rx, now.net_rx),
          .block = Forward(previous.block, now.block)};
}

/// Parses the "softirq" line: the sum, then one column per kind in the order of the kernel's softirq_to_name
/// (kernel/softirq.c). Returns nothing if the line is missing or has another format.
[[nodiscard]] std::optional<Softirqs> ParseSoftirqs(std::string_view text);

/// Parses the "ctxt" line: context switches since boot, on all CPUs. Returns nothing if the line is missing.
[[nodiscard]] std::optional<uint64_t> ParseContextSwitches(std::string_view text);

/// Parses the "pgfault" line of <procfs>/vmstat: page faults since boot, minor and major. Returns nothing if the line
/// is missing.
[[nodiscard]] std::optional<uint64_t> ParsePageFaults(std::string_view vmstat);

/// Parses <procfs>/meminfo. Returns the bytes that are not available to new programs: MemTotal − MemAvailable. Returns
/// nothing if one of the lines is missing or malformed.
[[nodiscard]] std::optional<uint64_t> ParseUsedMemory(std::string_view meminfo);

/// Returns the busy share of the time between two readings: Δ(total − idle − iowait) / Δtotal; 0 if no time passed. On
/// Linux idle and iowait can decrease. A decrease counts as 0, so the result is in [0, 1].
[[nodiscard]] Ratio UsageRatio(const ProcStatCpu& previous, const ProcStatCpu& now);

/// Returns the busy ticks between two readings, by the same rule.
[[nodiscard]] uint64_t BusyTicks(const ProcStatCpu& previous, const ProcStatCpu& now);

/// Returns the busy time without stolen time, which other guests used.
[[nodiscard]] Nanoseconds RanTime(const ProcStatCpu& previous, const ProcStatCpu& now);

/// Returns the time between two readings that interrupts (hard and soft) used or that the hypervisor stole.
[[nodiscard]] Nanoseconds InterruptTime(const ProcStatCpu& previous, const ProcStatCpu& now);
[[nodiscard]] Nanoseconds StolenTime(const ProcStatCpu& previous, const ProcStatCpu& now);

/// Length of a clock tick in /proc files (USER_HZ; 10 ms on every supported architecture).
[[nodiscard]] Nanoseconds ClockTick();

/// Values of <procfs>/stat, vmstat and meminfo at one moment. Only stat is required.
struct ProcStat {
  BootTime at{};
  ProcStatCpu cpu;
  uint64_t online = 0;                         // OnlineDigest()
  std::optional<uint64_t> tasks_made{};        // ParseTasksMade()
  std::optional<Softirqs> softirqs{};          // ParseSoftirqs()
  std::optional<uint64_t> context_switches{};  // ParseContextSwitches()
  std::optional<uint64_t> page_faults{};       // ParsePageFaults()
  std::optional<uint64_t> used_memory{};       // ParseUsedMemory()
};

/// Shares one reading among all callers at one point of a tick: on large machines the kernel needs a millisecond for
/// the file. One thread only.
class ProcStatReader {
 public:
  /// `clock` must outlive the reader.
  ProcStatReader(const std::string& procfs, const Clock& clock)
      : path_(procfs + "/stat"), vmstat_(procfs + "/vmstat"), meminfo_(procfs + "/meminfo"), clock_(clock) {}
  /// Starts a new shared reading, which is made at the next Read(). Before the first Renew(), each Read() is separate.
  void Renew();
  /// Valid until the next Renew() or Read().
  [[nodiscard]] const Result<ProcStat>& Read();

 private:
  [[nodiscard]] Result<ProcStat> ReadNow();

  std::string path_, vmstat_, meminfo_;
  const Clock& clock_;
  bool shared_ = false;
  std::optional<Result<ProcStat>> latest_;  // the shared reading since Renew()
  ReadBuffer buffer_;
};

}  // namespace kepler::os
