#pragma once
// IdleShares: idle energy shared among workloads, if configured, in addition to the sums of the node. Each zone of
// the processors gets a second one with its idle energy only, which the ledger splits like any other: all of its
// invariants hold. Collection thread only.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attribution/ledger.h"
#include "attribution/weights.h"
#include "base/log.h"
#include "snapshot/snapshot.h"
#include "workload/pod_directory.h"

namespace kepler::pipeline {

/// Capacity of the node. A workload that requests half of it pays for half of the idle energy. 0: unknown.
struct NodeCapacity {
  uint64_t cpu_millis = 0;  // 1000 per CPU
  uint64_t memory_kib = 0;
};

/// Weights by what containers requested, of memory for zones named dram, of processors for the others. The
/// unrequested part is unattributed, as is everything if the capacity is unknown. Requests beyond the capacity share
/// everything.
class RequestWeights final : public attribution::Weights {
 public:
  RequestWeights() : Weights(usage_) {}

  void SetZones(std::span<const status::Zone> zones) override;
  /// Who runs in this tick, and what they requested. The ledger's rows must stay valid until its Settle().
  void Fill(const attribution::Ledger& ledger, const workload::PodMap& pods, const NodeCapacity& node);
  [[nodiscard]] std::span<const uint64_t> Of(size_t zone, Energy active, bool learn) override;
  [[nodiscard]] snapshot::Method method(size_t zone) const override;

 private:
  attribution::UsageList usage_;
  std::vector<uint64_t> cpu_;     // thousandths of a CPU, in the order of the list
  std::vector<uint64_t> memory_;  // KiB
  std::vector<bool> is_memory_;   // by zone
};

class IdleShares {
 public:
  /// `usage`: users of the CPUs. It must outlive the object.
  IdleShares(snapshot::IdlePayers payers, const attribution::UsageList& usage, std::string procfs)
      : payers_(payers), procfs_(std::move(procfs)), by_use_(usage) {}

  [[nodiscard]] snapshot::IdlePayers payers() const { return payers_; }
  /// `zones` of the meters, and behind them those of their idle energy.
  [[nodiscard]] std::vector<status::Zone> WithIdleZones(std::span<const status::Zone> zones) const;
  /// As Ledger::SetZones().
  void SetZones(std::span<const status::Zone> zones) { by_request_.SetZones(zones); }
  /// Once per tick, when all that runs is known. `cpus`: that are online.
  void BeginTick(const attribution::Ledger& ledger, const workload::PodMap& pods, size_t cpus, BootTime now);
  /// Appends the charges of the idle zones to those of the meters' `zones`.
  void AppendCharges(std::span<const status::Zone> zones, std::vector<attribution::ZoneCharge>& charges);

 private:
  void ReadMemory(BootTime now);
  [[nodiscard]] static bool IsShared(const status::Zone& zone) { return zone.domain == status::Domain::kCpu; }

  const snapshot::IdlePayers payers_;
  const std::string procfs_;
  std::optional<uint64_t> memory_kib_;  // memory of the machine; empty until it is read
  log::LogLimiter limiter_;
  attribution::CpuTimeWeights by_use_;
  RequestWeights by_request_;
};

}  // namespace kepler::pipeline
