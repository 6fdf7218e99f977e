#include "export/series/number.h"

#include <gtest/gtest.h>

#include <limits>

namespace kepler::series {
namespace {

TEST(AsDouble, Energy_IsTheNearestDouble) {
  EXPECT_EQ(AsDouble(Energy{}), 0.0);
  EXPECT_EQ(AsDouble(Energy::Microjoules(1)), 1e-6);
  EXPECT_EQ(AsDouble(Energy::Microjoules(-1'500'000)), -1.5);
  EXPECT_EQ(AsDouble(Energy::Microjoules(9'007'199'254'740'991)), 9007199254.740991);
  EXPECT_EQ(AsDouble(Energy::Microjoules(23'051'544'038'781'874)), 23051544038.781874)
      << "rounded once: 23051544038781874.0 / 1e6 is 23051544038.78187";
  EXPECT_EQ(AsDouble(Energy::Microjoules(std::numeric_limits<int64_t>::max())), 9223372036854.775807);
  EXPECT_EQ(AsDouble(Energy::Microjoules(std::numeric_limits<int64_t>::min())), -9223372036854.775808);
}

TEST(AsDouble, Time_IsInSeconds) {
  EXPECT_EQ(AsDouble(Nanoseconds(1)), 1e-9);
  EXPECT_EQ(AsDouble(Nanoseconds(1'700'000'000'123'456'789)), 1700000000.123456789);
}

TEST(AsDouble, NotFinite_IsZero) {
  EXPECT_EQ(AsDouble(std::numeric_limits<double>::quiet_NaN()), 0.0);
  EXPECT_EQ(AsDouble(-std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(AsDouble(uint64_t{12}), 12.0);
}

}  // namespace
}  // namespace kepler::series
