#pragma once
// Snapshot: the immutable result of one tick, and all that exporters may see. A struct of arrays: one row per listed
// workload, row-major energies and watts (row × zone). Built by attribution/ on the collection thread, then shared as
// std::shared_ptr<const Snapshot>; any number of threads may read it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/cpu_info.h"
#include "base/hardware_events.h"
#include "base/units.h"
#include "snapshot/identity.h"
#include "snapshot/status.h"

namespace kepler::snapshot {

enum class Level : uint8_t { kProcess, kContainer, kVm, kPod };
inline constexpr size_t kLevels = 4;
inline constexpr std::array<Level, kLevels> kAllLevels = {Level::kProcess, Level::kContainer, Level::kVm, Level::kPod};
[[nodiscard]] std::string_view ToString(Level level);

enum class State : uint8_t { kRunning, kTerminated };
[[nodiscard]] std::string_view ToString(State state);

/// Why energy of a level has no series (design: docs/INVARIANTS.md).
enum class Unlisted : uint8_t {
  kDeparted,  // had a series that has ended
  kCapped,    // used while it had no series (cap, threshold)
  kUnseen,    // came and went between two scans, known through its cgroup only
  kOutside    // belongs to nothing of this level
};
inline constexpr size_t kUnlistedReasons = 4;
inline constexpr std::array<Unlisted, kUnlistedReasons> kAllUnlisted = {Unlisted::kDeparted, Unlisted::kCapped,
                                                                        Unlisted::kUnseen, Unlisted::kOutside};
[[nodiscard]] std::string_view ToString(Unlisted reason);

/// Who pays for idle energy.
enum class IdlePayers : uint8_t {
  kNode,      // the node's alone
  kByUse,     // who used the processors, by the time
  kByRequest  // containers, by what they requested
};

/// By what the energy of a zone was split.
enum class Method : uint8_t {
  kCpuTime,
  kCycles,
  kCyclesInstructionsMix,
  kCacheMisses,
  kModel,          // what a power model says of those that ran
  kCpuRequests,    // what containers requested of the processors
  kMemoryRequests  // of the memory
};
[[nodiscard]] std::string_view ToString(Method method);

/// How the busy share of the machine is found.
enum class RatioMethod : uint8_t {
  kProcStat,  // from the timer ticks that /proc/stat counts, as upstream
  kExact      // nanoseconds that ran ÷ (time × CPUs)
};
[[nodiscard]] std::string_view ToString(RatioMethod method);

/// How sure an idle baseline is.
enum class Confidence : uint8_t {
  kLearning,      // there is none yet: the usage ratio splits the zone
  kExtrapolated,  // the machine was never seen next to idle, or too long ago: a line through what was seen
  kMeasured       // from power with a usage ratio of at most 5 %
};
[[nodiscard]] std::string_view ToString(Confidence confidence);

/// The power that a zone is taken to need without any work.
struct IdleBaseline {
  Confidence confidence = Confidence::kLearning;
  Power power;        // 0 while learning
  Power uncertainty;  // how far it may be off
};

/// The listed workloads of one level. Label sets are unique within a table (without `state`).
template <class IdentityT>
struct Table {
  using Identity = IdentityT;
  size_t zones = 0;
  std::vector<std::shared_ptr<const Identity>> identity;
  std::vector<State> state;
  std::vector<Nanoseconds> cpu;        // total since the series began
  std::vector<HardwareEvents> events;  // total since the series began; empty where nothing is counted
  std::vector<Energy> energy;          // rows × zones: total since the series began
  std::vector<double> watts;           // rows × zones: mean over the last interval; 0 for terminated
  std::vector<BootTime> begin{};       // when the series was 0; empty: with the agent

  [[nodiscard]] size_t rows() const { return identity.size(); }
  [[nodiscard]] Energy energy_at(size_t row, size_t zone) const { return energy[row * zones + zone]; }
  [[nodiscard]] BootTime begin_of(size_t row) const { return begin.empty() ? BootTime{} : begin[row]; }
  [[nodiscard]] double watts_at(size_t row, size_t zone) const { return watts[row * zones + zone]; }
};

/// The node's own figures of one zone. total = active + idle, exactly.
struct NodeZone {
  Energy total;
  Energy active;
  Energy idle;
  Power power;
  Power active_power;
  Power idle_power;
  bool fresh = false;  // the watts are known; else they are not shown
  BootTime begin{};    // when the totals were 0
};

/// Living processes that have no series because they shall not all have one, by the limit that says so.
struct CutProcesses {
  uint64_t kernel_threads = 0;
  uint64_t min_power = 0;
  uint64_t max = 0;
};

struct Snapshot {
  uint64_t sequence = 0;    // grows by one per published snapshot
  WallTime taken_at{};      // begin of the tick: nothing in here is older
  BootTime begun{};         // the same instant by the clock that never jumps
  BootTime taken_boot{};    // when the meters were read
  Nanoseconds interval{0};  // what the watts are the mean of
  BootTime started{};       // when the agent began: since then count the counters that say nothing else

  std::vector<Zone> zones;           // those of the meters, then those of kIdleCpu
  size_t primary = 0;                // index of the zone that stands for the machine when workloads are ranked
  std::vector<NodeZone> node;        // per zone
  std::vector<Method> methods;       // per zone
  std::vector<ZoneDomains> domains;  // per zone of the meters
  Ratio usage_ratio;                 // the one in use
  RatioMethod ratio_method = RatioMethod::kProcStat;
  Ratio proc_stat_ratio;
  Ratio exact_ratio;
  IdlePayers idle_payers = IdlePayers::kNode;
  std::vector<IdleBaseline> idle_baselines;  // per zone of the meters; empty: the usage ratio splits all of them
  Table<ProcessIdentity> processes;
  Table<ContainerIdentity> containers;
  Table<VmIdentity> vms;
  Table<PodIdentity> pods;
  std::optional<CutProcesses> cut;  // nothing where there is no limit

  std::vector<Energy> unattributed;  // per zone
  Nanoseconds unattributed_cpu{0};
  /// unlisted[level][reason][zone]
  std::array<std::array<std::vector<Energy>, kUnlistedReasons>, kLevels> unlisted;
  /// unnamed[level][zone]: of those that have no series before their name is known; it moves to their series.
  std::array<std::vector<Energy>, kLevels> unnamed;
  /// Left side minus right side of the invariants, per zone; all zero. Last index: the node (total - active - idle).
  std::array<std::vector<Energy>, kLevels + 1> conservation_error;

  NodeFeatures features;
  std::vector<SourceStatus> sources;
  std::vector<EstimateStatus> estimates;
  std::optional<ModelStoreStatus> model_store;
  ActivityStatus activity;
  PipelineStatus pipeline;
  std::optional<PodInformerStatus> pod_informer;
  std::shared_ptr<const std::vector<CpuInfo>> cpus;  // never null

  /// When that was by the wall clock; epoch for {}, which is never.
  [[nodiscard]] WallTime WallOf(BootTime at) const { return at == BootTime{} ? WallTime{} : taken_at + (at - begun); }
};

/// Recycles snapshots: at most `max` exist at a time. Acquire() answers null while readers hold all of them. The pool
/// may be destroyed before its snapshots. Thread-safe (readers release from their own threads).
class Pool {
 public:
  /// The latest, the next, and an older one that somebody still reads.
  static constexpr size_t kReaders = 3;
  explicit Pool(size_t max = kReaders);
  [[nodiscard]] std::shared_ptr<Snapshot> Acquire();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// The latest snapshot, swapped under a small mutex (std::atomic<shared_ptr> of libstdc++ 12 is racy under TSan).
class Board {
 public:
  void Publish(std::shared_ptr<const Snapshot> next);
  [[nodiscard]] std::shared_ptr<const Snapshot> Latest() const;  // null before the first

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> latest_;
};

}  // namespace kepler::snapshot
