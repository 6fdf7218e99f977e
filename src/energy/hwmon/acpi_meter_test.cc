#include "energy/hwmon/acpi_meter.h"

#include <gtest/gtest.h>

namespace kepler::energy::hwmon {
namespace {

TEST(GraceLabelTest, SensorsOfGrace_SameLabelForEachSocket) {
  EXPECT_EQ(GraceLabel("CPU Power Socket 0"), "cpu_power");
  EXPECT_EQ(GraceLabel("CPU Power Socket 1"), "cpu_power");
  EXPECT_EQ(GraceLabel("Grace Power Socket 0"), "grace_power");
  EXPECT_EQ(GraceLabel("SysIO Power Socket 12"), "sysio_power");
  EXPECT_EQ(GraceLabel("Module Power Socket 0"), "module_power");
}

TEST(GraceLabelTest, OtherText_None) {
  for (const char* text : {"", "Socket 0", "CPU Power", "CPU Power Socket", "CPU Power Socket x", "Power Meter",
                           "Memory Power Socket 0", "CPU Power Socket -1"})
    EXPECT_EQ(GraceLabel(text), "") << text;
}

TEST(IsCpuLabelTest, OnlyPartsOfTheMachine) {
  EXPECT_TRUE(IsCpuLabel("cpu_power"));
  EXPECT_TRUE(IsCpuLabel("grace_power"));
  EXPECT_FALSE(IsCpuLabel("module_power"));
  EXPECT_FALSE(IsCpuLabel(""));
}

}  // namespace
}  // namespace kepler::energy::hwmon
