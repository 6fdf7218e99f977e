#pragma once
// A node on which processes say that they are virtual machines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "pipeline/node_test_util.h"
#include "testing/fifo.h"

namespace kepler::pipeline {

inline constexpr std::string_view kScope = "/machine.slice/machine-qemu\\x2d1.scope";

struct Hypervisor {
  activity::Slot slot;
  int32_t pid;
  uint32_t uid;
  std::string name;
  std::string cgroup = "/";
  uint64_t start = 1;
  std::string id = "7f1d";
};

class NodeTickVm : public ::testing::Test {
 protected:
  /// A qemu that says it is the machine `id` and has run 400 ms.
  ScriptedActivity::Process& Start(const Hypervisor& what) {
    auto& process = node_.activity.Start(what.slot, what.pid, "qemu-system-x86", what.cgroup);
    process.info.key.start_ticks = what.start;
    process.info.exe = "/usr/bin/qemu-system-x86_64";
    process.cpu = std::chrono::milliseconds(400);
    node_.proc.Write(fmt::format("{}/status", what.pid), fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\n", what.uid));
    node_.proc.Write(fmt::format("{}/cmdline", what.pid),
                     fmt::format("qemu{0}-uuid{0}{1}{0}-name{0}{2}{0}", '\0', what.id, what.name));
    return process;
  }
  void StartOwner() { Start({.slot = 0, .pid = 20, .uid = 1000, .name = "web", .cgroup = std::string(kScope)}); }
  void StartThief(uint64_t start = 5) { Start({.slot = 1, .pid = 10, .uid = 1001, .name = "stolen", .start = start}); }
  /// Whoever reads that file is kept waiting until Release().
  void Hold(const std::string& file) {
    node_.proc.Remove(file);
    testing::MakeFifo(node_.proc.Path(file));
  }
  void Release(const std::string& file) {
    testing::ReleaseFifo(node_.proc.Path(file));
    node_.proc.Remove(file);
  }
  /// The owner's machine runs; the thief's claim has been refused.
  void RefuseThief() {
    node_.Second(0);
    StartOwner();
    node_.Second(10);
    StartThief();
    node_.Second(10);
  }
  /// Another process of the same user, in another scope.
  void RestartOwner() {
    node_.activity.Exit(0);
    Start({.slot = 2, .pid = 30, .uid = 1000, .name = "web", .cgroup = "/machine.slice/b.scope", .start = 9});
  }
  void Again(activity::Slot slot) { node_.activity.processes[slot].cpu = std::chrono::milliseconds(400); }

  /// "7f1d web 5 running" for each VM, a line each.
  std::string Vms() {
    std::string text;
    const auto& vms = node_.Latest()->vms;
    for (size_t row = 0; row < vms.rows(); ++row)
      text += fmt::format("{} {} {} {}\n", vms.identity[row]->id, vms.identity[row]->name,
                          Joules(vms.energy_at(row, 0)), ToString(vms.state[row]));
    ExpectConserved(*node_.Latest());
    return text;
  }
  /// "vm 7f1d 5", as the process' labels say.
  std::string Process(int32_t pid) {
    const auto& all = node_.Latest()->processes;
    for (size_t row = 0; row < all.rows(); ++row)
      if (all.identity[row]->pid == pid && all.state[row] == snapshot::State::kRunning)
        return fmt::format("{} {} {}", all.identity[row]->type, all.identity[row]->vm_id,
                           Joules(all.energy_at(row, 0)));
    return "none";
  }

  TestNode node_{{std::chrono::minutes(2), Energy::Joules(1), 500}};
};

}  // namespace kepler::pipeline
