#include "attribution/ledger.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace kepler::attribution {
namespace {

template <class Groups>
bool HoldNew(Groups& groups, Row row) {
  if (groups.listing(row) != Groups::Listing::kNew || groups.shown(row)) return false;
  groups.Hold(row);
  return true;
}

/// Number of zones up to the last one that workloads may have a part of.
size_t CountColumns(std::span<const status::Zone> zones) {
  size_t columns = zones.size();
  while (columns > 0 && zones[columns - 1].domain == status::Domain::kPlatform) --columns;
  return columns;
}

}  // namespace

using snapshot::Level;
using Payer = Usage::Payer;

Ledger::Ledger(RetentionPolicy policy, const ProcessLimits& limits, bool shows_pods)
    : policy_(policy),
      processes_(policy),
      listing_(limits),
      containers_(policy),
      vms_(policy),
      pods_(policy),
      shows_pods_(shows_pods) {}

void Ledger::SetZones(std::vector<status::Zone> zones, size_t primary) {
  std::vector<size_t> from;
  for (const status::Zone& zone : zones) {
    const auto known = std::ranges::find(zones_, zone);
    from.push_back(known == zones_.end() ? kNewZone : static_cast<size_t>(known - zones_.begin()));
  }
  const size_t before = zones_.size();
  for (size_t zone = 0; zone < before; ++zone)
    Check(node_[zone].total == Energy{} || std::ranges::find(from, zone) != from.end(),
          "a charged zone must not be removed");
  const size_t columns = CountColumns(zones);
  std::vector<size_t> columns_from(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(columns));
  for (size_t& column : columns_from)
    if (column != kNewZone && column >= columns_) column = kNewZone;
  processes_.SetZones(columns_from);
  containers_.SetZones(columns_from);
  vms_.SetZones(columns_from);
  pods_.SetZones(columns_from);
  roll_ups_.SetZones(columns_from);
  users_.SetZones(columns_from);
  node_ = WithZones(node_, 1, before, from);
  methods_ = WithZones(methods_, 1, before, from);
  watts_per_uj_ = WithZones(watts_per_uj_, 1, before, from);
  unchanged_ = WithZones(unchanged_, 1, before, from);
  unattributed_ = WithZones(unattributed_, 1, before, from);
  for (auto& level : unlisted_)
    for (ByZone& reason : level) reason = WithZones(reason, 1, before, from);
  zones_ = std::move(zones);
  columns_ = columns;
  primary_ = primary;
}

void Ledger::BeginTick(BootTime now) {
  if (now_ == BootTime{})
    begin_ = now;
  else if (scanned_)
    begin_ = now_;
  tick_time_ = now_ == BootTime{} ? Nanoseconds{0} : now - now_;
  now_ = now;
  processes_.BeginTick(begin_);
  containers_.BeginTick(begin_);
  vms_.BeginTick(begin_);
  pods_.BeginTick(begin_);
  roll_ups_.BeginTick(begin_, now_);
  users_.BeginTick(begin_, now_);
  usage_.Clear();
  short_lived_.clear();
}

Row Ledger::Pod(const snapshot::PodIdentity& identity) { return pods_.FindOrOpen(identity); }

Row Ledger::Container(const snapshot::ContainerIdentity& identity, Row pod) {
  const Row row = containers_.FindOrOpen(identity);
  if (row >= container_pod_.size()) container_pod_.resize(row + 1, kNoRow);
  if (pod != kNoRow) container_pod_[row] = pod;  // some paths of a container do not show the pod
  TouchContainer(row);
  ShowPod(row);
  return row;
}

void Ledger::ShowPod(Row container) {
  const Row pod = container_pod_[container];
  if (!shows_pods_ || pod == kNoRow) return;
  const snapshot::PodIdentity& of = pods_.identity(pod);
  const snapshot::ContainerIdentity& shown = containers_.identity(container);
  if (shown.pod_name == of.name && shown.pod_namespace == of.name_space) return;
  snapshot::ContainerIdentity identity = shown;
  identity.pod_name = of.name;
  identity.pod_namespace = of.name_space;
  containers_.SetLabels(container, std::move(identity));
}

void Ledger::RenameContainer(Row container, std::string_view name, size_t max_bytes) {
  if (containers_.identity(container).name == name) return;
  snapshot::ContainerIdentity identity = containers_.identity(container);
  identity.name = LabelText(name, max_bytes);
  containers_.SetLabels(container, std::move(identity));
}

void Ledger::RenamePod(Row pod, const snapshot::PodIdentity& names) {
  const snapshot::PodIdentity& shown = pods_.identity(pod);
  const bool same_labels =
      names.labels == shown.labels || (names.labels && shown.labels && *names.labels == *shown.labels);
  if (same_labels && names.name == shown.name && names.name_space == shown.name_space) return;
  snapshot::PodIdentity identity = names;
  identity.id = shown.id;  // a static pod's cgroup shows another one than the API server does
  KeepKnownNames(identity, shown);
  pods_.SetLabels(pod, std::move(identity));
  if (!shows_pods_) return;
  for (Row container = 0; container < container_pod_.size(); ++container)
    if (container_pod_[container] == pod && containers_.running(container)) ShowPod(container);
}

bool Ledger::HoldContainer(Row container) { return HoldNew(containers_, container); }
bool Ledger::HoldPod(Row pod) { return HoldNew(pods_, pod); }

void Ledger::TouchContainer(Row container) {
  containers_.Touch(container);
  if (const Row pod = container_pod_[container]; pod != kNoRow) TouchPod(pod);
}

Row Ledger::UpdateProcess(Row process, std::shared_ptr<const snapshot::ProcessIdentity> identity, const Groups& groups,
                          bool kernel_thread, uint32_t uid) {
  if (process != kNoRow) {
    const bool same = processes_.groups(process) == groups && processes_.kernel_thread(process) == kernel_thread &&
                      processes_.identity(process) == *identity;
    if (same) {
      processes_.SetUid(process, uid);
      return process;
    }
    CloseProcess(process);
  }
  return OpenProcess(std::move(identity), groups, kernel_thread, uid);
}

void Ledger::Use(const Usage& usage, Nanoseconds cpu, const HardwareEvents& events, uint32_t uid) {
  Touch(usage.groups);
  if (cpu.count() <= 0) return;
  users_.Use(uid, usage_.users().size());
  usage_.Add(usage, cpu, events);
}

void Ledger::Touch(const Groups& groups) {
  if (groups.container != kNoRow) TouchContainer(groups.container);
  if (groups.vm != kNoRow) vms_.Touch(groups.vm);
  if (groups.pod != kNoRow) TouchPod(groups.pod);
}

void Ledger::UseProcess(Row process, Nanoseconds cpu, const HardwareEvents& events) {
  Use({Payer::kProcess, process, processes_.groups(process)}, cpu, events, processes_.uid(process));
}

void Ledger::UseShortLived(const ShortLivedProcess& process) {
  Use({Payer::kShortLived, static_cast<Row>(short_lived_.size()), process.groups}, process.cpu, process.events,
      process.uid);
  if (process.cpu.count() > 0) short_lived_.push_back(process);
}

void Ledger::UseResidual(const Groups& groups, Nanoseconds cpu) {
  Use({Payer::kResidual, kNoRow, groups}, cpu, {}, kUnknownUid);
}

void Ledger::UseUnattributed(Nanoseconds cpu) {
  if (cpu.count() <= 0) return;
  users_.UseNobody(usage_.users().size());
  usage_.Add({Payer::kUnattributed, kNoRow, {}}, cpu);
}

void Ledger::Settle(std::span<const ZoneCharge> zones, Scan scan, const Identify& identify) {
  Check(zones.size() == zones_.size(), "every zone must be charged");
  ForgetTick(zones);
  learn_.assign(zones.size(), false);
  for (size_t zone = 0; zone < zones.size(); ++zone) ChargeNode(zone, zones[zone]);
  ChargeUsers(zones, identify);
  roll_ups_.Charge(pods_, zones);
  users_.EndTick();
  ChargeTime();
  vms_.DepartReplaced();
  scanned_ = scan == Scan::kDone;
  listing_.HideEnding(processes_);
  if (scanned_) EndAll();
  ListProcesses();
}

void Ledger::ForgetTick(std::span<const ZoneCharge> zones) {
  std::vector<bool> keep;
  for (const ZoneCharge& charge : zones) keep.push_back(charge.unchanged && charge.weights != nullptr);
  processes_.ForgetTick(keep);
  containers_.ForgetTick(keep);
  vms_.ForgetTick(keep);
  pods_.ForgetTick(keep);
}

void Ledger::ChargeNode(size_t zone, const ZoneCharge& charge) {
  Check(charge.weights != nullptr || charge.active == Energy{}, "split energy needs weights");
  Check(charge.weights == nullptr || zone < columns_, "energy of the whole machine must not be split");
  Check(!charge.unchanged || charge.total == Energy{}, "an unchanged zone must have no energy");
  snapshot::NodeZone& node = node_[zone];
  if (node.begin == BootTime{}) node.begin = begin_;
  node.total += charge.total;
  node.active += charge.active;
  node.idle += charge.total - charge.active;
  learn_[zone] = charge.fresh && node.fresh && scanned_ && !charge.unchanged && !unchanged_[zone];
  unchanged_[zone] = charge.unchanged;
  node.fresh = charge.fresh;
  if (charge.unchanged) return;
  node.power = charge.power;
  node.active_power = charge.active_power;
  node.idle_power = Power::Watts(charge.power.watts() - charge.active_power.watts());
  const auto active_uj = static_cast<double>(charge.active.microjoules());
  watts_per_uj_[zone] = active_uj > 0 ? charge.active_power.watts() / active_uj : 0.0;
}

void Ledger::ChargeUsers(std::span<const ZoneCharge> zones, const Identify& identify) {
  users_.EndRuns(usage_.users().size());
  for (auto charge = zones.begin(); charge != zones.end(); ++charge) {
    const bool first = std::ranges::find(zones.begin(), charge, charge->weights, &ZoneCharge::weights) == charge;
    if (charge->weights == nullptr || !first) continue;
    charge->weights->BeginTick();
    if (&charge->weights->usage() != &usage_) CheckUsers(charge->weights->usage());
  }
  // The primary zone first: it decides which short-lived processes are listed.
  if (primary_ < zones.size()) ChargeUsers(primary_, zones[primary_], identify);
  for (size_t zone = 0; zone < zones.size(); ++zone)
    if (zone != primary_) ChargeUsers(zone, zones[zone], identify);
}

void Ledger::ChargeUsers(size_t zone, const ZoneCharge& charge, const Identify& identify) {
  if (charge.weights == nullptr) return;
  const UsageList& usage = charge.weights->usage();
  shares_.resize(usage.users().size());
  unattributed_[zone] +=
      distributor_.Distribute(charge.active, charge.weights->Of(zone, charge.active, learn_[zone]), shares_);
  methods_[zone] = charge.weights->method(zone);
  if (&usage != &usage_) return ChargeOtherUsers(zone, usage);
  if (zone == primary_) ListShortLived(identify);
  ChargeCpuUsers(zone);
}

void Ledger::ChargeCpuUsers(size_t zone) {
  const std::span<const Usage> users = std::as_const(usage_).users();
  size_t i = 0;
  for (const UserAccounts::Run& run : users_.runs()) {
    Energy sum;
    for (; i < run.end; ++i) {
      ChargeShare(users[i], zone, shares_[i]);
      sum += shares_[i];
    }
    users_.Charge(run, zone, sum);
  }
}

void Ledger::ChargeOtherUsers(size_t zone, const UsageList& usage) {
  for (size_t i = 0; i < usage.users().size(); ++i) {
    const Usage& user = usage.users()[i];
    ChargeShare(user, zone, shares_[i]);
    if (user.payer != Payer::kUnattributed)
      users_.Charge(user.payer == Payer::kProcess ? processes_.uid(user.row) : kUnknownUid, zone, shares_[i]);
  }
}

/// Users in usage_ are checked when their time is charged.
void Ledger::CheckUsers(const UsageList& usage) const {
  const auto lives = [](const auto& accounts, Row row) { return row == kNoRow || accounts.running(row); };
  for (const auto& [payer, row, groups] : usage.users())
    Check(payer != Payer::kShortLived && (payer != Payer::kProcess || processes_.running(row)) &&
              lives(containers_, groups.container) && lives(vms_, groups.vm) && lives(pods_, groups.pod),
          "a user of a device must be running");
}

/// Opens and ends an account for each short-lived process whose share of the primary zone is worth a series.
void Ledger::ListShortLived(const Identify& identify) {
  if (policy_.cap() == 0 || short_lived_.empty()) return;
  const std::span<Usage> users = usage_.users();
  candidates_.clear();
  for (uint32_t i = 0; i < users.size(); ++i)
    if (users[i].payer == Payer::kShortLived && !short_lived_[users[i].row].late_remainder &&
        shares_[i] >= policy_.threshold)
      candidates_.push_back(i);
  if (candidates_.size() > policy_.cap()) {
    // The retention limit would drop the others anyway.
    const auto keep = candidates_.begin() + static_cast<std::ptrdiff_t>(policy_.cap());
    std::ranges::nth_element(candidates_, keep, [&](uint32_t a, uint32_t b) {
      return shares_[a] != shares_[b] ? shares_[a] > shares_[b] : a < b;
    });
    candidates_.erase(keep, candidates_.end());
    std::ranges::sort(candidates_);  // in order of age: the younger of two equal processes is later
  }
  for (const uint32_t i : candidates_) {
    const ShortLivedProcess& process = short_lived_[users[i].row];
    users[i].row = processes_.OpenEnded(identify(process.number), process.groups);
    users[i].payer = Payer::kProcess;
  }
}

void Ledger::ChargeShare(const Usage& usage, size_t zone, Energy share) {
  using snapshot::Unlisted::kOutside;
  using snapshot::Unlisted::kUnseen;
  if (share == Energy{}) return;
  if (usage.payer == Payer::kUnattributed) {
    unattributed_[zone] += share;
    return;
  }
  if (usage.payer == Payer::kProcess)
    processes_.Charge(usage.row, zone, share);
  else if (usage.payer == Payer::kShortLived)
    processes_.ChargeCapped(zone, share);
  else
    Unlisted(Level::kProcess, kUnseen)[zone] += share;

  const auto charge = [&](auto& accounts, Row row, Level level, snapshot::Unlisted without) {
    if (row != kNoRow)
      accounts.Charge(row, zone, share);
    else
      Unlisted(level, without)[zone] += share;
  };
  const Groups& groups = usage.groups;
  // A residual of a pod's own cgroup is time of a container that ended between two scans.
  const bool lost_container = usage.payer == Payer::kResidual && groups.pod != kNoRow;
  charge(containers_, groups.container, Level::kContainer, lost_container ? kUnseen : kOutside);
  charge(vms_, groups.vm, Level::kVm, kOutside);
  charge(pods_, groups.pod, Level::kPod, kOutside);
}

void Ledger::ChargeTime() {
  const std::span<const Usage> users = std::as_const(usage_).users();
  for (size_t i = 0; i < users.size(); ++i) {
    const Nanoseconds cpu(static_cast<int64_t>(usage_.time()[i]));
    const auto& [payer, row, groups] = users[i];
    if (payer == Payer::kUnattributed) unattributed_cpu_ += cpu;
    if (payer == Payer::kProcess) processes_.ChargeCpu(row, cpu);
    if (groups.container != kNoRow) containers_.ChargeCpu(groups.container, cpu);
    if (groups.vm != kNoRow) vms_.ChargeCpu(groups.vm, cpu);
    if (groups.pod != kNoRow) pods_.ChargeCpu(groups.pod, cpu);
    const HardwareEvents& events = usage_.events()[i];
    if (events == HardwareEvents{}) continue;
    if (payer == Payer::kProcess) processes_.ChargeEvents(row, events);
    if (groups.container != kNoRow) containers_.ChargeEvents(groups.container, events);
  }
}

void Ledger::EndAll() {
  processes_.EndAll(now_, primary_);
  containers_.EndUntouched(now_, primary_);
  for (const Row row : containers_.closed().freed) container_pod_[row] = kNoRow;
  vms_.EndUntouched(now_, primary_);
  pods_.EndUntouched(now_, primary_);
  roll_ups_.Close(pods_.closed().freed);
  // An ended container may still be listed when its pod no longer is.
  for (const Row row : pods_.closed().freed) std::ranges::replace(container_pod_, row, kNoRow);
}

void Ledger::ListProcesses() {
  if (primary_ >= columns_)
    return listing_.Update(processes_, {.zone = 0, .watts_per_uj = 0, .known = false}, tick_time_);
  listing_.Update(processes_, {primary_, watts_per_uj_[primary_], node_[primary_].fresh && scanned_}, tick_time_);
}

Ledger::ByZone& Ledger::Unlisted(Level level, snapshot::Unlisted reason) {
  return unlisted_[std::to_underlying(level)][std::to_underlying(reason)];
}

}  // namespace kepler::attribution
