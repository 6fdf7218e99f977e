#include "top/cpu_rates.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::top {
namespace {

Readings At(const std::string& second, double cpu) {
  return {.time = "2026-11-27T22:00:" + second + "Z", .level = "process", .rows = {{.id = "a", .cpu_seconds = cpu}}};
}

TEST(CpuRates, AreTheDifferenceOfTwoTicks) {
  CpuRates rates;
  const auto cores = [&](Readings readings) {
    rates.Fill(readings);
    return readings.rows[0].cpu_cores;
  };
  EXPECT_EQ(cores(At("00.000", 10)), std::nullopt) << "one total is no rate";
  EXPECT_EQ(cores(At("00.000", 10)), std::nullopt);
  EXPECT_EQ(cores(At("04.000", 12)), 0.5);
  EXPECT_EQ(cores(At("04.000", 12)), 0.5) << "the same tick again";
  EXPECT_EQ(cores(At("04.500", 14)), 4);
  EXPECT_EQ(cores(At("01.000", 1)), std::nullopt) << "another agent";
  EXPECT_EQ(cores(At("02.000", 0)), std::nullopt) << "another workload of that id";
  Readings pods = At("05.000", 9);
  pods.level = "pod";
  EXPECT_EQ(cores(pods), std::nullopt) << "another level";
}

TEST(CpuRates, OfTheAgentStay) {
  CpuRates rates;
  Readings readings = At("00.000", 10);
  readings.rows[0].cpu_cores = 3;
  rates.Fill(readings);
  EXPECT_EQ(readings.rows[0].cpu_cores, 3);
}

TEST(UnixSeconds, ReadsOneForm) {
  EXPECT_EQ(UnixSeconds("1970-01-02T00:00:01.250Z"), 86'401.25);
  EXPECT_EQ(UnixSeconds("2026-11-27T22:00:05Z"), 1'795'816'805);
  for (const char* text :
       {"", "Z", "2026-11-27T22:00:05", "2026-11-27 22:00:05Z", "2026-13-27T22:00:05Z", "2026-02-30T22:00:05Z",
        "2026-11-27T24:00:05Z", "2026-11-27T22:60:05Z", "2026-11-27T22:00:61Z", "2026-11-27T22:00:-1Z",
        "2026-11-27T22:00:nanZ", "2026-11-27T22:00:Z", "x026-11-27T22:00:05Z"})
    EXPECT_EQ(UnixSeconds(text), std::nullopt) << text;
}

}  // namespace
}  // namespace kepler::top
