#include "attribution/ledger.h"

#include <algorithm>
#include <cassert>
#include <ranges>
#include <utility>

#include "attribution/group_rows.h"
#include "base/text.h"

namespace kepler::attribution {

using snapshot::Level;

Ledger::Ledger(RetentionPolicy policy, Weights weights)
    : policy_(policy), weights_(weights), processes_(policy), containers_(policy), vms_(policy), pods_(policy) {}

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
  counter_weights_.SetZones(zones_);
  node_.resize(count);
  active_.resize(count);
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
  cpu_.clear();
  events_.clear();
  briefs_.clear();
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
  const int32_t pid = identity->pid;
  const Row row = OpenAccount(std::move(identity), groups);
  living_pids_[pid] = row;
  return row;
}

Row Ledger::OpenAccount(std::shared_ptr<const snapshot::ProcessIdentity> identity, const Membership& groups) {
  DropTerminatedTwin(*identity);
  const Row row = processes_.Open(std::move(identity));
  if (row >= process_groups_.size()) process_groups_.resize(row + 1);
  process_groups_[row] = groups;
  if (groups.vm != kNoRow) ++vm_owners_[groups.vm].processes;
  return row;
}

void Ledger::ForgetLiving(Row process) {
  const auto it = living_pids_.find(processes_.identity(process).pid);
  if (it != living_pids_.end() && it->second == process) living_pids_.erase(it);
}

void Ledger::CloseProcess(Row process) {
  ForgetLiving(process);
  LeaveVm(process);
  processes_.Depart(process);
}

void Ledger::EndProcess(Row process) {
  ForgetLiving(process);
  LeaveVm(process);
  ending_.push_back(process);
}

/// There is at most one: the rule holds at every opening.
auto Ledger::FindTerminatedTwin(const snapshot::ProcessIdentity& identity) -> TerminatedPids::iterator {
  const auto [begin, end] = terminated_pids_.equal_range(identity.pid);
  const auto it =
      std::find_if(begin, end, [&](const auto& entry) { return processes_.identity(entry.second) == identity; });
  return it == end ? terminated_pids_.end() : it;
}

void Ledger::DropTerminatedTwin(const snapshot::ProcessIdentity& identity) {
  const auto twin = FindTerminatedTwin(identity);
  if (twin == terminated_pids_.end()) return;
  processes_.Depart(twin->second);
  terminated_pids_.erase(twin);
}

void Ledger::Use(const Usage& usage, Nanoseconds cpu, const HardwareEvents& events) {
  const Membership& groups = usage.groups;
  if (groups.container != kNoRow) TouchContainer(groups.container);
  if (groups.vm != kNoRow) alive_vms_.Touch(groups.vm, tick_);
  if (groups.pod != kNoRow) TouchPod(groups.pod);
  if (cpu.count() <= 0) return;
  usage_.push_back(usage);
  cpu_.push_back(static_cast<uint64_t>(cpu.count()));
  events_.push_back(events);
}

void Ledger::UseProcess(Row process, Nanoseconds cpu, const HardwareEvents& events) {
  Use({Owner::kProcess, process, process_groups_[process]}, cpu, events);
}

void Ledger::UseBrief(const BriefProcess& brief) {
  Use({Owner::kBrief, static_cast<Row>(briefs_.size()), brief.groups}, brief.cpu, brief.events);
  if (brief.cpu.count() > 0) briefs_.push_back(brief);
}

void Ledger::UseResidual(const Membership& groups, Nanoseconds cpu) {
  Use({Owner::kResidual, kNoRow, groups}, cpu, {});
}

void Ledger::UseUnattributed(Nanoseconds cpu) { Use({Owner::kUnattributed, kNoRow, {}}, cpu, {}); }

void Ledger::Settle(std::span<const ZoneTick> zones, Ratio active, Look look) {
  assert(zones.size() == zones_.size());
  ratio_ = active;
  watts_per_uj_.assign(zones.size(), 0.0);
  learn_.assign(zones.size(), false);
  for (size_t z = 0; z < zones.size(); ++z) {
    const ZoneTick& in = zones[z];
    const Energy active_energy = Fraction(in.energy, active);
    active_[z] = active_energy;
    snapshot::NodeZone& node = node_[z];
    node.total += in.energy;
    node.active += active_energy;
    node.idle += in.energy - active_energy;
    learn_[z] = in.fresh && node.fresh && looked_;
    node.fresh = in.fresh;
    node.power = in.power;
    node.active_power = Power::Watts(in.power.watts() * active.value());
    node.idle_power = Power::Watts(in.power.watts() - node.active_power.watts());
    if (active_energy > Energy{})
      watts_per_uj_[z] = node.active_power.watts() / static_cast<double>(active_energy.microjoules());
  }
  ChargeZones();
  DepartReplacedVms();
  looked_ = look == Look::kDone;
  if (!looked_) return;
  EndProcesses();
  EndUntouched(containers_, alive_containers_, container_rows_, [this](Row row) { container_pod_[row] = kNoRow; });
  EndUntouched(vms_, alive_vms_, vm_rows_, [](Row) {});
  // An ended container may still be listed when its pod no longer is.
  EndUntouched(pods_, alive_pods_, pod_rows_, [this](Row row) { std::ranges::replace(container_pod_, row, kNoRow); });
}

void Ledger::ChargeZones() {
  if (weights_ == Weights::kCounters) counter_weights_.BeginTick(cpu_, events_);
  // The primary zone first: it decides which briefs are listed.
  if (primary_ < zones_.size()) ChargeZone(primary_);
  for (size_t zone = 0; zone < zones_.size(); ++zone)
    if (zone != primary_) ChargeZone(zone);
  for (size_t i = 0; i < usage_.size(); ++i) {
    ChargeCpu(usage_[i], Nanoseconds(static_cast<int64_t>(cpu_[i])));
    if (events_[i] != HardwareEvents{}) ChargeEvents(usage_[i], events_[i]);
  }
}

void Ledger::ChargeZone(size_t zone) {
  const std::span<const uint64_t> weights = weights_ == Weights::kCounters
                                                ? counter_weights_.Of(zone, active_[zone], learn_[zone])
                                                : std::span<const uint64_t>(cpu_);
  shares_.resize(usage_.size());
  unattributed_[zone] += distributor_.Distribute(active_[zone], weights, shares_);
  if (zone == primary_) ListBriefs();
  for (size_t i = 0; i < usage_.size(); ++i) ChargeShare(usage_[i], zone, shares_[i]);
}

/// Opens and ends an account for each brief whose share of the primary zone is worth a series.
void Ledger::ListBriefs() {
  if (policy_.cap() == 0 || briefs_.empty()) return;
  candidates_.clear();
  for (uint32_t i = 0; i < usage_.size(); ++i)
    if (usage_[i].owner == Owner::kBrief && !briefs_[usage_[i].row].rest && shares_[i] >= policy_.threshold)
      candidates_.push_back(i);
  if (candidates_.size() > policy_.cap()) {
    // The others would be the first to go anyway.
    const auto keep = candidates_.begin() + static_cast<std::ptrdiff_t>(policy_.cap());
    std::ranges::nth_element(candidates_, keep, [&](uint32_t a, uint32_t b) {
      return shares_[a] != shares_[b] ? shares_[a] > shares_[b] : a < b;
    });
    candidates_.erase(keep, candidates_.end());
    std::ranges::sort(candidates_);  // a later one of two that look the same is the younger
  }
  for (const uint32_t i : candidates_) ListBrief(usage_[i]);
}

void Ledger::ListBrief(Usage& usage) {
  const BriefProcess& brief = briefs_[usage.row];
  auto identity = std::make_shared<snapshot::ProcessIdentity>();
  identity->pid = brief.pid;
  identity->comm = LabelText(brief.comm);
  identity->exe = LabelText(brief.exe);
  identity->type = brief.type;
  if (brief.groups.container != kNoRow) identity->container_id = containers_.identity(brief.groups.container).id;
  if (brief.groups.vm != kNoRow) identity->vm_id = vms_.identity(brief.groups.vm).id;
  usage.owner = Owner::kProcess;
  usage.row = OpenAccount(std::move(identity), brief.groups);
  EndProcess(usage.row);
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
    processes_.Charge(usage.row, zone, share);
  else if (usage.owner == Owner::kBrief)
    processes_.ChargeCapped(zone, share);
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
  if (usage.owner == Owner::kProcess) processes_.ChargeCpu(usage.row, cpu);
  if (usage.groups.container != kNoRow) containers_.ChargeCpu(usage.groups.container, cpu);
  if (usage.groups.vm != kNoRow) vms_.ChargeCpu(usage.groups.vm, cpu);
  if (usage.groups.pod != kNoRow) pods_.ChargeCpu(usage.groups.pod, cpu);
}

void Ledger::ChargeEvents(const Usage& usage, const HardwareEvents& events) {
  if (usage.owner == Owner::kProcess) processes_.ChargeEvents(usage.row, events);
  if (usage.groups.container != kNoRow) containers_.ChargeEvents(usage.groups.container, events);
}

/// The younger first: who would share its labels with one that lives or has ended after it departs.
void Ledger::EndProcesses() {
  for (const Row row : std::views::reverse(ending_)) {
    const snapshot::ProcessIdentity& identity = processes_.identity(row);
    const auto living = living_pids_.find(identity.pid);
    const bool reused = (living != living_pids_.end() && processes_.identity(living->second) == identity) ||
                        FindTerminatedTwin(identity) != terminated_pids_.end();
    if (reused)
      processes_.Depart(row);
    else if (const int32_t pid = identity.pid; processes_.End(row, now_, primary_))
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

}  // namespace kepler::attribution
