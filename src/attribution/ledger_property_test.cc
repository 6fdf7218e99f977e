// Random histories: whatever starts, runs, moves, is relabelled, ends and comes back, the sums hold, nothing falls.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "attribution/counter_weights.h"
#include "attribution/ledger.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;

struct Living {
  Row row;
  int container;  // -1: none
  std::string comm;
};

/// Drives a ledger from random choices and remembers what every running total was.
class History {
 public:
  History(RetentionPolicy policy, const ProcessLimits& limits, bool counters)
      : limits_(limits), ledger_(policy, limits) {
    ledger_.SetZones({{"package", "p", "x"}, {"dram", "d", "x"}, {"platform", "s", "x"}}, 0);
    if (counters) weights_ = std::make_unique<CounterWeights>(ledger_.cpu_usage());
    weights_->SetZones(ledger_.zones());
  }

  void Tick() {
    now_ += std::chrono::milliseconds(*rc::gen::inRange(1, 60'000));
    ledger_.BeginTick(now_);
    const Scan scan = *rc::gen::inRange(0, 8) == 0 ? Scan::kFailed : Scan::kDone;
    if (scan == Scan::kDone) See();
    std::vector<ZoneCharge> zones;
    zones.reserve(3);
    for (int zone = 0; zone < 2; ++zone)
      zones.push_back(SplitByRatio(Energy::Microjoules(*rc::gen::inRange<int64_t>(0, 200'000'000)), Power::Watts(5),
                                   true, Ratio::Clamped(*rc::gen::inRange(0, 11) / 10.0), *weights_));
    zones.push_back({.total = Energy::Microjoules(*rc::gen::inRange<int64_t>(0, 200'000'000)), .fresh = true});
    for (ZoneCharge& zone : zones) {
      zone.unchanged = *rc::gen::inRange(0, 4) == 0;
      if (zone.unchanged) zone.total = zone.active = Energy{};
    }
    ledger_.Settle(zones, scan, Identify);
    if (*rc::gen::inRange(0, 5) == 0) return;  // readers hold all snapshots
    ledger_.Publish(snapshot_);
    Verify();
  }

 private:
  void See() {
    opened_.clear();
    ReleaseSome();
    const int events = *rc::gen::inRange(0, 6);
    for (int i = 0; i < events; ++i) Event();
    for (int short_lived = *rc::gen::inRange(-4, 6); short_lived > 0; --short_lived) ShortLived();
    for (auto& [pid, process] : living_) ledger_.UseProcess(process.row, Cpu(), Events());
    if (*rc::gen::inRange(0, 3) == 0) ledger_.UseResidual(GroupsOf(*rc::gen::inRange(-1, 3)), Cpu());
    if (*rc::gen::inRange(0, 4) == 0) ledger_.UseUnattributed(Cpu());
  }

  static Nanoseconds Cpu() {
    return Nanoseconds(*rc::gen::inRange<int64_t>(0, 3) * *rc::gen::inRange<int64_t>(0, 1'000'000'000));
  }

  static uint32_t Uid() { return *rc::gen::element<uint32_t>(0, 1000, 1001, kUnknownUid); }

  static HardwareEvents Events() {
    if (*rc::gen::inRange(0, 3) == 0) return {};
    const auto number = [] { return *rc::gen::inRange<uint64_t>(0, 1000) << *rc::gen::inRange(0, 40); };
    return {number(), number(), number()};
  }

  /// Comes after an exit and before a start, whichever of them has its pid in this tick.
  void ShortLived() {
    const int32_t pid = *rc::gen::inRange(1, 12);
    const auto living = living_.find(pid);
    if (living != living_.end() && !opened_.contains(pid)) return;  // it had the pid all the time
    const int name = *rc::gen::inRange(0, 2);
    ledger_.UseShortLived(
        {static_cast<size_t>(2 * pid + name), GroupsOf(*rc::gen::inRange(-1, 3)), Cpu(), Events(), false, Uid()});
  }
  static std::shared_ptr<const snapshot::ProcessIdentity> Identify(size_t short_lived) {
    return std::make_shared<const snapshot::ProcessIdentity>(snapshot::ProcessIdentity{
        static_cast<int32_t>(short_lived / 2), short_lived % 2 == 0 ? "a" : "b", "", "regular", "", ""});
  }

  Groups GroupsOf(int container) {
    if (container < 0) return {};
    const Row pod = container == 0 ? kNoRow : ledger_.Pod({container == 1 ? "pod-a" : "pod-b", "", ""});
    const std::string name = *rc::gen::inRange(0, 10) == 0 ? "named" : "";
    const Row row = ledger_.Container({"c" + std::to_string(container), name, "docker", ""}, pod);
    if (*rc::gen::inRange(0, 3) == 0) ledger_.HoldContainer(row);
    if (pod != kNoRow && *rc::gen::inRange(0, 3) == 0) ledger_.HoldPod(pod);
    if (pod != kNoRow && *rc::gen::inRange(0, 6) == 0)
      ledger_.SetOwner(pod, {*rc::gen::element("shop", "bank"), "Job", *rc::gen::element("a", "b")});
    return {row, kNoRow, pod};
  }
  void ReleaseSome() {
    for (Row row = 0; row < ledger_.containers().size(); ++row)
      if (ledger_.containers().running(row) && *rc::gen::inRange(0, 3) == 0) ledger_.ReleaseContainer(row);
    for (Row row = 0; row < ledger_.pods().size(); ++row)
      if (ledger_.pods().running(row) && *rc::gen::inRange(0, 3) == 0) ledger_.ReleasePod(row);
  }

  /// One of two machines, of one of two owners under one of two names; none while a process of another owner is in it.
  Row Vm() {
    const int which = *rc::gen::inRange(-2, 4);
    if (which < 0) return kNoRow;
    const std::string owner = *rc::gen::element("a", "b");
    const snapshot::VmIdentity vm{"v" + std::to_string(which % 2), *rc::gen::inRange(0, 4) == 0 ? "named" : "", "kvm"};
    const VmOwner vm_owner{which < 2 ? 0U : 1000U, owner};
    const Row known = ledger_.vms().Find(vm);
    const auto is_in = [&](const auto& process) {
      return known != kNoRow && ledger_.processes().groups(process.second.row).vm == known;
    };
    if (std::ranges::any_of(living_, is_in) && vm_owners_[known] != vm_owner) return kNoRow;
    const Row row = ledger_.Vm(vm, vm_owner);
    vm_owners_[row] = vm_owner;
    return row;
  }

  void Event() {
    const int32_t pid = *rc::gen::inRange(1, 8);
    const auto it = living_.find(pid);
    const int what = *rc::gen::inRange(0, 3);
    if (it == living_.end()) {
      Open(pid, "a");
    } else if (what == 0) {
      ledger_.EndProcess(it->second.row);
      living_.erase(it);
      if (*rc::gen::inRange(0, 2) == 0) Open(pid, "a");  // reused at once
    } else if (what == 1) {
      ledger_.CloseProcess(it->second.row);
      Open(pid, it->second.comm == "a" ? "b" : "a");
    }
  }

  void Open(int32_t pid, const std::string& comm) {
    const int container = *rc::gen::inRange(-1, 3);
    snapshot::ProcessIdentity identity;
    identity.pid = pid;
    identity.comm = comm;
    identity.type = "regular";
    opened_.insert(pid);
    Groups groups = GroupsOf(container);
    groups.vm = Vm();
    if (container >= 0) identity.container_id = "c" + std::to_string(container);
    if (groups.vm != kNoRow) identity.vm_id = ledger_.vms().identity(groups.vm).id;
    living_[pid] = {ledger_.OpenProcess(std::make_shared<const snapshot::ProcessIdentity>(identity), groups,
                                        /*kernel_thread=*/pid % 2 == 0, Uid()),
                    container, comm};
  }

  /// Checks the limits. Ended processes and the row of kernel threads do not count.
  void VerifyLimits() {
    const auto running = static_cast<size_t>(std::ranges::count(snapshot_.processes.state, snapshot::State::kRunning));
    const bool one = limits_.kernel_threads == KernelThreads::kOne;
    RC_ASSERT(limits_.max == 0 || running <= limits_.max + (one ? 1 : 0));
    RC_ASSERT(snapshot_.cut.has_value() == limits_.any());
    if (!snapshot_.cut) return;
    const auto& [kernel_threads, min_power, max] = *snapshot_.cut;
    const bool shown = one && std::ranges::any_of(snapshot_.processes.identity, IsKthreadd);
    const auto hidden = std::ranges::count_if(living_, [&](const auto& process) {
      const Row row = process.second.row;
      return ledger_.processes().kernel_thread(row) && ledger_.processes().groups(row) == Groups{};
    });
    RC_ASSERT(running + kernel_threads + min_power + max == living_.size() + (shown && hidden == 0 ? 1 : 0));
    RC_ASSERT(limits_.max > 0 || max == 0);
    RC_ASSERT(limits_.min_power.watts() > 0 || min_power == 0);
  }
  static bool IsKthreadd(const std::shared_ptr<const snapshot::ProcessIdentity>& process) {
    return process->comm == "kthreadd";
  }

  void Verify() {
    for (const auto& errors : snapshot_.conservation_error)
      for (const Energy error : errors) RC_ASSERT(error == Energy{});
    for (size_t z = 0; z < snapshot_.zones.size(); ++z) {
      Grows("total" + std::to_string(z), snapshot_.node[z].total);
      Grows("active" + std::to_string(z), snapshot_.node[z].active);
      Grows("idle" + std::to_string(z), snapshot_.node[z].idle);
      Grows("unattributed" + std::to_string(z), snapshot_.unattributed[z]);
      for (const Level level : snapshot::kAllLevels)
        for (const auto reason : snapshot::kAllUnlisted)
          Grows(std::string(ToString(level)) + std::string(ToString(reason)) + std::to_string(z),
                snapshot_.unlisted[std::to_underlying(level)][std::to_underlying(reason)][z]);
    }
    VerifyRows();
    VerifyLimits();
  }

  void VerifyRows() {
    listed_before_ = std::exchange(listed_, {});
    std::set<std::string> labels;
    for (size_t row = 0; row < snapshot_.processes.rows(); ++row) {
      const auto& identity = snapshot_.processes.identity[row];
      const auto text = std::to_string(identity->pid) + identity->comm + identity->container_id + identity->vm_id;
      RC_ASSERT(labels.insert(text).second);
    }
    VerifyTable(snapshot_.processes);
    VerifyTable(snapshot_.containers);
    VerifyTable(snapshot_.vms);
    VerifyTable(snapshot_.pods);
    VerifyRollUp(snapshot_.namespaces);
    VerifyRollUp(snapshot_.owners);
    for (size_t row = 0; row < snapshot_.users.rows(); ++row)
      for (size_t z = 0; z < snapshot_.users.zones; ++z)
        Grows("user" + std::to_string(snapshot_.users.identity[row]->uid) + "/" + std::to_string(z),
              snapshot_.users.energy_at(row, z));
    RC_ASSERT(snapshot_.processes.events.empty() || snapshot_.processes.events.size() == snapshot_.processes.rows());
  }

  /// Each series begins at no less than 0 and rises; no two have the same id.
  template <class Identity>
  void VerifyTable(const snapshot::Table<Identity>& table) {
    std::set<std::string> ids;
    for (size_t row = 0; row < table.rows(); ++row) {
      const auto series = "row" + std::to_string(reinterpret_cast<uintptr_t>(table.identity[row].get())) + "/";
      listed_.insert(series);
      if (!listed_before_.contains(series)) ForgetSeries(series);
      for (size_t z = 0; z < table.zones; ++z) Grows(series + std::to_string(z), table.energy_at(row, z));
      RC_ASSERT(table.cpu[row] >= last_cpu_[series]);
      last_cpu_[series] = table.cpu[row];
      if constexpr (requires { table.identity[row]->id; }) RC_ASSERT(ids.insert(table.identity[row]->id).second);
      held_.push_back(table.identity[row]);  // keeps addresses unique for the length of the history
    }
  }

  /// The histories are too short for a row to depart.
  void VerifyRollUp(const snapshot::RollUp& of) {
    for (size_t row = 0; row < of.rows(); ++row) {
      const snapshot::OwnerIdentity& owner = *of.identity[row];
      for (size_t z = 0; z < of.zones; ++z)
        Grows("/" + owner.name_space + "/" + owner.kind + "/" + owner.name + std::to_string(z), of.energy_at(row, z));
    }
  }

  /// One that a limit took away and gave back begins again.
  void ForgetSeries(const std::string& series) {
    std::erase_if(last_, [&](const auto& known) { return known.first.starts_with(series); });
    last_cpu_.erase(series);
  }

  void Grows(const std::string& name, Energy value) {
    Energy& last = last_[name];
    if (value < last) RC_LOG() << name;
    RC_ASSERT(value >= last);
    last = value;
  }

  ProcessLimits limits_;
  Ledger ledger_;
  std::unique_ptr<Weights> weights_ = std::make_unique<CpuTimeWeights>(ledger_.cpu_usage());
  snapshot::Snapshot snapshot_;
  BootTime now_{};
  std::map<int32_t, Living> living_;
  std::map<Row, VmOwner> vm_owners_;
  std::set<int32_t> opened_;  // in this tick
  std::map<std::string, Energy> last_;
  std::map<std::string, Nanoseconds> last_cpu_;
  std::set<std::string> listed_;  // series in the latest snapshot
  std::set<std::string> listed_before_;
  std::vector<std::shared_ptr<const void>> held_;
};

RC_GTEST_PROP(Ledger, AnyHistory_SumsHoldAndNothingFalls, ()) {
  const RetentionPolicy policy{std::chrono::seconds(*rc::gen::inRange(0, 120)),
                               Energy::Joules(*rc::gen::inRange(0, 30)), *rc::gen::inRange(-1, 4)};
  const ProcessLimits limits{static_cast<size_t>(*rc::gen::inRange(0, 4)), Power::Watts(*rc::gen::inRange(0, 3)),
                             *rc::gen::element(KernelThreads::kEach, KernelThreads::kOne, KernelThreads::kNone)};
  History history(policy, limits, *rc::gen::arbitrary<bool>());
  const int ticks = *rc::gen::inRange(1, 40);
  for (int i = 0; i < ticks; ++i) history.Tick();
}

}  // namespace
}  // namespace kepler::attribution
