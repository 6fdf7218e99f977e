#include "energy/platform/ipmi/dcmi_power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::energy::platform::ipmi {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// 217 W now, 198 to 431 W, 240 W on average, 1'700'000'000 s, 5'000 ms, active.
const std::vector<uint8_t> kAnswer = {0x00, 0xDC, 0xD9, 0x00, 0xC6, 0x00, 0xAF, 0x01, 0xF0, 0x00,
                                      0x00, 0xF1, 0x53, 0x65, 0x88, 0x13, 0x00, 0x00, 0x40};

using Codes = std::vector<uint8_t>;
std::string Why(const auto& result) { return result ? "" : result.error().message; }

TEST(DcmiPower, Request_IsGetPowerReadingOfTheSystem) {
  const Request request = DcmiPowerRequest();
  EXPECT_EQ(request.function, 0x2C);
  EXPECT_EQ(request.command, 0x02);
  EXPECT_THAT(request.data, ElementsAre(0xDC, 0x01, 0x00, 0x00));
}

TEST(DcmiPower, Parse_WholeAnswer_GivesAllFields) {
  const auto reading = ParseDcmiPower(kAnswer);
  ASSERT_TRUE(reading) << Why(reading);
  EXPECT_EQ(reading->watts, 217);
  EXPECT_EQ(reading->min, 198);
  EXPECT_EQ(reading->max, 431);
  EXPECT_EQ(reading->at.time_since_epoch(), 1'700'000'000s);
  EXPECT_EQ(reading->period, 5s);
  EXPECT_TRUE(reading->is_active);
  EXPECT_EQ(PowerOf(*reading).value(), Power::Watts(217));
}

TEST(DcmiPower, Parse_LongerAnswer_IgnoresTheRest) {
  auto longer = kAnswer;
  longer.insert(longer.end(), {1, 2, 3});
  EXPECT_TRUE(ParseDcmiPower(longer));
}

TEST(DcmiPower, Parse_EveryTruncation_IsMalformed) {
  for (size_t size = 0; size < kAnswer.size(); ++size) {
    const auto reading = ParseDcmiPower(Bytes(kAnswer).first(size));
    ASSERT_FALSE(reading) << size;
    EXPECT_EQ(reading.error().kind, ErrorKind::kMalformed);
  }
}

TEST(DcmiPower, Parse_OtherGroup_IsMalformedAndNoDcmi) {
  auto other = kAnswer;
  other[1] = 0x00;
  const auto reading = ParseDcmiPower(other);
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().kind, ErrorKind::kMalformed);
  EXPECT_THAT(reading.error().message, HasSubstr("group 0x00"));
  EXPECT_TRUE(IsWithoutDcmi(other));
}

TEST(DcmiPower, IsWithoutDcmi_OnlyForFinalAnswers) {
  for (const uint8_t code : Codes{0xC1, 0xC2, 0xCC, 0xD6}) EXPECT_TRUE(IsWithoutDcmi(std::vector<uint8_t>{code, 0xDC}));
  for (const uint8_t code : Codes{0xC0, 0xC3, 0xD1, 0xD2, 0xD5, 0xFF})
    EXPECT_FALSE(IsWithoutDcmi(std::vector<uint8_t>{code})) << int{code};
  EXPECT_FALSE(IsWithoutDcmi({}));
  EXPECT_FALSE(IsWithoutDcmi(kAnswer));
}

TEST(DcmiPower, PowerOf_NotActive_IsUnavailableWithTheRemedy) {
  auto inactive = kAnswer;
  inactive[18] = 0x00;
  const auto power = PowerOf(ParseDcmiPower(inactive).value());
  ASSERT_FALSE(power);
  EXPECT_EQ(power.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(power.error().message, HasSubstr("enable power monitoring"));
}

/// As in openbmc/openbmc issue 3257: 319 W, without time, period and active bit.
TEST(DcmiPower, PowerOf_BmcThatFillsInOnlyThePower_IsTrusted) {
  DcmiReading reading;
  reading.watts = 319;
  EXPECT_EQ(PowerOf(reading).value(), Power::Watts(319));
  reading.watts = 0;
  EXPECT_THAT(Why(PowerOf(reading)), HasSubstr("not active"));
}

TEST(DcmiPower, PowerOf_ImplausibleValue_IsUnavailable) {
  DcmiReading reading;
  reading.is_active = true;
  for (const uint16_t watts : std::vector<uint16_t>{0, 0xFFFF}) {
    reading.watts = watts;
    const auto power = PowerOf(reading);
    ASSERT_FALSE(power);
    EXPECT_EQ(power.error().kind, ErrorKind::kUnavailable);
    EXPECT_THAT(power.error().message, HasSubstr(std::to_string(watts) + " W"));
  }
}

TEST(IpmiMessage, BodyOf_Code_SaysWhatWhyAndTheRemedy) {
  const auto kind_of = [](uint8_t code) { return BodyOf(std::vector<uint8_t>{code}).error().kind; };
  EXPECT_EQ(kind_of(0xC0), ErrorKind::kUnavailable);
  EXPECT_EQ(kind_of(0xC3), ErrorKind::kTimeout);
  EXPECT_EQ(kind_of(0xC9), ErrorKind::kMalformed);
  EXPECT_EQ(kind_of(0xD4), ErrorKind::kPermission);
  EXPECT_EQ(kind_of(0x80), ErrorKind::kIo);
  EXPECT_EQ(Why(BodyOf(std::vector<uint8_t>{0xD2})),
            "completion code 0xd2: the BMC is starting; it is retried; the BMC usually answers within minutes");
  EXPECT_THAT(Why(BodyOf(std::vector<uint8_t>{0x80})), HasSubstr("0x80: not in the IPMI specification"));
}

TEST(IpmiMessage, BodyOf_Empty_IsMalformed) {
  EXPECT_EQ(BodyOf({}).error().kind, ErrorKind::kMalformed);
  EXPECT_EQ(BodyOf(std::vector<uint8_t>{0}).value().size(), 0u);
}

}  // namespace
}  // namespace kepler::energy::platform::ipmi
