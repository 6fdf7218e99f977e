#include "pipeline/idle_shares.h"

#include <algorithm>

#include "base/small_file.h"
#include "os/procfs.h"

namespace kepler::pipeline {

using attribution::kNoRow;
using attribution::Row;
using attribution::Usage;
using snapshot::IdlePayers;

namespace {

/// A request is at most the capacity, so that no pod's text can overflow the sum.
void AddFree(std::vector<uint64_t>& requests, uint64_t capacity) {
  uint64_t requested = 0;
  for (uint64_t& request : requests) requested += request = std::min(request, capacity);
  requests.push_back(capacity > requested ? capacity - requested : 0);
}

}  // namespace

void RequestWeights::SetZones(std::span<const status::Zone> zones) {
  is_memory_.clear();
  for (const status::Zone& zone : zones) is_memory_.push_back(zone.name == "dram");
}

void RequestWeights::Fill(const attribution::Ledger& ledger, const workload::PodMap& pods, const NodeCapacity& node) {
  usage_.Clear();
  cpu_.clear();
  memory_.clear();
  const auto& containers = ledger.containers();
  for (Row row = 0; row < containers.size(); ++row) {
    if (!containers.touched(row)) continue;  // no container is touched after a failed scan
    const workload::PodMap::Container* const known = pods.FindContainer(containers.identity(row).id);
    if (known == nullptr || !known->requests.any()) continue;
    usage_.Add({Usage::Payer::kResidual, kNoRow, {.container = row, .pod = ledger.PodOf(row)}}, Nanoseconds{1});
    cpu_.push_back(known->requests.cpu_millis);
    memory_.push_back(known->requests.memory_kib);
  }
  usage_.Add({Usage::Payer::kUnattributed, kNoRow, {}}, Nanoseconds{1});
  AddFree(cpu_, node.cpu_millis);
  AddFree(memory_, node.memory_kib);
}

std::span<const uint64_t> RequestWeights::Of(size_t zone, Energy /*active*/, bool /*learn*/) {
  return is_memory_[zone] ? memory_ : cpu_;
}

snapshot::Method RequestWeights::method(size_t zone) const {
  return is_memory_[zone] ? snapshot::Method::kMemoryRequests : snapshot::Method::kCpuRequests;
}

std::vector<status::Zone> IdleShares::WithIdleZones(std::span<const status::Zone> zones) const {
  std::vector<status::Zone> all(zones.begin(), zones.end());
  if (payers_ == IdlePayers::kNode) return all;
  for (const status::Zone& zone : zones) {
    if (!IsShared(zone)) continue;
    all.push_back(zone);
    all.back().domain = status::Domain::kIdleCpu;
  }
  return all;
}

void IdleShares::ReadMemory(BootTime now) {
  const auto read = [&]() -> Result<uint64_t> {
    KEPLER_TRY(const std::string text, ReadSmallFile(procfs_ + "/meminfo"));
    return os::ParseMemTotal(text);
  }();
  if (read) {
    memory_kib_ = *read;
    return;
  }
  limiter_.Say(log::Level::kWarn, "meminfo", now,
               "the memory size of the machine is unknown; idle energy of memory is unattributed",
               {{"err", read.error().message}});
}

void IdleShares::BeginTick(const attribution::Ledger& ledger, const workload::PodMap& pods, size_t cpus, BootTime now) {
  if (payers_ != IdlePayers::kByRequest) return;
  if (!memory_kib_) ReadMemory(now);
  if (cpus == 0)
    limiter_.Say(log::Level::kWarn, "cpuinfo", now,
                 "the number of CPUs is unknown; idle energy of CPUs is unattributed", {});
  by_request_.Fill(ledger, pods, {.cpu_millis = 1000 * uint64_t{cpus}, .memory_kib = memory_kib_.value_or(0)});
}

void IdleShares::AppendCharges(std::span<const status::Zone> zones, std::vector<attribution::ZoneCharge>& charges) {
  if (payers_ == IdlePayers::kNode) return;
  attribution::Weights* const weights =
      payers_ == IdlePayers::kByUse ? static_cast<attribution::Weights*>(&by_use_) : &by_request_;
  for (size_t z = 0; z < zones.size(); ++z) {
    if (!IsShared(zones[z])) continue;
    attribution::ZoneCharge idle = charges[z];
    idle.total = idle.active = charges[z].total - charges[z].active;
    idle.power = idle.active_power = Power::Watts(charges[z].power.watts() - charges[z].active_power.watts());
    idle.weights = weights;
    charges.push_back(idle);
  }
}

}  // namespace kepler::pipeline
