#pragma once
// The aggregate CPU times of the machine: the "cpu" line of <procfs>/stat. Sampled at timer ticks by the kernel: right
// over seconds, wrong by much over milliseconds.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "os/file.h"

namespace kepler::os {

/// In clock ticks since boot. Guest time is inside user and nice.
struct ProcStatCpu {
  uint64_t user = 0;
  uint64_t nice = 0;
  uint64_t system = 0;
  uint64_t idle = 0;
  uint64_t iowait = 0;
  uint64_t irq = 0;
  uint64_t softirq = 0;
  uint64_t steal = 0;
  uint32_t cpus = 0;  // "cpuN" lines: processors online
  bool operator==(const ProcStatCpu&) const = default;
};

[[nodiscard]] Result<ProcStatCpu> ParseProcStat(std::string_view text);

/// A digest of which processors have a "cpuN" line, those that are online: another one when others are.
[[nodiscard]] uint64_t OnlineDigest(std::string_view text);

/// The "processes" line: tasks (threads too) made since boot, over all pid namespaces. Nothing if it is not there.
[[nodiscard]] std::optional<uint64_t> ParseTasksMade(std::string_view text);

/// How often each kind of software interrupt ran since boot, on all processors: of the kinds that do input and output.
struct Softirqs {
  uint64_t net_tx = 0;
  uint64_t net_rx = 0;
  uint64_t block = 0;
  bool operator==(const Softirqs&) const = default;
};

/// A counter's step between two readings; 0 where it stepped back.
[[nodiscard]] constexpr uint64_t Forward(uint64_t previous, uint64_t now) {
  return now > previous ? now - previous : 0;
}

/// Of each kind by itself.
[[nodiscard]] constexpr Softirqs Forward(const Softirqs& previous, const Softirqs& now) {
  return {.net_tx = Forward(previous.net_tx, now.net_tx),
          .net_rx = Forward(previous.net_rx, now.net_rx),
          .block = Forward(previous.block, now.block)};
}

/// The "softirq" line: the sum, then a column for each kind in the order of the kernel's softirq_to_name
/// (kernel/softirq.c). Nothing if it is not there or not like that.
[[nodiscard]] std::optional<Softirqs> ParseSoftirqs(std::string_view text);

/// Busy share of the time between two readings: Δ(total − idle − iowait) / Δtotal; 0 if no time passed. idle and iowait
/// can step back on Linux: each backward step counts as 0, so the result is in [0, 1].
[[nodiscard]] Ratio UsageRatio(const ProcStatCpu& previous, const ProcStatCpu& now);

/// Busy ticks between two readings, by the same rule.
[[nodiscard]] uint64_t BusyTicks(const ProcStatCpu& previous, const ProcStatCpu& now);

/// The same without stolen time, which somebody else ran.
[[nodiscard]] Nanoseconds RanTime(const ProcStatCpu& previous, const ProcStatCpu& now);

/// Time between two readings that interrupts (hard and soft) took, and that the hypervisor did not give.
[[nodiscard]] Nanoseconds InterruptTime(const ProcStatCpu& previous, const ProcStatCpu& now);
[[nodiscard]] Nanoseconds StolenTime(const ProcStatCpu& previous, const ProcStatCpu& now);

/// Length of a clock tick of /proc files (USER_HZ; 10 ms on every architecture that is supported).
[[nodiscard]] Nanoseconds ClockTick();

/// <procfs>/stat at one moment.
struct ProcStat {
  BootTime at{};
  ProcStatCpu cpu;
  uint64_t online = 0;                   // OnlineDigest()
  std::optional<uint64_t> tasks_made{};  // ParseTasksMade()
  std::optional<Softirqs> softirqs{};    // ParseSoftirqs()
};

/// Reads it once for all who ask at one point of a tick: the file takes the kernel a millisecond on large machines. One
/// thread only.
class ProcStatReader {
 public:
  /// `clock` must outlive the reader.
  ProcStatReader(const std::string& procfs, const Clock& clock) : path_(procfs + "/stat"), clock_(clock) {}
  /// From now on all readings are one, made when it is first asked for. Before the first call each is a new one.
  void Renew();
  /// Valid until the next Renew() or Read().
  [[nodiscard]] const Result<ProcStat>& Read();

 private:
  [[nodiscard]] Result<ProcStat> ReadNow();

  std::string path_;
  const Clock& clock_;
  bool shared_ = false;
  std::optional<Result<ProcStat>> latest_;  // where it is shared: since Renew()
  ReadBuffer buffer_;
};

}  // namespace kepler::os
