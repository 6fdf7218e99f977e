#include "attribution/ledger.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace kepler::attribution {
namespace {

using snapshot::Level;

std::string Key(std::string_view kind, std::string_view id) {
  std::string key(kind);
  key.push_back('\0');
  key += id;
  return key;
}
std::string KeyOf(const snapshot::ContainerIdentity& identity) { return Key(identity.runtime, identity.id); }
std::string KeyOf(const snapshot::VmIdentity& identity) { return Key(identity.hypervisor, identity.id); }
std::string KeyOf(const snapshot::PodIdentity& identity) { return identity.id; }

void KeepKnownName(std::string& name, const std::string& known) {
  if (name.empty()) name = known;
}
void KeepKnownNames(snapshot::ContainerIdentity& identity, const snapshot::ContainerIdentity& known) {
  KeepKnownName(identity.name, known.name);
  KeepKnownName(identity.pod_id, known.pod_id);
}
void KeepKnownNames(snapshot::VmIdentity& identity, const snapshot::VmIdentity& known) {
  KeepKnownName(identity.name, known.name);
}
void KeepKnownNames(snapshot::PodIdentity& identity, const snapshot::PodIdentity& known) {
  KeepKnownName(identity.name, known.name);
  KeepKnownName(identity.name_space, known.name_space);
}

/// Finds, revives, relabels or opens the row of a group.
template <class Identity>
Row FindOrOpen(Book<Identity>& book, std::unordered_map<std::string, Row>& rows, Identity identity) {
  const auto [it, fresh] = rows.try_emplace(KeyOf(identity), kNoRow);
  if (fresh) {
    it->second = book.Open(std::make_shared<const Identity>(std::move(identity)));
    return it->second;
  }
  const Row row = it->second;
  if (!book.running(row)) book.Revive(row);
  KeepKnownNames(identity, book.identity(row));
  if (!(book.identity(row) == identity)) book.Relabel(row, std::make_shared<const Identity>(std::move(identity)));
  return row;
}

}  // namespace

Ledger::Ledger(RetentionPolicy policy) : processes_(policy), containers_(policy), vms_(policy), pods_(policy) {}

bool Ledger::empty() const {
  return std::ranges::all_of(node_, [](const snapshot::NodeZone& zone) { return zone.total == Energy{}; });
}

void Ledger::SetZones(std::vector<snapshot::Zone> zones, size_t primary) {
  assert(zones.size() >= zones_.size() || empty());
  zones_ = std::move(zones);
  primary_ = primary;
  const size_t count = zones_.size();
  processes_.SetZones(count);
  containers_.SetZones(count);
  vms_.SetZones(count);
  pods_.SetZones(count);
  node_.resize(count);
  unattributed_.resize(count);
  for (auto& level : unlisted_)
    for (ByZone& reason : level) reason.resize(count);
}

void Ledger::BeginTick(BootTime now) {
  now_ = now;
  ++tick_;
  processes_.BeginTick();
  containers_.BeginTick();
  vms_.BeginTick();
  pods_.BeginTick();
  usage_.clear();
  weights_.clear();
  opened_pids_.clear();
}

Row Ledger::Pod(const snapshot::PodIdentity& identity) {
  const Row row = FindOrOpen(pods_, pod_rows_, identity);
  TouchPod(row);
  return row;
}

Row Ledger::Container(const snapshot::ContainerIdentity& identity, Row pod) {
  const Row row = FindOrOpen(containers_, container_rows_, identity);
  if (row >= container_pod_.size()) container_pod_.resize(row + 1, kNoRow);
  if (pod != kNoRow) container_pod_[row] = pod;  // one of its paths may not show the pod
  TouchContainer(row);
  return row;
}

Row Ledger::Vm(const snapshot::VmIdentity& identity) {
  const Row row = FindOrOpen(vms_, vm_rows_, identity);
  alive_vms_.Touch(row, tick_);
  return row;
}

Row Ledger::FindContainer(const ContainerId& id) const {
  const auto it = container_rows_.find(Key(id.runtime, id.id));
  return it == container_rows_.end() ? kNoRow : it->second;
}

Row Ledger::FindPod(const std::string& uid) const {
  const auto it = pod_rows_.find(uid);
  return it == pod_rows_.end() ? kNoRow : it->second;
}

void Ledger::TouchContainer(Row container) {
  if (!containers_.running(container)) containers_.Revive(container);
  alive_containers_.Touch(container, tick_);
  if (const Row pod = container_pod_[container]; pod != kNoRow) TouchPod(pod);
}

void Ledger::TouchPod(Row pod) {
  if (!pods_.running(pod)) pods_.Revive(pod);
  alive_pods_.Touch(pod, tick_);
}

Row Ledger::OpenProcess(std::shared_ptr<const snapshot::ProcessIdentity> identity, const Membership& groups) {
  DropTerminatedTwin(*identity);
  const Row row = processes_.Open(std::move(identity));
  if (row >= process_groups_.size()) process_groups_.resize(row + 1);
  process_groups_[row] = groups;
  opened_pids_[processes_.identity(row).pid] = row;
  return row;
}

void Ledger::CloseProcess(Row process) {
  const auto it = opened_pids_.find(processes_.identity(process).pid);
  if (it != opened_pids_.end() && it->second == process) opened_pids_.erase(it);
  processes_.Depart(process);
}

void Ledger::DropTerminatedTwin(const snapshot::ProcessIdentity& identity) {
  const auto [begin, end] = terminated_pids_.equal_range(identity.pid);
  for (auto it = begin; it != end; ++it) {
    if (!(processes_.identity(it->second) == identity)) continue;
    processes_.Depart(it->second);
    terminated_pids_.erase(it);
    return;  // there is at most one: the rule holds at every opening
  }
}

void Ledger::UseProcess(Row process, Nanoseconds cpu) {
  const Membership& groups = process_groups_[process];
  if (groups.container != kNoRow) TouchContainer(groups.container);
  if (groups.vm != kNoRow) alive_vms_.Touch(groups.vm, tick_);
  if (groups.pod != kNoRow) TouchPod(groups.pod);
  if (cpu.count() <= 0) return;
  usage_.push_back({Owner::kProcess, process, groups});
  weights_.push_back(static_cast<uint64_t>(cpu.count()));
}

void Ledger::UseResidual(const Membership& groups, Nanoseconds cpu) {
  if (groups.container != kNoRow) TouchContainer(groups.container);
  if (groups.pod != kNoRow) TouchPod(groups.pod);
  if (cpu.count() <= 0) return;
  usage_.push_back({Owner::kResidual, kNoRow, groups});
  weights_.push_back(static_cast<uint64_t>(cpu.count()));
}

void Ledger::UseUnattributed(Nanoseconds cpu) {
  if (cpu.count() <= 0) return;
  usage_.push_back({Owner::kUnattributed, kNoRow, {}});
  weights_.push_back(static_cast<uint64_t>(cpu.count()));
}

void Ledger::Settle(std::span<const ZoneTick> zones, Ratio active, Look look) {
  assert(zones.size() == zones_.size());
  ratio_ = active;
  watts_per_uj_.assign(zones.size(), 0.0);
  for (size_t z = 0; z < zones.size(); ++z) {
    const ZoneTick& in = zones[z];
    const Energy active_energy = Fraction(in.energy, active);
    snapshot::NodeZone& node = node_[z];
    node.total += in.energy;
    node.active += active_energy;
    node.idle += in.energy - active_energy;
    node.fresh = in.fresh;
    node.power = in.power;
    node.active_power = Power::Watts(in.power.watts() * active.value());
    node.idle_power = Power::Watts(in.power.watts() - node.active_power.watts());
    if (active_energy > Energy{})
      watts_per_uj_[z] = node.active_power.watts() / static_cast<double>(active_energy.microjoules());
    ChargeZone(z, active_energy);
  }
  for (size_t i = 0; i < usage_.size(); ++i) ChargeCpu(usage_[i], Nanoseconds(static_cast<int64_t>(weights_[i])));

  if (look == Look::kFailed) return;
  EndProcesses();
  EndUntouched(containers_, alive_containers_, container_rows_, [this](Row row) { container_pod_[row] = kNoRow; });
  EndUntouched(vms_, alive_vms_, vm_rows_, [](Row) {});
  // An ended container may still be listed when its pod no longer is.
  EndUntouched(pods_, alive_pods_, pod_rows_, [this](Row row) { std::ranges::replace(container_pod_, row, kNoRow); });
}

void Ledger::ChargeZone(size_t zone, Energy active) {
  shares_.resize(usage_.size());
  unattributed_[zone] += distributor_.Distribute(active, weights_, shares_);
  for (size_t i = 0; i < usage_.size(); ++i) ChargeShare(usage_[i], zone, shares_[i]);
}

void Ledger::ChargeShare(const Usage& usage, size_t zone, Energy share) {
  using snapshot::Unlisted::kOutside;
  using snapshot::Unlisted::kUnseen;
  if (share == Energy{}) return;
  if (usage.owner == Owner::kUnattributed) {
    unattributed_[zone] += share;
    return;
  }
  const Membership& groups = usage.groups;
  if (usage.owner == Owner::kProcess)
    processes_.Charge(usage.process, zone, share);
  else
    Unlisted(Level::kProcess, kUnseen)[zone] += share;

  // The rest of a pod's own cgroup was some container of it that ended between two looks.
  const bool lost_container = usage.owner == Owner::kResidual && groups.pod != kNoRow;
  if (groups.container != kNoRow)
    containers_.Charge(groups.container, zone, share);
  else
    Unlisted(Level::kContainer, lost_container ? kUnseen : kOutside)[zone] += share;

  if (groups.vm != kNoRow)
    vms_.Charge(groups.vm, zone, share);
  else
    Unlisted(Level::kVm, kOutside)[zone] += share;

  if (groups.pod != kNoRow)
    pods_.Charge(groups.pod, zone, share);
  else
    Unlisted(Level::kPod, kOutside)[zone] += share;
}

void Ledger::ChargeCpu(const Usage& usage, Nanoseconds cpu) {
  if (usage.owner == Owner::kUnattributed) {
    unattributed_cpu_ += cpu;
    return;
  }
  if (usage.owner == Owner::kProcess) processes_.ChargeCpu(usage.process, cpu);
  if (usage.groups.container != kNoRow) containers_.ChargeCpu(usage.groups.container, cpu);
  if (usage.groups.vm != kNoRow) vms_.ChargeCpu(usage.groups.vm, cpu);
  if (usage.groups.pod != kNoRow) pods_.ChargeCpu(usage.groups.pod, cpu);
}

void Ledger::EndProcesses() {
  for (const Row row : ending_) {
    const int32_t pid = processes_.identity(row).pid;
    const auto twin = opened_pids_.find(pid);
    const bool reused = twin != opened_pids_.end() && twin->second != row &&
                        processes_.identity(twin->second) == processes_.identity(row);
    if (reused)
      processes_.Depart(row);  // the pid is in use again under the same labels
    else if (processes_.End(row, now_, primary_))
      terminated_pids_.emplace(pid, row);
  }
  ending_.clear();
  processes_.Expire(now_, primary_, [this](Row row) { ForgetTerminated(row); });
}

void Ledger::ForgetTerminated(Row process) {
  const auto [begin, end] = terminated_pids_.equal_range(processes_.identity(process).pid);
  const auto it = std::find_if(begin, end, [&](const auto& entry) { return entry.second == process; });
  if (it != end) terminated_pids_.erase(it);
}

template <class Identity, class OnGone>
void Ledger::EndUntouched(Book<Identity>& book, const AliveSet& alive, std::unordered_map<std::string, Row>& rows,
                          OnGone&& gone) {
  for (auto it = rows.begin(); it != rows.end();) {
    const Row row = it->second;
    const bool ends = book.running(row) && !alive.IsAlive(row, tick_);
    if (ends && !book.End(row, now_, primary_)) {
      gone(row);
      it = rows.erase(it);
    } else {
      ++it;
    }
  }
  book.Expire(now_, primary_, [&](Row row) {
    gone(row);
    rows.erase(KeyOf(book.identity(row)));
  });
}

Ledger::ByZone& Ledger::Unlisted(Level level, snapshot::Unlisted reason) {
  return unlisted_[std::to_underlying(level)][std::to_underlying(reason)];
}

void Ledger::Publish(snapshot::Snapshot& out) {
  out.zones = zones_;
  out.node = node_;
  out.usage_ratio = ratio_;
  processes_.Publish(watts_per_uj_, out.processes);
  containers_.Publish(watts_per_uj_, out.containers);
  vms_.Publish(watts_per_uj_, out.vms);
  pods_.Publish(watts_per_uj_, out.pods);
  out.unattributed = unattributed_;
  out.unattributed_cpu = unattributed_cpu_;
  PublishUnlisted(out);
  Check(out);
}

void Ledger::PublishUnlisted(snapshot::Snapshot& out) const {
  out.unlisted = unlisted_;
  const auto add = [&](Level level, const auto& book) {
    auto& reasons = out.unlisted[std::to_underlying(level)];
    std::ranges::copy(book.departed(), reasons[std::to_underlying(snapshot::Unlisted::kDeparted)].begin());
    std::ranges::copy(book.capped(), reasons[std::to_underlying(snapshot::Unlisted::kCapped)].begin());
  };
  add(Level::kProcess, processes_);
  add(Level::kContainer, containers_);
  add(Level::kVm, vms_);
  add(Level::kPod, pods_);
}

/// Adds up what a reader of the snapshot would add up; independent of the books.
void Ledger::Check(snapshot::Snapshot& out) {
  const size_t zones = out.zones.size();
  const auto level = [&](Level which, const auto& table) {
    ByZone& error = out.conservation_error[std::to_underlying(which)];
    error.assign(zones, Energy{});
    for (size_t z = 0; z < zones; ++z) {
      error[z] = out.node[z].active - out.unattributed[z];
      for (const ByZone& reason : out.unlisted[std::to_underlying(which)]) error[z] -= reason[z];
    }
    for (size_t row = 0; row < table.rows(); ++row)
      for (size_t z = 0; z < zones; ++z) error[z] -= table.energy_at(row, z);
  };
  level(Level::kProcess, out.processes);
  level(Level::kContainer, out.containers);
  level(Level::kVm, out.vms);
  level(Level::kPod, out.pods);
  ByZone& node = out.conservation_error[snapshot::kLevels];
  node.assign(zones, Energy{});
  for (size_t z = 0; z < zones; ++z) node[z] = out.node[z].total - out.node[z].active - out.node[z].idle;
}

}  // namespace kepler::attribution
