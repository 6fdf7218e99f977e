#include "energy/platform/ipmi/sensor_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::energy::platform::ipmi {
namespace {

// Offsets in a full sensor record.
constexpr size_t kOwner = 5;
constexpr size_t kLun = 6;
constexpr size_t kNumber = 7;
constexpr size_t kUnits = 20;
constexpr size_t kBaseUnit = 21;
constexpr size_t kModifierUnit = 22;
constexpr size_t kLinearization = 23;
constexpr size_t kM = 24;
constexpr size_t kB = 26;
constexpr size_t kExponents = 29;
constexpr size_t kNameLength = 47;
constexpr size_t kName = 48;

constexpr uint8_t kWatts = 6;
constexpr uint8_t kNoAnalogReading = 3;

/// Returns the low `bits` of `value` as a two's complement number.
constexpr int Signed(int value, int bits) {
  const int sign = 1 << (bits - 1);
  return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/// A number whose upper two bits are the top bits of the next byte.
int TenBits(Bytes record, size_t offset) { return Signed(record[offset] | (record[offset + 1] & 0xC0) << 2, 10); }

/// Four characters in three bytes, least significant bits first; a character is its code less 0x20.
std::string UnpackSixBits(Bytes packed) {
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  for (const uint8_t byte : packed) {
    bits |= static_cast<unsigned>(byte) << count;
    for (count += 8; count >= 6; count -= 6, bits >>= 6) text += static_cast<char>(0x20 + (bits & 0x3F));
  }
  return text;
}

/// Section 43.15: two bits of encoding, five of length.
std::string NameOf(Bytes record) {
  constexpr uint8_t kSixBits = 2;
  constexpr uint8_t kLatin1 = 3;
  const uint8_t encoding = record[kNameLength] >> 6;
  const Bytes bytes = record.subspan(kName, record[kNameLength] & 0x1F);
  std::string name;
  if (encoding == kLatin1) name.assign(bytes.begin(), std::ranges::find(bytes, uint8_t{0}));
  if (encoding == kSixBits) name = UnpackSixBits(bytes);
  name = LabelText(Trim(name));
  return name.empty() ? fmt::format("sensor {:#04x}", record[kNumber]) : name;
}

}  // namespace

Result<RecordHeader> ParseRecordHeader(Bytes record) {
  if (record.size() < kRecordHeaderBytes)
    return Fail(ErrorKind::kMalformed, fmt::format("a sensor record has {} bytes instead of {} for its header",
                                                   record.size(), kRecordHeaderBytes));
  return RecordHeader{record[3], record[4]};
}

Power PowerSensor::ToPower(uint8_t raw) const {
  int x = raw;
  if (format != RawFormat::kUnsigned) x = Signed(raw, 8);
  if (format == RawFormat::kOnesComplement && x < 0) ++x;
  return Power::Watts((m * x + b * std::pow(10.0, b_exponent)) * std::pow(10.0, exponent));
}

/// A unit per time, a product or quotient of units, and a percentage are no power.
bool IsInWatts(Bytes record) {
  constexpr uint8_t kRateModifierPercentage = 0x3F;
  return record.size() >= kRecordUnitBytes && record[kUnits] >> 6 != kNoAnalogReading &&
         (record[kUnits] & kRateModifierPercentage) == 0 && record[kBaseUnit] == kWatts && record[kModifierUnit] == 0;
}

Result<std::optional<PowerSensor>> ParsePowerSensor(Bytes record) {
  KEPLER_TRY(const RecordHeader header, ParseRecordHeader(record));
  if (!header.is_full()) return std::nullopt;
  const size_t length = std::min(record.size(), kRecordHeaderBytes + header.length);
  if (length < kName || length < kName + (record[kNameLength] & 0x1F))
    return Fail(ErrorKind::kMalformed, fmt::format("a full sensor record is cut after {} bytes", length));
  if (!IsInWatts(record) || (record[kLinearization] & 0x7F) != 0) return std::nullopt;
  PowerSensor sensor;
  sensor.name = NameOf(record);
  sensor.owner = record[kOwner];
  sensor.lun = record[kLun] & 0x03;
  sensor.number = record[kNumber];
  sensor.format = static_cast<RawFormat>(record[kUnits] >> 6);
  sensor.m = TenBits(record, kM);
  sensor.b = TenBits(record, kB);
  sensor.exponent = Signed(record[kExponents] >> 4, 4);
  sensor.b_exponent = Signed(record[kExponents] & 0x0F, 4);
  return sensor;
}

}  // namespace kepler::energy::platform::ipmi
