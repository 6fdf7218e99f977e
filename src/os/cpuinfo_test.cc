#include <gtest/gtest.h>

#include "os/cpu_topology.h"
#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

constexpr std::string_view kX86 =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9R14\n"
    "stepping\t: 1\nphysical id\t: 0\ncore id\t\t: 3\nflags\t\t: fpu vme\n\n"
    "processor\t: 1\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9R14\n"
    "physical id\t: 1\ncore id\t\t: 0\n\n";
constexpr std::string_view kArm =
    "Processor\t: AArch64 rev 1\nprocessor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
    "CPU variant\t: 0x3\nCPU part\t: 0xd0c\n\nHardware\t: X\n";

TEST(CpuInfo, X86_EveryField) {
  const auto cpus = ParseCpuInfo(kX86);
  ASSERT_TRUE(cpus) << cpus.error().message;
  ASSERT_EQ(cpus->size(), 2U);
  EXPECT_EQ((*cpus)[0], (CpuInfo{.processor = "0",
                                 .vendor_id = "AuthenticAMD",
                                 .model_name = "AMD EPYC 9R14",
                                 .physical_id = "0",
                                 .core_id = "3",
                                 .cpu_family = "25",
                                 .model = "17",
                                 .stepping = "1"}));
  EXPECT_EQ((*cpus)[1].physical_id, "1");
}

TEST(CpuInfo, Arm_ImplementerAndPartStandForVendorAndModel) {
  const auto cpus = ParseCpuInfo(kArm);
  ASSERT_TRUE(cpus);
  ASSERT_EQ(cpus->size(), 1U) << "the line \"Processor\" is no logical processor";
  EXPECT_EQ((*cpus)[0], (CpuInfo{.processor = "0",
                                 .vendor_id = "0x41",
                                 .model_name = "0xd0c",
                                 .physical_id = "",
                                 .core_id = "",
                                 .cpu_family = "8",
                                 .model = "0x3",
                                 .part = "0xd0c"}));
}

TEST(CpuInfo, ArmWithModelName_NameIsNotReplacedByThePart) {
  EXPECT_EQ((*ParseCpuInfo("processor : 0\nmodel name : Cortex\nCPU part : 0x1\n"))[0].model_name, "Cortex");
}

TEST(CpuInfo, TruncatedMidLine_KeepsWhatIsThere) {
  const auto cpus = ParseCpuInfo(kX86.substr(0, kX86.find("EPYC")));
  ASSERT_TRUE(cpus);
  EXPECT_EQ((*cpus)[0].model_name, "AMD");
}

TEST(CpuInfo, NoProcessor_IsMalformed) {
  EXPECT_FALSE(ParseCpuInfo(""));
  EXPECT_FALSE(ParseCpuInfo("vendor_id : x\n"));
  EXPECT_FALSE(ParseCpuInfo("processor : many\n"));
}

TEST(CpuInfo, ReadMissing_ErrorNamesThePath) {
  testing::FakeTree tree;
  const auto missing = ReadCpuInfo(tree.root());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(missing.error().message.find("cpuinfo"), std::string::npos);
  tree.Write("cpuinfo", kX86);
  EXPECT_EQ(ReadCpuInfo(tree.root())->size(), 2U);
}

}  // namespace
}  // namespace kepler::os
