#pragma once
// Status structs of the agent's parts. Each part fills its own struct; exporters show the struct without a copy.
// Counters are totals since startup.
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

/// Subject of a zone's measurement. The metric families and labels depend on it.
enum class Domain : uint8_t {
  kCpu,       // CPUs and memory: divided among workloads by CPU time
  kGpu,       // one device: divided among workloads by their use of the device
  kPlatform,  // the whole machine: belongs only to the node
  kOther,     // a part of the machine that no workload uses, such as a fan or a battery: belongs only to the node
  kIdleCpu    // not measured: idle energy of a kCpu zone, if workloads share idle energy
};

/// An exported zone of a meter.
struct Zone {
  std::string name;    // "package"
  std::string path;    // label value: path of the only domain, "aggregated-<name>", or "model"
  std::string source;  // "rapl", "hwmon", "fake", "model"
  Domain domain = Domain::kCpu;
  bool operator==(const Zone&) const = default;
};

/// Number of known and read domains of a zone in the last tick.
struct ZoneDomains {
  uint32_t known = 0;  // known domains, present or not; a mirror of another domain does not count
  uint32_t read = 0;   // known domains that gave a reading
};

/// A meter. Filled by energy/.
struct SourceStatus {
  std::string name;
  bool up = false;          // the last sample read at least one domain, and rediscovery works
  WallTime last_success{};  // epoch: never
  uint64_t rejected_readings = 0;
  Energy rejected_energy;  // rejected because it is physically impossible
  uint64_t resets = 0;     // the counter fell without a wrap, or a power sensor was silent for too long (suspend)
  // one per sample and domain without a reading, including missing domains; excludes offline CPUs
  uint64_t failed_reads = 0;
  uint64_t unknown_wraps = 0;   // a further wrap was possible since the previous reading: the energy is a lower bound
  bool restart_needed = false;  // this meter is better than the one in use, but became readable only after startup
};

/// Labels of the model that estimates or shares a zone; "" if the model does not state the value.
struct ZoneModel {
  std::string zone;
  std::string name;
  std::string trainer;
  std::string features;   // name of the feature group, or "custom"
  std::string machine;    // processor of the training machine
  std::string source;     // "built-in", a path or a URL
  std::string mae_watts;  // stated error for a machine like this one
  std::string mape;
  bool only_load = false;  // true: the model gives dynamic power only; false: idle power is included
  bool operator==(const ZoneModel&) const = default;
};

/// Status of estimates by power models. energy/modeled fills it for estimates that replace a meter. pipeline/ fills it
/// for estimates that share energy among workloads.
struct EstimateStatus {
  std::shared_ptr<const std::vector<ZoneModel>> models =
      std::make_shared<const std::vector<ZoneModel>>();  // in use now
  bool of_workloads = false;  // true: the estimates share a zone's energy among workloads; false: they replace a meter
  uint64_t predictions = 0;   // one per model and tick, for all zones of the model
  Nanoseconds prediction_time{0};
  uint64_t extrapolated = 0;  // predictions with a feature outside the model's training domain
  // predictions changed because they exceeded any machine's power, or were below the measured power of a part
  uint64_t clamped = 0;
};

/// Software interrupts for input and output.
struct NodeSoftirqs {
  uint64_t block = 0;
  uint64_t net_rx = 0;
  uint64_t net_tx = 0;
};

/// Load of the machine since the first tick, as input for power models.
struct NodeFeatures {
  Nanoseconds cpu{0};                    // busy time of all processors: user, nice, system, irq, softirq
  std::optional<NodeSoftirqs> softirqs;  // empty if the kernel does not report them
  std::optional<HardwareEvents> events;  // empty if they are not counted
};

/// Counts of one record kind from the kernel side of the activity source.
struct RecordCount {
  // A literal: "task", "exec", "cgroup". Only with `dropped`: "unreported" (tasks that ended without a record),
  // "skipped" (program runs skipped by the kernel), "slice" (slices with unknown hardware events).
  std::string_view kind;
  uint64_t taken = 0;
  uint64_t dropped = 0;
  bool only_dropped = false;  // there are no received records of this kind
};

/// Agreement between the CPU time given out and the kernel's usage of each cgroup.
struct AuditStatus {
  uint64_t comparisons = 0;  // one per compared cgroup
  Nanoseconds charged{0};    // CPU time given out as residuals because no known process used it
  double worst_ratio = 0;    // the largest |difference| ÷ used of the last one to two minutes
  BootTime last{};           // time of the latest usage reading; 0: no comparison yet
};

/// Status of the activity source. Filled by activity/.
struct ActivityStatus {
  std::string_view name;  // a literal: "bpf", "procfs"
  bool up = false;
  WallTime last_success{};    // epoch: never
  uint64_t vanished = 0;      // processes that ended between two reads: a normal event
  uint64_t failed_reads = 0;  // any other failure; each is explained once in the log
  uint64_t failed_cgroup_reads = 0;
  bool counts_events = false;  // samples have hardware events
  TimeAccounting time{};
  AuditStatus audit{};
  // Only for a source with a kernel side. Otherwise `records` is empty, and the other fields have no meaning.
  std::vector<RecordCount> records{};
  Nanoseconds lost{0};           // CPU time with an unknown owner
  Nanoseconds iterator_time{0};  // wall time of the passes over all tasks
  Nanoseconds program_time{0};   // time of the BPF programs, if kernel.bpf_stats_enabled is 1
  uint64_t program_runs = 0;
};

/// Status of the pod informer. Filled by workload/kubernetes.
struct PodInformerStatus {
  // Literals: "auto" (mode only), "kubelet", "apiserver".
  std::string_view mode{};
  std::string_view source{};  // in use
  bool up = true;             // the latest request succeeded, or there was no request yet
  uint64_t requests = 0;
  uint64_t failed_requests = 0;
  uint64_t pods = 0;           // number of pods in the last response
  uint64_t left_out_pods = 0;  // pods in the response that exceeded the limit
  uint64_t left_out_containers = 0;
  WallTime last_success{};  // epoch: never
};

/// Rejected claims of an id that belongs to another workload.
struct RefusedClaims {
  uint64_t containers = 0;  // each is counted as a container with its own id; pods likewise
  uint64_t pods = 0;
  uint64_t vms = 0;  // counted as plain processes
};

/// The agent's own work. Filled by pipeline/.
struct PipelineStatus {
  uint64_t ticks = 0;
  uint64_t missed_ticks = 0;  // ticks missed because a tick was running or the machine was suspended
  uint64_t failed_ticks = 0;  // ticks in which no process could be listed
  uint64_t unpublished = 0;   // ticks without a snapshot because readers held all snapshots
  Nanoseconds tick_time{0};   // wall time spent in ticks
  Nanoseconds tick_cpu{0};    // CPU time of the collection thread spent in ticks
  Nanoseconds skew{0};        // last tick: time between the activity reading and the energy reading
  RefusedClaims refused_claims{};
};

/// Requests that were denied, by reason.
struct DeniedRequests {
  uint64_t backoff = 0;         // 429: the client has failed too often
  uint64_t busy = 0;            // 503: the password cannot be checked now, or not in time
  uint64_t no_credentials = 0;  // 401
  uint64_t password = 0;        // 401: wrong user or password
  uint64_t rate_limit = 0;      // 429: the rate limit of the web configuration file
  [[nodiscard]] uint64_t total() const { return backoff + busy + no_credentials + password + rate_limit; }
};

/// Status of the HTTP server. Filled by http/server.
struct HttpStatus {
  uint64_t connections_open = 0;
  uint64_t connections = 0;
  uint64_t connections_refused = 0;  // over the limit
  uint64_t connections_evicted = 0;  // closed at the limit to accept a new connection
  uint64_t requests = 0;
  DeniedRequests requests_denied{};
  uint64_t timeouts = 0;          // connections closed because the client was too slow
  uint64_t accept_errors = 0;     // no descriptor or memory for a new connection; the connection waits in the kernel
  uint64_t handshake_errors = 0;  // TLS
  bool reload_successful = true;  // the latest reload of the configuration succeeded
  WallTime reload_success{};      // time of the latest successful reload; startup counts
  std::optional<WallTime> certificate_expiry{};
};

/// Resources used by the agent process. Filled by agent/.
struct SelfStatus {
  Nanoseconds cpu{0};  // user + system
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
  uint64_t virtual_memory_bytes = 0;
  uint64_t virtual_memory_max_bytes = 0;  // the largest uint64 if there is no limit
  uint64_t resident_memory_bytes = 0;
  WallTime start_time{};
  // bytes of the network namespace; not exported if unknown
  std::optional<uint64_t> network_receive_bytes = std::nullopt;
  std::optional<uint64_t> network_transmit_bytes = std::nullopt;
};

/// Status of the sources of trained power models. Filled by model_store/.
struct ModelStoreStatus {
  uint64_t refreshes = 0;         // reads of files and requests to servers
  uint64_t failed_refreshes = 0;  // failed refreshes, included in `refreshes`
  uint64_t models = 0;            // number of loaded models
  WallTime last_success{};        // latest refresh without a failure; epoch: never
};

}  // namespace kepler::snapshot
