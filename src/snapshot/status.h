#pragma once
// The status vocabulary: how the parts of the agent say how they are. Each part fills its own struct, exporters show
// it; nobody copies it into another one. Counters are totals since the start.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hardware_events.h"
#include "base/time_accounting.h"
#include "base/units.h"

namespace kepler::snapshot {

/// What a zone measures. Families and labels follow from it.
enum class Domain : uint8_t {
  kCpu,       // processors and their memory: workloads share it by what they ran
  kGpu,       // a device: workloads share it by how they used that
  kPlatform,  // the machine as a whole: the node's alone
  kOther,     // a part of the machine that no workload uses: a fan, a battery. The node's alone
  kIdleCpu    // not measured: the idle energy of a zone of kCpu, where workloads share that too
};

/// An exported zone of a meter.
struct Zone {
  std::string name;    // "package"
  std::string path;    // label value: of its only domain, "aggregated-<name>", or "model"
  std::string source;  // "rapl", "hwmon", "fake", "model"
  Domain domain = Domain::kCpu;
  bool operator==(const Zone&) const = default;
};

/// How much of a zone answered in the last tick.
struct ZoneDomains {
  uint32_t known = 0;  // whether present or not; those that mirror another one are none
  uint32_t read = 0;   // of these, that gave a reading
};

/// A meter. Filled by energy/.
struct SourceStatus {
  std::string name;
  bool up = false;          // the last sample read at least one domain, and no rediscovery is failing
  WallTime last_success{};  // epoch: never
  uint64_t rejected_readings = 0;
  Energy rejected_energy;       // refused by the physical gate
  uint64_t resets = 0;          // counter fell without a wrap, or a power sensor was silent for too long (suspend)
  uint64_t failed_reads = 0;    // one per sample and domain without a reading, gone ones too; not of what is offline
  uint64_t unknown_wraps = 0;   // a wrap more was possible since the reading before: the energy is a lower bound
  bool restart_needed = false;  // better than the one in use, and can be read only since after the start
};

/// By which model a zone is estimated or shared, as labels show it; "" where it does not say.
struct ZoneModel {
  std::string zone;
  std::string name;
  std::string trainer;
  std::string features;   // name of their group, or "custom"
  std::string machine;    // the processor that it was trained on
  std::string source;     // "built-in", a path or a URL
  std::string mae_watts;  // what it states for a machine like this one
  std::string mape;
  bool only_load = false;  // what load adds; else with the machine's idle power
  bool operator==(const ZoneModel&) const = default;
};

/// Estimates by power models: in place of a meter, filled by energy/modeled, or of what workloads share, filled by
/// pipeline/.
struct EstimateStatus {
  std::shared_ptr<const std::vector<ZoneModel>> models =
      std::make_shared<const std::vector<ZoneModel>>();  // in use now
  bool of_workloads = false;  // they say how workloads share what a zone used; else what it used
  uint64_t predictions = 0;   // by one model for all zones that are estimated by it
  Nanoseconds prediction_time{0};
  uint64_t extrapolated = 0;  // predictions with a feature outside of the model's training domain
  uint64_t clamped = 0;       // predictions that no machine can draw, or less than was measured of a part: changed
};

/// Software interrupts that do input and output.
struct NodeSoftirqs {
  uint64_t block = 0;
  uint64_t net_rx = 0;
  uint64_t net_tx = 0;
};

/// What the machine did since the first tick, as power models see it.
struct NodeFeatures {
  Nanoseconds cpu{0};                    // busy time of all processors: user, nice, system, irq, softirq
  std::optional<NodeSoftirqs> softirqs;  // nothing where the kernel does not say
  std::optional<HardwareEvents> events;  // nothing where they are not counted
};

/// One kind of record that the kernel side of the activity source hands over.
struct RecordCount {
  // A literal: "task", "exec", "cgroup". With `dropped` only: "unreported" (tasks that ended without any record),
  // "skipped" (runs of a program that the kernel left out), "slice" (slices whose hardware events are not known).
  std::string_view kind;
  uint64_t taken = 0;
  uint64_t dropped = 0;
  bool only_dropped = false;  // there is nothing to take of this kind
};

/// How well what was given out agrees with the kernel's own usage of each cgroup.
struct AuditStatus {
  uint64_t comparisons = 0;  // of one cgroup each
  Nanoseconds charged{0};    // given out as residuals: no known process used it
  double worst_ratio = 0;    // the largest |difference| ÷ used of the last one to two minutes
  BootTime last{};           // when the usages of the latest were read; 0: there was none
};

/// Who knows who was busy. Filled by activity/.
struct ActivityStatus {
  std::string_view name;  // a literal: "bpf", "procfs"
  bool up = false;
  WallTime last_success{};    // epoch: never
  uint64_t vanished = 0;      // processes that ended between two reads: normal
  uint64_t failed_reads = 0;  // any other failure, each explained once in the log
  uint64_t failed_cgroup_reads = 0;
  bool counts_events = false;  // samples have hardware events
  TimeAccounting time{};
  AuditStatus audit{};
  // Of a source with a kernel side; without one `records` is empty, and the rest says nothing.
  std::vector<RecordCount> records{};
  Nanoseconds lost{0};           // CPU time whose owner nobody knows
  Nanoseconds iterator_time{0};  // wall time of the passes over all tasks
  Nanoseconds program_time{0};   // of the BPF programs, where kernel.bpf_stats_enabled lets the kernel measure it
  uint64_t program_runs = 0;
};

/// Who is asked for the pods of this node. Filled by workload/kubernetes.
struct PodInformerStatus {
  // Literals: "auto" (mode only), "kubelet", "apiserver".
  std::string_view mode{};
  std::string_view source{};  // in use
  bool up = true;             // the latest request was answered, or there was none yet
  uint64_t requests = 0;
  uint64_t failed_requests = 0;
  uint64_t pods = 0;           // of the last answer
  uint64_t left_out_pods = 0;  // were listed, and had no room
  uint64_t left_out_containers = 0;
  WallTime last_success{};  // epoch: never
};

/// Claims of ids that belong to another workload.
struct RefusedClaims {
  uint64_t containers = 0;  // counted under an id of their own, as pods are
  uint64_t pods = 0;
  uint64_t vms = 0;  // counted as plain processes
};

/// The agent's own work. Filled by pipeline/.
struct PipelineStatus {
  uint64_t ticks = 0;
  uint64_t missed_ticks = 0;  // deadlines that passed while a tick was running or the machine slept
  uint64_t failed_ticks = 0;  // nothing could be listed
  uint64_t unpublished = 0;   // ticks whose snapshot could not be built because readers held all of them
  Nanoseconds tick_time{0};   // wall time spent in ticks
  Nanoseconds tick_cpu{0};    // CPU time of the collection thread spent in ticks
  Nanoseconds skew{0};        // last tick: distance between the activity and the energy reading
  RefusedClaims refused_claims{};
};

/// Requests that were not let in, by reason.
struct DeniedRequests {
  uint64_t backoff = 0;         // 429: the client has failed too often
  uint64_t busy = 0;            // 503: the password cannot be checked now, or not in time
  uint64_t no_credentials = 0;  // 401
  uint64_t password = 0;        // 401: or the user
  uint64_t rate_limit = 0;      // 429: that of the web file
  [[nodiscard]] uint64_t total() const { return backoff + busy + no_credentials + password + rate_limit; }
};

/// Who serves. Filled by http/server.
struct HttpStatus {
  uint64_t connections_open = 0;
  uint64_t connections = 0;
  uint64_t connections_refused = 0;  // over the limit
  uint64_t connections_evicted = 0;  // at the limit, in favour of a new one
  uint64_t requests = 0;
  DeniedRequests requests_denied{};
  uint64_t timeouts = 0;          // clients cut because they were too slow
  uint64_t accept_errors = 0;     // no descriptor or memory for a new connection; it waits in the kernel meanwhile
  uint64_t handshake_errors = 0;  // TLS
  bool reload_successful = true;  // the latest attempt to take the configuration in
  WallTime reload_success{};      // when that last worked; the start counts
  std::optional<WallTime> certificate_expiry{};
};

/// The process of the agent. Filled by agent/.
struct SelfStatus {
  Nanoseconds cpu{0};  // user + system
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
  uint64_t virtual_memory_bytes = 0;
  uint64_t virtual_memory_max_bytes = 0;  // no limit: the largest uint64
  uint64_t resident_memory_bytes = 0;
  WallTime start_time{};
  std::optional<uint64_t> network_receive_bytes = std::nullopt;  // of the network namespace; not shown where unknown
  std::optional<uint64_t> network_transmit_bytes = std::nullopt;
};

/// Where trained power models come from. Filled by model_store/.
struct ModelStoreStatus {
  uint64_t refreshes = 0;         // reads of files and requests to servers
  uint64_t failed_refreshes = 0;  // of these
  uint64_t models = 0;            // that there are
  WallTime last_success{};        // of looking at a place: nothing failed; epoch: never
};

}  // namespace kepler::snapshot
