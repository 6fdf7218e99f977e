// Random histories against a model of the truth: what the source gives out is what was used, whoever came and went.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "activity/procfs/fake_machine.h"

namespace kepler::activity::procfs {
namespace {

/// The truth: cgroups /c, /c/0 … with processes in them, times in ticks.
class History {
 public:
  explicit History(bool v1) : v1_(v1) {
    Set("");
    AddGroup("/c");
    machine_.PutKernelThread();
    Scan();
  }

  void AddGroup(const std::string& path) {
    used_[path] = 0;
    Set(path);
  }
  void AddChildGroup() {
    const auto& parent = *rc::gen::elementOf(Groups());
    if (std::ranges::count(parent, '/') < 4) AddGroup(parent + "/" + std::to_string(next_group_++));
  }
  void RemoveAnyGroup() { RemoveIfEmpty(*rc::gen::elementOf(Groups())); }
  void Start() {
    const int pid = next_pid_++;
    processes_[pid] = {.group = *rc::gen::elementOf(Groups()), .start = machine_.NowTicks()};
    Write(pid);
  }
  /// With its group, if it was alone in it: what the group had not been read to use is its parent's then.
  void EndWithGroup() {
    if (processes_.empty()) return;
    const int pid = AnyPid();
    const std::string group = processes_[pid].group;
    machine_.End(pid);
    processes_.erase(pid);
    RemoveIfEmpty(group);
  }
  void Run() {
    if (processes_.empty()) return;
    const int pid = AnyPid();
    const uint64_t ticks = AnyTicks();
    processes_[pid].ticks += ticks;
    Write(pid);
    Use(processes_[pid].group, ticks);
  }
  /// Processes that start, run and end before anybody looks.
  void RunUnseen() { Use(*rc::gen::elementOf(Groups()), AnyTicks()); }

  void Scan() {
    machine_.Scan();
    RC_ASSERT(machine_.last_error.empty());
    for (const auto& process : machine_.sample.processes) {
      RC_ASSERT(process.cpu.count() >= 0);
      given_ += process.cpu / os::ClockTick();
      if (process.cpu.count() > 0) given_to_[PathOf(*process.info)] += process.cpu / os::ClockTick();
    }
    for (const auto& residual : machine_.sample.residuals) {
      RC_ASSERT(residual.cpu.count() > 0);
      given_ += residual.cpu / os::ClockTick();
      given_to_[residual.cgroup->path] += residual.cpu / os::ClockTick();
    }
    RC_ASSERT(given_ <= static_cast<int64_t>(used_by_all_));
    for (const auto& [path, ticks] : used_) {
      RC_ASSERT(GivenBelow(path) <= static_cast<int64_t>(ticks));
      if (!lagging_) RC_ASSERT(GivenBelow(path) == static_cast<int64_t>(ticks));
    }
  }
  /// The cgroup files catch up with what was used.
  void CatchUp() {
    for (const auto& [path, ticks] : used_) Set(path);
    Set("");
    lagging_ = false;
  }

 private:
  struct Process {
    std::string group;
    uint64_t start = 0;
    uint64_t ticks = 0;
  };

  [[nodiscard]] std::string_view Top() const { return v1_ ? FakeMachine::kV1 : FakeMachine::kV2; }
  [[nodiscard]] std::string PathOf(const cgroup::ProcessInfo& info) const { return info.cgroup->lines[0].path; }
  [[nodiscard]] std::vector<std::string> Groups() const {
    std::vector<std::string> paths;
    paths.reserve(used_.size());
    for (const auto& [path, ticks] : used_) paths.push_back(path);
    return paths;
  }
  static uint64_t AnyTicks() { return *rc::gen::resize(100, rc::gen::inRange<uint64_t>(0, 50)); }
  void RemoveIfEmpty(const std::string& path) {
    const bool leaf = std::ranges::none_of(used_, [&](const auto& g) { return g.first.starts_with(path + "/"); });
    const bool empty = std::ranges::none_of(processes_, [&](const auto& p) { return p.second.group == path; });
    if (path == "/c" || !leaf || !empty) return;
    machine_.RemoveCgroup(path, Top());
    used_.erase(path);
  }
  int AnyPid() {
    std::vector<int> pids;
    pids.reserve(processes_.size());
    for (const auto& [pid, process] : processes_) pids.push_back(pid);
    return *rc::gen::elementOf(pids);
  }
  void Use(const std::string& group, uint64_t ticks) {
    used_by_all_ += ticks;
    for (auto& [path, used] : used_)
      if (group == path || group.starts_with(path + "/")) used += ticks;
    lagging_ = true;
  }
  void Set(const std::string& path) {
    const auto ticks = static_cast<int64_t>(path.empty() ? used_by_all_ : used_[path]);
    if (v1_)
      machine_.SetV1(path, Ticks(ticks));
    else
      machine_.SetV2(path, Ticks(ticks));
  }
  void Write(int pid) {
    const Process& process = processes_[pid];
    machine_.Put({.pid = pid,
                  .ticks = process.ticks,
                  .start = process.start,
                  .cgroup = v1_ ? "3:cpuacct:" + process.group + "\n0::/\n" : "0::" + process.group + "\n"});
  }
  /// What was given out at `path` and below it, to cgroups that are there or gone.
  [[nodiscard]] int64_t GivenBelow(const std::string& path) const {
    int64_t sum = 0;
    for (const auto& [group, ticks] : given_to_)
      if (group == path || group.starts_with(path + "/")) sum += ticks;
    return sum;
  }

  bool v1_;
  FakeMachine machine_;
  std::map<std::string, uint64_t> used_;  // living groups, with their descendants since they were made
  std::map<int, Process> processes_;
  std::map<std::string, int64_t> given_to_;
  uint64_t used_by_all_ = 0;
  bool lagging_ = false;  // the files show less than was used
  int64_t given_ = 0;
  int next_pid_ = 100;
  int next_group_ = 0;
};

void RunRandomHistory(bool v1) {
  History history(v1);
  constexpr size_t kSteps = 60;
  const auto steps = *rc::gen::resize(100, rc::gen::container<std::vector<int>>(kSteps, rc::gen::inRange(0, 16)));
  for (const int step : steps) {
    if (step <= 1) history.AddChildGroup();
    if (step == 2) history.RemoveAnyGroup();
    if (step == 3 || step == 4) history.Start();
    if (step == 5 || step == 6) history.EndWithGroup();
    if (step >= 7 && step <= 9) history.Run();
    if (step == 10) history.RunUnseen();
    if (step == 11 || step == 12) history.CatchUp();
    if (step >= 13) history.Scan();
  }
  history.Scan();
  history.CatchUp();
  history.Scan();
}

RC_GTEST_PROP(Conservation, AnyHistoryUnderV2_EverySubtreeGetsWhatItUsed, ()) { RunRandomHistory(false); }
RC_GTEST_PROP(Conservation, AnyHistoryUnderV1_EverySubtreeGetsWhatItUsed, ()) { RunRandomHistory(true); }

}  // namespace
}  // namespace kepler::activity::procfs
