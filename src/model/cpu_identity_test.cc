#include "model/cpu_identity.h"

#include <gtest/gtest.h>

namespace kepler::model {
namespace {

TEST(ParseCpuIdentity, Intel_OfTheFirstProcessorOnly) {
  const auto cpu = ParseCpuIdentity(
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R)\n"
      "stepping\t: 7\nflags\t\t: fpu vme\n\nprocessor\t: 1\nvendor_id\t: AuthenticAMD\nmodel\t: 1\n");
  EXPECT_EQ(cpu, (CpuIdentity{Vendor::kIntel, 6, 85, 7, 0}));
}

TEST(ParseCpuIdentity, ArmCore_ByImplementerAndPart) {
  const auto cpu = ParseCpuIdentity(
      "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
      "CPU part\t: 0xd0c\nCPU revision\t: 1\n\n");
  EXPECT_EQ(cpu, (CpuIdentity{Vendor::kArm, 0, 0, 0, 0xd0c}));
}

TEST(ParseCpuIdentity, OtherImplementer_IsUnknown) {
  EXPECT_EQ(ParseCpuIdentity("CPU implementer\t: 0xc0\nCPU part\t: 0xac3\n").vendor, Vendor::kUnknown);
}

TEST(ParseCpuIdentity, MissingMalformedTruncated_StaysUnknown) {
  EXPECT_EQ(ParseCpuIdentity(""), CpuIdentity{});
  EXPECT_EQ(ParseCpuIdentity("\n\n:\n: :\n"), CpuIdentity{});
  EXPECT_EQ(
      ParseCpuIdentity("vendor_id : GenuineIntel\nmodel : 12x\ncpu family : -6\nstepping : 99999999999\nCPU part : 0x"),
      (CpuIdentity{Vendor::kIntel, 0, 0, 0, 0}));
  EXPECT_EQ(ParseCpuIdentity("vendor_id\t: Genuine").vendor, Vendor::kUnknown);
}

}  // namespace
}  // namespace kepler::model
