#include "energy/platform/ipmi/sensor_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/platform/ipmi/sensor_messages.h"
#include "energy/platform/ipmi/simulated_bmc.h"

namespace kepler::energy::platform::ipmi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string NameAs(uint8_t type_length, std::vector<uint8_t> bytes) {
  auto record = FullRecord("");
  record[47] = type_length;
  record.insert(record.end(), bytes.begin(), bytes.end());
  record[4] = static_cast<uint8_t>(record.size() - 5);
  const auto sensor = ParsePowerSensor(record);
  return sensor && *sensor ? (*sensor)->name : "none";
}

/// Sets the byte at `offset` of a good record.
auto With(size_t offset, uint8_t value) {
  auto record = FullRecord("System Power");
  record[offset] = value;
  return ParsePowerSensor(record);
}

TEST(SensorRecord, Parse_FullRecord_GivesTheSensor) {
  const auto sensor = ParsePowerSensor(FullRecord("System Power", 0x51));
  ASSERT_TRUE(sensor && *sensor);
  EXPECT_EQ((*sensor)->name, "System Power");
  EXPECT_EQ((*sensor)->owner, 0x20);
  EXPECT_EQ((*sensor)->lun, 0);
  EXPECT_EQ((*sensor)->number, 0x51);
  EXPECT_EQ((*sensor)->ToPower(54), Power::Watts(216));
}

TEST(SensorRecord, Parse_EveryTruncation_IsMalformed) {
  const auto record = FullRecord("System Power");
  for (size_t size = 0; size < record.size(); ++size) {
    const auto sensor = ParsePowerSensor(Bytes(record).first(size));
    ASSERT_FALSE(sensor) << size;
    EXPECT_EQ(sensor.error().kind, ErrorKind::kMalformed);
  }
}

TEST(SensorRecord, Parse_LengthSmallerThanTheName_IsMalformed) {
  EXPECT_EQ(With(4, 20).error().kind, ErrorKind::kMalformed);
  EXPECT_EQ(With(47, 0xDF).error().kind, ErrorKind::kMalformed);  // 31 characters
}

TEST(SensorRecord, Parse_AnythingElseThanLinearWatts_IsNone) {
  struct Change {
    const char* what;
    size_t offset;
    uint8_t value;
  };
  for (const Change& change :
       {Change{"compact record", 3, 0x02}, Change{"volts", 21, 4}, Change{"no reading", 20, 0xC0},
        Change{"per second", 20, 0x18}, Change{"watt hours", 20, 0x04}, Change{"percentage", 20, 0x01},
        Change{"modifier", 22, 1}, Change{"ln", 23, 1}}) {
    const auto sensor = With(change.offset, change.value);
    ASSERT_TRUE(sensor) << change.what;
    EXPECT_FALSE(*sensor) << change.what;
  }
}

TEST(SensorRecord, ToPower_Formats_AreSigned) {
  PowerSensor sensor;
  EXPECT_EQ(sensor.ToPower(0xFF), Power::Watts(255));
  sensor.format = RawFormat::kTwosComplement;
  EXPECT_EQ(sensor.ToPower(0xFF), Power::Watts(-1));
  EXPECT_EQ(sensor.ToPower(0x80), Power::Watts(-128));
  sensor.format = RawFormat::kOnesComplement;
  EXPECT_EQ(sensor.ToPower(0xFF), Power::Watts(0));
  EXPECT_EQ(sensor.ToPower(0xFE), Power::Watts(-1));
  EXPECT_EQ(sensor.ToPower(0x7F), Power::Watts(127));
}

TEST(SensorRecord, ToPower_Coefficients_AreTenAndFourBitsSigned) {
  auto record = FullRecord("x");
  record[24] = 0xFF;  // m = -1
  record[25] = 0xC0;
  record[26] = 0x01;  // b = 257
  record[27] = 0x40;
  record[29] = 0xF2;  // exponent -1, b_exponent 2
  const auto sensor = ParsePowerSensor(record);
  ASSERT_TRUE(sensor && *sensor);
  EXPECT_EQ((*sensor)->m, -1);
  EXPECT_EQ((*sensor)->b, 257);
  EXPECT_NEAR((*sensor)->ToPower(100).watts(), (-100 + 25'700) / 10.0, 1e-9);
}

TEST(SensorRecord, Name_Encodings_AreDecoded) {
  EXPECT_EQ(NameAs(0xC3, {'P', 'S', '1'}), "PS1");
  EXPECT_EQ(NameAs(0xC4, {'P', 'S', 0, 'x'}), "PS");
  EXPECT_EQ(NameAs(0x83, {0x29, 0xDC, 0xA6}), "IPMI");  // the example of section 43.15
  EXPECT_EQ(NameAs(0xC2, {0xFF, 0x1B}), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(NameAs(0xC0, {}), "sensor 0x51");
  EXPECT_EQ(NameAs(0x42, {0x12, 0x34}), "sensor 0x51");  // BCD
}

TEST(SensorMessages, Requests_AreAsInTheSpecification) {
  EXPECT_EQ(ReserveRequest().command, 0x22);
  const Request record = RecordRequest(0x1234, 0xABCD, 5, 18);
  EXPECT_EQ(record.function, 0x0A);
  EXPECT_EQ(record.command, 0x23);
  EXPECT_THAT(record.data, ElementsAre(0x34, 0x12, 0xCD, 0xAB, 5, 18));
  PowerSensor sensor;
  sensor.number = 0x51;
  sensor.lun = 1;
  const Request reading = SensorRequest(sensor);
  EXPECT_EQ(reading.function, 0x04);
  EXPECT_EQ(reading.command, 0x2D);
  EXPECT_EQ(reading.lun, 1);
  EXPECT_THAT(reading.data, ElementsAre(0x51));
}

TEST(SensorMessages, ParseReservationAndPart_OkAndTruncated) {
  EXPECT_EQ(ParseReservation(std::vector<uint8_t>{0, 0x34, 0x12}).value(), 0x1234);
  EXPECT_EQ(ParseReservation(std::vector<uint8_t>{0, 0x34}).error().kind, ErrorKind::kMalformed);
  const std::vector<uint8_t> answer = {0, 0x02, 0x00, 7, 8};
  const auto part = ParseRecordPart(answer);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->next, 2);
  EXPECT_THAT(part->bytes, ElementsAre(7, 8));
  EXPECT_EQ(ParseRecordPart(Bytes(answer).first(3)).error().kind, ErrorKind::kMalformed);
}

TEST(SensorMessages, ParseSensorReading_Bits_DecideWhetherItCounts) {
  EXPECT_EQ(ParseSensorReading(std::vector<uint8_t>{0, 54, 0xC0}).value(), 54);
  const auto disabled = ParseSensorReading(std::vector<uint8_t>{0, 54, 0x80, 0});
  EXPECT_EQ(disabled.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(disabled.error().message, HasSubstr("does not scan"));
  const auto unavailable = ParseSensorReading(std::vector<uint8_t>{0, 54, 0xE0, 0});
  EXPECT_EQ(unavailable.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(unavailable.error().message, HasSubstr("unavailable"));
  EXPECT_EQ(ParseSensorReading(std::vector<uint8_t>{0, 54}).error().kind, ErrorKind::kMalformed);
  EXPECT_EQ(ParseSensorReading(std::vector<uint8_t>{0xCB}).error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace kepler::energy::platform::ipmi
