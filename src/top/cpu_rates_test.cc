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

TEST(CpuRates, AnEndedRowWithTheSameId_DoesNotCount) {
  CpuRates rates;
  const auto with_ended = [](const std::string& second, double cpu) {
    Readings readings = At(second, cpu);
    readings.rows.push_back({.id = "a", .running = false, .cpu_seconds = 1'000});
    return readings;
  };
  Readings first = with_ended("00.000", 10), second = with_ended("04.000", 12);
  rates.Fill(first);
  rates.Fill(second);
  EXPECT_EQ(second.rows[0].cpu_cores, 0.5);
  EXPECT_EQ(second.rows[1].cpu_cores, std::nullopt);
}

}  // namespace
}  // namespace kepler::top
