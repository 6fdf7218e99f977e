#include "model/machine_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kepler::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  const auto machine = ReadMachinePairs(text);
  return machine ? "" : machine.error().message;
}

TEST(MachinePairs, AllKeys) {
  EXPECT_EQ(ReadMachinePairs("processor=AMD EPYC 7763 64-Core Processor,cores=128,chips=2,memory=503.4,frequency=2400,"
                             "threads_per_core=2"),
            (MachineSpec{.processor = "amd_epyc_7763_64_core",
                         .cores = 128,
                         .chips = 2,
                         .memory_gib = 503,
                         .frequency_mhz = 2400,
                         .threads_per_core = 2}));
  EXPECT_EQ(ReadMachinePairs("memory_gib=4.0, frequency_mhz=1800"),
            (MachineSpec{.memory_gib = 4, .frequency_mhz = 1800}));
}

TEST(MachinePairs, UnknownKey_ListsTheKeys) {
  EXPECT_THAT(ErrorOf("cpus=8"), AllOf(HasSubstr("unknown key \"cpus\""), HasSubstr("processor, cores, chips, memory, "
                                                                                    "frequency, threads_per_core")));
}

TEST(MachinePairs, MissingOrMalformed_NamesThePair) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(ErrorOf("cores"), HasSubstr("\"cores\" is not KEY=VALUE"));
  EXPECT_THAT(ErrorOf("cores="), HasSubstr("\"cores=\" is not KEY=VALUE"));
  EXPECT_THAT(ErrorOf("cores=8,"), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(ErrorOf("cores=8,cores=9"), HasSubstr("cores appears twice"));
  for (const char* value : {"eight", "-1", "0", "0.4", "1.4", "1e9", "nan", "inf", "8x"})
    EXPECT_THAT(ErrorOf(std::string("chips=") + value), HasSubstr("chips: ")) << value;
  EXPECT_THAT(ErrorOf("processor= "), HasSubstr("processor: \"\" is not a name"));
  EXPECT_THAT(ErrorOf("processor=" + std::string(100'000, 'a')), HasSubstr("is not a name"));
  EXPECT_THAT(ErrorOf("memory=8,memory_gib=9"), HasSubstr("memory_gib appears twice"));
  EXPECT_THAT(ErrorOf("processor=x,=8"), HasSubstr("unknown key \"\""));
  EXPECT_THAT(ErrorOf("cores=4,threads_per_core=8"), HasSubstr("8 is more than the 4 cores; cores are logical CPUs"));
  EXPECT_THAT(ErrorOf("cores=1,chips=2"), HasSubstr("2 is more than the 1 cores"));
}

}  // namespace
}  // namespace kepler::model
