#pragma once
// Snapshot: the immutable result of one tick, and the only input of exporters. The snapshot is a struct of arrays: one
// row per listed workload, and row-major energies and watts (row × zone). attribution/ builds it on the collection
// thread. It is then shared as std::shared_ptr<const Snapshot>; any number of threads may read it.
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
#include "base/wall_history.h"
#include "snapshot/identity.h"
#include "status/activity_status.h"
#include "status/agent_status.h"
#include "status/energy_status.h"
#include "status/estimate_status.h"
#include "status/model_store_status.h"
#include "status/node_load.h"
#include "status/platform_status.h"
#include "status/pod_informer_status.h"

namespace kepler::snapshot {

enum class Level : uint8_t { kProcess, kContainer, kVm, kPod, kNamespace, kOwner, kUser };
inline constexpr size_t kLevels = 7;
inline constexpr std::array<Level, kLevels> kAllLevels = {
    Level::kProcess, Level::kContainer, Level::kVm, Level::kPod, Level::kNamespace, Level::kOwner, Level::kUser};
[[nodiscard]] std::string_view ToString(Level level);

enum class State : uint8_t { kRunning, kTerminated };
[[nodiscard]] std::string_view ToString(State state);

/// Reasons why energy of a level has no series (docs/INVARIANTS.md).
enum class Unlisted : uint8_t {
  kDeparted,  // the workload had a series that has ended
  kCapped,    // energy used while the workload had no series (cap, threshold)
  kUnseen,    // started and exited between two scans; known only through its cgroup. Of a namespace or an owner: pods
              // that ended before the cluster named them. Of a user: processes whose user is unknown
  kOutside    // belongs to no workload of this level
};
inline constexpr size_t kUnlistedReasons = 4;
inline constexpr std::array<Unlisted, kUnlistedReasons> kAllUnlisted = {Unlisted::kDeparted, Unlisted::kCapped,
                                                                        Unlisted::kUnseen, Unlisted::kOutside};
[[nodiscard]] std::string_view ToString(Unlisted reason);

/// Workloads that idle energy is attributed to.
enum class IdlePayers : uint8_t {
  kNode,      // no workload: idle energy stays with the node
  kByUse,     // all workloads, by CPU time
  kByRequest  // containers, by their CPU and memory requests
};

/// Method used to split the energy of a zone.
enum class Method : uint8_t {
  kCpuTime,
  kCycles,
  kCyclesInstructionsMix,
  kCacheMisses,
  kModel,          // estimate of a power model for each workload
  kCpuRequests,    // CPU requests of containers
  kMemoryRequests  // memory requests of containers
};
[[nodiscard]] std::string_view ToString(Method method);

/// Method used to find the busy share of the machine.
enum class RatioMethod : uint8_t {
  kProcStat,  // from the timer ticks in /proc/stat, as upstream
  kExact      // CPU time in nanoseconds ÷ (time × CPUs)
};
[[nodiscard]] std::string_view ToString(RatioMethod method);

/// Quality of an idle baseline.
enum class Confidence : uint8_t {
  kLearning,      // no baseline yet: the usage ratio splits the zone
  kExtrapolated,  // extrapolated by a line: no nearly idle state was measured, or it was too long ago
  kMeasured       // from power measured at a usage ratio of at most 5 %
};
[[nodiscard]] std::string_view ToString(Confidence confidence);

/// Estimated power of a zone without any load.
struct IdleBaseline {
  Confidence confidence = Confidence::kLearning;
  Power power;        // 0 while learning
  Power uncertainty;  // estimated error of `power`
};

/// The listed workloads of one level. Label sets are unique within a table (without `state`).
template <class IdentityT>
struct Table {
  using Identity = IdentityT;
  size_t zones = 0;  // columns: leading zones of Snapshot::zones; workloads have no part of the zones after them
  std::vector<std::shared_ptr<const Identity>> identity;
  std::vector<State> state;
  std::vector<Nanoseconds> cpu;        // total since the series began
  std::vector<HardwareEvents> events;  // total since the series began; empty if hardware events are not counted
  std::vector<Energy> energy;          // rows × zones: total since the series began
  std::vector<double> watts;           // rows × zones: mean over the last interval; 0 for terminated
  std::vector<BootTime> begin{};       // time at which the series was 0; empty: start of the agent

  [[nodiscard]] size_t rows() const { return identity.size(); }
  [[nodiscard]] Energy energy_at(size_t row, size_t zone) const { return energy[row * zones + zone]; }
  [[nodiscard]] BootTime begin_of(size_t row) const { return begin.empty() ? BootTime{} : begin[row]; }
  [[nodiscard]] double watts_at(size_t row, size_t zone) const { return watts[row * zones + zone]; }
};

/// Totals of pods by namespace or by owner, or of processes by user, since a row began. They contain the energy of pods
/// and processes that have ended.
template <class IdentityT>
struct RollUpTable {
  using Identity = IdentityT;
  size_t zones = 0;  // columns, as in a Table
  std::vector<std::shared_ptr<const Identity>> identity;
  std::vector<Energy> energy;   // rows × zones
  std::vector<BootTime> begin;  // time at which the row was 0

  [[nodiscard]] size_t rows() const { return identity.size(); }
  [[nodiscard]] Energy energy_at(size_t row, size_t zone) const { return energy[row * zones + zone]; }
};

using RollUp = RollUpTable<OwnerIdentity>;

/// Energy and power of the node in one zone. total = active + idle, exactly.
struct NodeZone {
  Energy total;
  Energy active;
  Energy idle;
  Power power;
  Power active_power;
  Power idle_power;
  bool fresh = false;  // the watts are known; otherwise they are not exported
  BootTime begin{};    // time at which the totals were 0
};

/// Number of living processes without a series, by the limit that excludes them.
struct CutProcesses {
  uint64_t kernel_threads = 0;
  uint64_t min_power = 0;
  uint64_t max = 0;
};

struct Snapshot {
  uint64_t sequence = 0;                      // increases by one per published snapshot
  WallTime taken_at{};                        // begin of the tick; all data in the snapshot is newer
  BootTime begun{};                           // `taken_at` on the boot clock, which never jumps
  BootTime taken_boot{};                      // time of the meter readings
  Nanoseconds interval{0};                    // interval over which the watts are averaged
  BootTime started{};                         // start of the agent: counters without another begin count from here
  std::shared_ptr<const WallHistory> wall{};  // null: the wall clock was never set

  std::vector<status::Zone> zones;           // zones of the meters, then zones of kIdleCpu
  size_t primary = 0;                        // index of the zone used to rank workloads
  std::vector<NodeZone> node;                // per zone
  std::vector<Method> methods;               // per zone
  std::vector<status::ZoneDomains> domains;  // per zone of the meters
  Ratio usage_ratio;                         // ratio that is in use
  RatioMethod ratio_method = RatioMethod::kProcStat;
  Ratio proc_stat_ratio;
  Ratio exact_ratio;
  IdlePayers idle_payers = IdlePayers::kNode;
  std::vector<IdleBaseline> idle_baselines;  // per zone of the meters; empty: the usage ratio splits every zone
  Table<ProcessIdentity> processes;
  Table<ContainerIdentity> containers;
  Table<VmIdentity> vms;
  Table<PodIdentity> pods;
  RollUp namespaces;
  RollUp owners;
  RollUpTable<UserIdentity> users;
  std::optional<CutProcesses> cut;  // empty if there is no limit

  std::vector<Energy> unattributed;  // per zone
  Nanoseconds unattributed_cpu{0};
  /// unlisted[level][reason][zone]
  std::array<std::array<std::vector<Energy>, kUnlistedReasons>, kLevels> unlisted;
  /// unnamed[level][zone]: energy of workloads that get no series before their name is known. The energy later moves to
  /// their series.
  std::array<std::vector<Energy>, kLevels> unnamed;
  /// Left side minus right side of the invariants, per zone; all values are zero. Last index: the node (total - active
  /// - idle).
  std::array<std::vector<Energy>, kLevels + 1> conservation_error;

  status::NodeFeatures features;
  std::vector<status::SourceStatus> sources;
  std::vector<status::EstimateStatus> estimates;
  std::vector<status::PlatformReading> platform;  // every sensor of the platform meters
  std::optional<status::OtherEnergy> other;       // energy of the machine without its CPU zones
  std::optional<status::ModelStoreStatus> model_store;
  status::ActivityStatus activity;
  status::PipelineStatus pipeline;
  std::optional<status::PodInformerStatus> pod_informer;
  std::shared_ptr<const std::vector<CpuInfo>> cpus;  // never null

  /// Converts a boot time to wall time; {} ("never") becomes the epoch.
  [[nodiscard]] WallTime WallOf(BootTime at) const { return at == BootTime{} ? WallTime{} : taken_at + (at - begun); }
  /// Returns the wall time at which a series was 0. It is the same in all snapshots, whenever the wall clock is set.
  /// `begin`: of the series; {}: start of the agent.
  [[nodiscard]] WallTime StartOf(BootTime begin) const {
    const BootTime at = begin == BootTime{} ? started : begin;
    return wall ? wall->Of(at) : taken_at + (at - begun);
  }
};

/// Recycles snapshots: at most `max` exist at a time. Acquire() returns null while readers hold all of them. The pool
/// may be destroyed before its snapshots. Thread-safe (readers release from their own threads).
class Pool {
 public:
  /// The latest snapshot, the next one, and an older one that is still being read.
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
