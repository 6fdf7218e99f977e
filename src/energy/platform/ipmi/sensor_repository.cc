#include "energy/platform/ipmi/sensor_repository.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "energy/platform/ipmi/sensor_messages.h"

namespace kepler::energy::platform::ipmi {
namespace {

constexpr uint8_t kBmcAddress = 0x20;
constexpr int kMaxRecords = 4'096;
constexpr int kMaxReservations = 5;
constexpr std::chrono::minutes kMaxSearch{1};
/// All BMCs accept this: the KCS interface has messages of up to 40 bytes.
constexpr size_t kMaxPart = 18;
constexpr size_t kMinPart = 4;

/// One pass over the repository under one reservation.
class Walk {
 public:
  explicit Walk(BmcLink& link) : link_(link), begin_(link.clock().Now()) {}

  /// Empty if the reservation was cancelled.
  Result<std::optional<PowerSensors>> Run() {
    KEPLER_TRY(const Bytes answer, link_.Ask(ReserveRequest()));
    const auto reservation = ParseReservation(answer);
    if (!reservation) return FailAt("reserve the sensor records", reservation.error());
    reservation_ = *reservation;
    PowerSensors found;
    uint16_t record = kFirstRecord;
    for (int count = 0; count < kMaxRecords; ++count) {
      const Status read = ReadRecord(record, found);
      if (is_cancelled_) return std::nullopt;
      if (!read) return FailAt(fmt::format("read sensor record {:#06x}", record), read.error());
      if (next_ == kNoRecord) return found;
      record = next_;
      if (link_.clock().Now() - begin_ > kMaxSearch)
        return FailAt("read the sensor records",
                      {ErrorKind::kTimeout, "the BMC did not send all records within a minute"});
    }
    return FailAt("read the sensor records", {ErrorKind::kMalformed, fmt::format("more than {}", kMaxRecords)});
  }

 private:
  std::unexpected<Error> FailAt(std::string_view what, const Error& error) const {
    return Fail(error.kind, fmt::format("{}: {}: {}", link_.path(), what, error.message));
  }

  Status ReadRecord(uint16_t id, PowerSensors& found) {
    record_.clear();
    KEPLER_CHECK_OK(ReadUntil(id, kRecordHeaderBytes));
    KEPLER_TRY(const RecordHeader header, ParseRecordHeader(record_));
    const size_t size = kRecordHeaderBytes + header.length;
    if (!header.is_full() || size < kRecordUnitBytes) return {};
    KEPLER_CHECK_OK(ReadUntil(id, kRecordUnitBytes));
    if (!IsInWatts(record_)) return {};
    KEPLER_CHECK_OK(ReadUntil(id, size));
    auto sensor = ParsePowerSensor(record_);
    if (!sensor)
      found.left_out.push_back(fmt::format("record {:#06x}: {}", id, sensor.error().message));
    else if (!*sensor)
      found.left_out.push_back(fmt::format("record {:#06x}: its formula is not linear", id));
    else if ((*sensor)->owner != kBmcAddress)
      found.left_out.push_back(
          fmt::format("{}: belongs to the controller {:#04x}, not to the BMC", (*sensor)->name, (*sensor)->owner));
    else
      found.list.push_back(**std::move(sensor));
    return {};
  }

  /// Extends record_ to `size` bytes.
  Status ReadUntil(uint16_t id, size_t size) {
    while (record_.size() < size) {
      const size_t count = std::min(size - record_.size(), part_);
      KEPLER_TRY(const Bytes answer, link_.Ask(RecordRequest(reservation_, id, static_cast<uint8_t>(record_.size()),
                                                             static_cast<uint8_t>(count))));
      is_cancelled_ = CodeOf(answer) == kReservationCancelled;
      if (CodeOf(answer) == kTooManyBytes && part_ > kMinPart) {
        part_ = std::max(part_ / 2, kMinPart);
        continue;
      }
      KEPLER_TRY(const RecordPart part, ParseRecordPart(answer));
      const Bytes bytes = part.bytes.first(std::min(part.bytes.size(), count));
      record_.insert(record_.end(), bytes.begin(), bytes.end());
      next_ = part.next;
    }
    return {};
  }

  BmcLink& link_;
  BootTime begin_;
  size_t part_ = kMaxPart;
  uint16_t reservation_ = 0;
  bool is_cancelled_ = false;
  uint16_t next_ = kNoRecord;
  std::vector<uint8_t> record_;
};

/// Returns the letters and digits of the name in lower case, so that "Sys_Power" and "SYS POWER" are the same.
std::string Condensed(std::string_view name) {
  std::string text = ToLowerAscii(name);
  std::erase_if(text, [](char c) { return !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'); });
  return text;
}

bool ContainsAny(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Parts of the machine, and statistics or limits instead of a measurement.
constexpr std::array<std::string_view, 18> kNotWhole = {"cpu", "mem",  "dimm", "dram",  "fan", "gpu",
                                                        "hdd", "disk", "pcie", "psu",   "ps1", "ps2",
                                                        "max", "min",  "peak", "limit", "cap", "vr"};
/// Dell "System Level" and "Pwr Consumption", Lenovo "Sys Power", Inspur "Total_Power", HPE "Power Meter", Cisco
/// "POWER_USAGE", Fujitsu "Total Power".
constexpr std::array<std::string_view, 7> kWhole = {"sys",     "total",      "consumption", "server",
                                                    "chassis", "powermeter", "powerusage"};

}  // namespace

Result<PowerSensors> FindPowerSensors(BmcLink& link) {
  Walk walk(link);
  for (int i = 0; i < kMaxReservations; ++i) {
    KEPLER_TRY(auto found, walk.Run());
    if (found) return *std::move(found);
  }
  return Fail(ErrorKind::kUnavailable,
              fmt::format("{}: the sensor records changed {} times while they were read; it is retried", link.path(),
                          kMaxReservations));
}

std::optional<size_t> WholeMachine(std::span<const PowerSensor> sensors) {
  std::vector<std::string> names;
  for (const PowerSensor& sensor : sensors) names.push_back(Condensed(sensor.name));
  const auto named = std::ranges::find_if(
      names, [](const std::string& name) { return ContainsAny(name, kWhole) && !ContainsAny(name, kNotWhole); });
  if (named != names.end()) return static_cast<size_t>(named - names.begin());
  if (names.size() == 1 && !ContainsAny(names[0], kNotWhole)) return 0;
  return std::nullopt;
}

}  // namespace kepler::energy::platform::ipmi
