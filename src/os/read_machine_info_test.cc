#include "os/read_machine_info.h"

#include <gtest/gtest.h>

#include <string_view>

#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

constexpr std::string_view kTwoSockets = R"(processor	: 0
vendor_id	: AuthenticAMD
model name	: AMD EPYC 7763 64-Core Processor
cpu MHz		: 1500.123
physical id	: 0

processor	: 1
vendor_id	: AuthenticAMD
model name	: AMD EPYC 7763 64-Core Processor
cpu MHz		: 2450.951
physical id	: 1
)";
constexpr std::string_view kNamelessArm = R"(processor	: 0
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c

processor	: 1
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
)";
constexpr std::string_view kCpus = "sys/devices/system/cpu/";

class MachineInfoTest : public ::testing::Test {
 protected:
  [[nodiscard]] MachineInfo Read() const { return ReadMachineInfo(tree_.Path("proc"), tree_.Path("sys")); }
  void Sysfs(std::string_view path, std::string_view text) {
    tree_.Write(std::string(kCpus) + std::string(path), text);
  }

  kepler::testing::FakeTree tree_;
};

TEST_F(MachineInfoTest, AServer) {
  tree_.Write("proc/cpuinfo", kTwoSockets);
  tree_.Write("proc/meminfo", "MemTotal:       527999999 kB\nMemFree: 1 kB\n");
  Sysfs("cpu0/topology/thread_siblings_list", "0-1\n");
  Sysfs("cpufreq/policy0/cpuinfo_max_freq", "3529052\n");
  Sysfs("cpufreq/policy1/cpuinfo_max_freq", "3529053\n");
  EXPECT_EQ(Read(), (MachineInfo{"AMD EPYC 7763 64-Core Processor", 2, 2, 503, 3529, 2}));
}

TEST_F(MachineInfoTest, AGuest_WithTheNumbersOfItsProcessor) {
  tree_.Write("proc/cpuinfo",
              "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 207\nflags : avx hypervisor\n");
  const MachineInfo info = Read();
  EXPECT_EQ(info.cpuid, (CpuId{"GenuineIntel", 6, 207, {"avx"}}));
  EXPECT_TRUE(info.is_guest);
}

TEST_F(MachineInfoTest, WithoutCpufreq_WhatTheProcessorsRunAt) {
  tree_.Write("proc/cpuinfo", kTwoSockets);
  EXPECT_EQ(Read().max_mhz, 2451u);
}

TEST_F(MachineInfoTest, ArmWithoutName_GoesByItsNumbers) {
  tree_.Write("proc/cpuinfo", kNamelessArm);
  tree_.Write("sys/firmware/devicetree/base/model", std::string_view("Some Board\0", 11));
  Sysfs("cpu0/topology/physical_package_id", "36\n");
  Sysfs("cpu1/topology/physical_package_id", "36\n");
  EXPECT_EQ(Read(), (MachineInfo{"arm 0x41 0xd0c", 2, 1, 0, 0, 0, {"0x41", 8, 0xd0c}}));
}

TEST_F(MachineInfoTest, ArmWithName_GoesByThat) {
  tree_.Write("proc/cpuinfo", "processor : 0\nmodel name : ARMv7 Processor rev 3 (v7l)\nCPU part : 0xd08\n");
  EXPECT_EQ(Read().processor, "ARMv7 Processor rev 3 (v7l)");
}

TEST_F(MachineInfoTest, WithoutAnyName_TheBoardsName) {
  tree_.Write("proc/cpuinfo", "processor : 0\nhart : 1\nisa : rv64imafdc\n");
  tree_.Write("sys/firmware/devicetree/base/model", std::string_view("SiFive HiFive Unmatched A00\0", 28));
  EXPECT_EQ(Read(), (MachineInfo{"SiFive HiFive Unmatched A00", 1, 0, 0, 0}));
}

TEST_F(MachineInfoTest, NothingThere_NothingKnown) { EXPECT_EQ(Read(), MachineInfo()); }

TEST_F(MachineInfoTest, Malformed_IsNotKnown) {
  tree_.Write("proc/cpuinfo", "processor : 0\nmodel name :\ncpu MHz\ncpu MHz :\ncpu MHz : nan\ncpu MHz : 1e300\n");
  tree_.Write("proc/meminfo", "MemTotal: much\n");
  Sysfs("cpu0/topology/physical_package_id", "-1\n");
  Sysfs("cpu0/topology/thread_siblings_list", "0-\n");
  Sysfs("cpufreq/policy0/cpuinfo_max_freq", "fast\n");
  Sysfs("cpufreq/policy1/cpuinfo_max_freq", "4294967295\n");
  EXPECT_EQ(Read(), (MachineInfo{"", 1, 0, 0, 0}));
  tree_.Write("proc/cpuinfo", std::string_view("\0\xff\n:", 4));
  EXPECT_EQ(Read(), MachineInfo());
}

}  // namespace
}  // namespace kepler::os
