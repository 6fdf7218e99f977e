// Two cgroup trees that count the same time (hybrid): ProcfsSource on both, made of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "activity/procfs/fake_machine.h"

namespace kepler::activity::procfs {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const std::string kBox = "/docker/" + std::string(64, 'a');

class HybridResidual : public ::testing::Test {
 protected:
  FakeMachine machine_;
};

TEST_F(HybridResidual, ContainerNamedByV1_IsAccountedThereOnly) {
  machine_.SetV1("", Ticks(0));
  machine_.SetV1("/docker", Ticks(0));
  machine_.SetV1(kBox, Ticks(0));
  machine_.SetV2(kBox, Ticks(0), FakeMachine::kHybridV2);
  machine_.SetV2("/docker", Ticks(0), FakeMachine::kHybridV2);
  const std::string cgroup = "2:cpuacct:" + kBox + "\n0::" + kBox + "\n";
  machine_.ScanWith({.pid = 10, .cgroup = cgroup});
  for (const std::string& path : std::vector<std::string>{"", "/docker", kBox}) machine_.SetV1(path, Ticks(30));
  for (const std::string& path : std::vector<std::string>{"/docker", kBox})
    machine_.SetV2(path, Ticks(30), FakeMachine::kHybridV2);
  machine_.ScanWith({.pid = 10, .ticks = 20, .cgroup = cgroup});
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(kBox, Ticks(10))));
}

TEST_F(HybridResidual, ContainerNamedByV2Only_IsKnownToTheCpuacctTree) {
  machine_.SetV1("", Ticks(1000));
  machine_.SetV2("/docker", Ticks(200), FakeMachine::kHybridV2);
  machine_.SetV2(kBox, Ticks(200), FakeMachine::kHybridV2);
  const std::string cgroup = "2:cpuacct:/\n0::" + kBox + "\n";
  machine_.Put({.pid = 10, .ticks = 50, .cgroup = cgroup});
  machine_.Put({.pid = 11, .ticks = 50, .cgroup = "2:cpuacct:/\n0::/\n"});
  machine_.Scan();
  // 30 in the container, 20 of them by its process; 15 outside of it, 11 of them by a process.
  machine_.SetV1("", Ticks(1045));
  machine_.SetV2("/docker", Ticks(230), FakeMachine::kHybridV2);
  machine_.SetV2(kBox, Ticks(230), FakeMachine::kHybridV2);
  machine_.Put({.pid = 10, .ticks = 70, .cgroup = cgroup});
  machine_.Put({.pid = 11, .ticks = 61, .cgroup = "2:cpuacct:/\n0::/\n"});
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(kBox, Ticks(10)), Pair("/", Ticks(4))));
}

TEST_F(HybridResidual, ContainerWithoutALastingProcess_IsStillKnownToItsCpuacctCgroup) {
  const auto use = [&](int ticks) {
    for (const char* path : {"", "/system"}) machine_.SetV1(path, Ticks(1000 + ticks));
    for (const std::string& path : std::vector<std::string>{"/docker", kBox})
      machine_.SetV2(path, Ticks(ticks), FakeMachine::kHybridV2);
  };
  use(0);
  machine_.Put({.pid = 10, .cgroup = "2:cpuacct:/system\n0::" + kBox + "\n"});
  machine_.Put({.pid = 11, .cgroup = "2:cpuacct:/\n0::/\n"});
  machine_.Scan();
  machine_.End(10);
  use(10);
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(kBox, Ticks(10))));
}

TEST_F(HybridResidual, ContainerFoundLater_WhatWasBookedBeforeIsNotBookedAgain) {
  machine_.SetV1("", Ticks(0));
  machine_.SetV2("/docker", Ticks(0), FakeMachine::kHybridV2);
  machine_.SetV2(kBox, Ticks(0), FakeMachine::kHybridV2);
  machine_.ScanWith({.pid = 1, .cgroup = "2:cpuacct:/\n0::/\n"});
  machine_.SetV1("", Ticks(40));
  machine_.SetV2("/docker", Ticks(40), FakeMachine::kHybridV2);
  machine_.SetV2(kBox, Ticks(40), FakeMachine::kHybridV2);
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/", Ticks(40))))
      << "nothing says yet that it is a container";
  machine_.Put({.pid = 10, .start = machine_.NowTicks(), .cgroup = "2:cpuacct:/\n0::" + kBox + "\n"});
  machine_.SetV1("", Ticks(46));
  machine_.SetV2("/docker", Ticks(46), FakeMachine::kHybridV2);
  machine_.SetV2(kBox, Ticks(46), FakeMachine::kHybridV2);
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(kBox, Ticks(6))));
}

TEST_F(HybridResidual, LivingCgroups_OfBothTreesAreListedAsTheyCome) {
  const auto paths = [&] {
    std::multiset<std::string> all;
    for (const auto& living : machine_.source().LivingCgroups()) all.emplace(living->path);
    return all;
  };
  machine_.SetV1("", Ticks(0));
  machine_.SetV2("/docker", Ticks(0), FakeMachine::kHybridV2);
  machine_.ScanWith({.pid = 10, .cgroup = "2:cpuacct:/\n0::/docker\n"});
  const size_t before = paths().size();
  machine_.SetV1("/new", Ticks(0));
  machine_.SetV2("/new", Ticks(0), FakeMachine::kHybridV2);
  machine_.Scan();
  EXPECT_EQ(paths().size(), before + 2);
  EXPECT_EQ(paths().count("/new"), 2u);
}

/// A container that both trees name, with 10 ticks of residual since the previous scan.
void UseTenMore(FakeMachine& machine, int64_t so_far) {
  for (const std::string& path : std::vector<std::string>{"", "/docker", kBox}) machine.SetV1(path, Ticks(so_far + 10));
  for (const std::string& path : std::vector<std::string>{"/docker", kBox})
    machine.SetV2(path, Ticks(so_far + 10), FakeMachine::kHybridV2);
}

TEST_F(HybridResidual, DyingProcessOfAContainerNamedByV1_IsNoCarveOut) {
  UseTenMore(machine_, -10);
  machine_.ScanWith({.pid = 10, .cgroup = "2:cpuacct:" + kBox + "\n0::" + kBox + "\n"});
  UseTenMore(machine_, 0);
  machine_.ScanWith({.pid = 11,
                     .start = machine_.NowTicks(),
                     .cgroup = "2:cpuacct:/\n0::" + kBox + "\n",
                     .exe = "",
                     .flags = 4,
                     .state = 'Z'});
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(kBox, Ticks(10))));
  UseTenMore(machine_, 10);
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(kBox, Ticks(10))));
}

TEST_F(HybridResidual, ProcessSeenBetweenTwoHierarchies_IsNoCarveOutAfterwards) {
  UseTenMore(machine_, -10);
  machine_.ScanWith({.pid = 1, .cgroup = "2:cpuacct:/\n0::/\n"});
  const uint64_t start = machine_.NowTicks();
  machine_.ScanWith({.pid = 10, .start = start, .cgroup = "2:cpuacct:/\n0::" + kBox + "\n"});
  machine_.Put({.pid = 10, .start = start, .cgroup = "2:cpuacct:" + kBox + "\n0::" + kBox + "\n"});
  machine_.Scan();
  UseTenMore(machine_, 0);
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(kBox, Ticks(10))));
}

}  // namespace
}  // namespace kepler::activity::procfs
