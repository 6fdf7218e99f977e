#include "os/cpu_id.h"

#include <gtest/gtest.h>

#include "os/cpu_topology.h"

namespace kepler::os {
namespace {

CpuId Read(std::string_view cpuinfo) {
  return CpuIdOf(cpuinfo, ParseCpuInfo(cpuinfo).value_or(std::vector<CpuInfo>()));
}

TEST(CpuIdOf, X86_FamilyModelAndTheFeaturesThatAreCompared) {
  EXPECT_EQ(Read("processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nstepping : 7\n"
                 "flags : fpu hypervisor avx512f avx2 avx avx2\n"),
            (CpuId{"GenuineIntel", 6, 85, {"avx", "avx2", "avx512f"}}));
}

TEST(CpuIdOf, Arm_ImplementerAndPart) {
  EXPECT_EQ(Read("processor : 0\nFeatures : fp asimd asimddp sve\nCPU implementer : 0x41\nCPU architecture: 8\n"
                 "CPU variant : 0x3\nCPU part : 0xd0c\n"),
            (CpuId{"0x41", 8, 0xd0c, {"asimddp", "sve"}}));
}

TEST(CpuIdOf, MissingMalformedTruncated_IsNotKnown) {
  EXPECT_EQ(Read(""), CpuId());
  EXPECT_EQ(Read("processor : 0\nhart : 1\nisa : rv64imafdc\n"), CpuId());
  EXPECT_EQ(Read("processor : 0\nvendor_id : GenuineIntel\nmodel : many\nflags : avx\n"), CpuId());
  EXPECT_EQ(Read("processor : 0\nmodel : 85\nflags : avx\n"), CpuId());
  EXPECT_EQ(Read("processor : 0\nvendor_id : GenuineIntel\nmodel : 85\nflags"), (CpuId{"GenuineIntel", 0, 85, {}}));
  EXPECT_EQ(Read("processor : 0\nvendor_id : GenuineIntel\nmodel : 85\nflags :"), (CpuId{"GenuineIntel", 0, 85, {}}));
  EXPECT_EQ(Read("processor : 0\nvendor_id : A\nCPU part : 0x\n"), CpuId());
}

}  // namespace
}  // namespace kepler::os
