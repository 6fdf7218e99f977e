#include "workload/kubernetes/quantity.h"

#include <gtest/gtest.h>

namespace kepler::workload::kubernetes {
namespace {

constexpr uint64_t kMax = uint64_t{1} << 63U;

TEST(Quantity, AsKubernetesWritesThem) {
  EXPECT_EQ(ParseThousandths("100m"), 100u);
  EXPECT_EQ(ParseThousandths("2"), 2'000u);
  EXPECT_EQ(ParseThousandths("+0.5"), 500u);
  EXPECT_EQ(ParseThousandths(".25"), 250u);
  EXPECT_EQ(ParseThousandths("1.1"), 1'100u);
  EXPECT_EQ(ParseThousandths("0"), 0u);
  EXPECT_EQ(ParseThousandths("0e400"), 0u);
  EXPECT_EQ(ParseThousandths("64Gi"), 64'000ull << 30U);
  EXPECT_EQ(ParseThousandths("2Ti"), 2'000ull << 40U);
  EXPECT_EQ(ParseThousandths("1e3"), 1'000'000u);
  EXPECT_EQ(ParseThousandths("1E+2"), 100'000u);
  EXPECT_EQ(ParseThousandths("5E-1"), 500u);
  EXPECT_EQ(ParseThousandths("64Mi"), 64'000ull << 20U);
  EXPECT_EQ(ParseThousandths("1.5Gi"), 1'500ull << 30U);
  EXPECT_EQ(ParseThousandths("128974848"), 128'974'848'000u);
  EXPECT_EQ(ParseThousandths("129M"), 129'000'000'000u);
  EXPECT_EQ(ParseThousandths("1k"), 1'000'000u);
}

TEST(Quantity, LessThanAThousandth_IsRoundedUp) {
  EXPECT_EQ(ParseThousandths("1u"), 1u);
  EXPECT_EQ(ParseThousandths("1n"), 1u);
  EXPECT_EQ(ParseThousandths("1e-400"), 1u);
  EXPECT_EQ(ParseThousandths("1000001u"), 1'001u);
}

TEST(Quantity, TooMuchForAnyMachine_IsTheMost) {
  EXPECT_EQ(ParseThousandths("9Pi"), kMax);
  EXPECT_EQ(ParseThousandths("9e999"), kMax);
  EXPECT_EQ(ParseThousandths("1e400000000"), kMax);
}

TEST(Quantity, WhatIsNone_IsNothing) {
  for (const char* text : {"", "m", "-1", "1 ", " 1", "1x", "1KiB", "0x10", "1e", "1e+-5", "1e5000000000", "e3", "nan",
                           "inf", "1.2.3", "1m5", "1ki"})
    EXPECT_EQ(ParseThousandths(text), std::nullopt) << text;
}

}  // namespace
}  // namespace kepler::workload::kubernetes
