// The end of a tick of the ledger: charges the energy of each zone to the users of the CPUs and of devices, and ends
// the workloads that are gone.
#include <algorithm>
#include <utility>

#include "attribution/ledger.h"
#include "base/check.h"

namespace kepler::attribution {

using snapshot::Level;
using Payer = Usage::Payer;

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

}  // namespace kepler::attribution
