#pragma once
// For tests: a BMC with DCMI and sensors behind an IpmiDriver. Speaks the messages of the specification, and has
// faults.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "energy/platform/ipmi/ipmi_driver.h"
#include "testing/fake_clock.h"

namespace kepler::energy::platform::ipmi {

/// A full record of a sensor in watts of the BMC: 4 W per count, entity "system board".
inline std::vector<uint8_t> FullRecord(std::string_view name, uint8_t number = 0x51) {
  std::vector<uint8_t> record(48);
  record[2] = 0x51;  // version 1.5
  record[3] = 0x01;  // full record
  record[4] = static_cast<uint8_t>(43 + name.size());
  record[5] = 0x20;
  record[7] = number;
  record[8] = 0x07;
  record[12] = 0x0B;
  record[13] = 0x01;
  record[21] = 0x06;
  record[24] = 4;
  record[47] = static_cast<uint8_t>(0xC0 | name.size());
  record.insert(record.end(), name.begin(), name.end());
  return record;
}

class SimulatedBmc {
 public:
  struct Sensor {
    uint8_t raw = 0;
    uint8_t state = 0xC0;  // events and scanning enabled
  };

  explicit SimulatedBmc(testing::FakeClock& clock) : clock_(clock) {}

  // What the test changes at any time.
  std::optional<uint16_t> dcmi_watts;  // empty: the BMC has no DCMI
  bool dcmi_is_active = true;
  std::map<uint16_t, std::vector<uint8_t>> records;  // by identifier, which is not in the record
  std::map<uint8_t, Sensor> sensors;                 // by number
  uint8_t code = 0;                                  // of every answer
  std::optional<std::string> garbage;                // the body of every answer
  bool is_silent = false;                            // drops requests
  bool is_slow = false;                              // answers only after the next request
  uint8_t max_part = 0xFF;                           // bytes of a record in one answer; more: code 0xCA
  int cancellations = 0;                             // number of requests that find their reservation cancelled
  std::optional<Error> open_error;                   // of the device
  std::function<void()> on_wait;                     // called while a request waits for its answer

  // What the test checks.
  int requests = 0;
  int opens = 0;
  int open_descriptors = 0;

  /// Adds a sensor with its record.
  void Add(std::string_view name, uint8_t number, uint8_t raw) {
    records[static_cast<uint16_t>(records.size() + 1)] = FullRecord(name, number);
    sensors[number] = {raw};
  }
  /// Removes the device, with all descriptors. The next open succeeds, unless there is an `open_error`.
  void Remove() { ++generation_; }

  [[nodiscard]] IpmiOpener opener() {
    return [this]() -> Result<std::unique_ptr<IpmiDriver>> {
      if (open_error) return std::unexpected(*open_error);
      ++opens;
      return std::make_unique<Descriptor>(*this);
    };
  }

 private:
  class Descriptor final : public IpmiDriver {
   public:
    explicit Descriptor(SimulatedBmc& bmc) : bmc_(bmc), generation_(bmc.generation_) { ++bmc_.open_descriptors; }
    ~Descriptor() override { --bmc_.open_descriptors; }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] Status Send(int64_t number, const Request& request) override {
      if (generation_ != bmc_.generation_) return Fail(ErrorKind::kGone, "send: No such device");
      ++bmc_.requests;
      while (!late_.empty()) {
        arrived_.push_back(std::move(late_.front()));
        late_.pop_front();
      }
      if (bmc_.is_silent) return {};
      Received answer{number, true, static_cast<uint8_t>(request.function | 1), request.command, bmc_.Answer(request)};
      (bmc_.is_slow ? late_ : arrived_).push_back(std::move(answer));
      return {};
    }
    [[nodiscard]] Result<bool> Wait(Nanoseconds time) override {
      if (generation_ != bmc_.generation_) return Fail(ErrorKind::kGone, "wait: No such device");
      if (bmc_.on_wait) bmc_.on_wait();
      if (arrived_.empty()) bmc_.clock_.Advance(time);
      return !arrived_.empty();
    }
    [[nodiscard]] Result<std::optional<Received>> Receive() override {
      if (arrived_.empty()) return std::nullopt;
      Received first = std::move(arrived_.front());
      arrived_.pop_front();
      return first;
    }

   private:
    SimulatedBmc& bmc_;
    int generation_;
    std::deque<Received> arrived_;
    std::deque<Received> late_;
  };

  std::vector<uint8_t> Answer(const Request& request) {
    if (code != 0) return {code};
    if (garbage) {
      std::vector<uint8_t> answer = {0x00};
      answer.insert(answer.end(), garbage->begin(), garbage->end());
      return answer;
    }
    if (request.function == 0x2C && request.command == 0x02) return AnswerDcmi();
    if (request.function == 0x0A && request.command == 0x22) return {0x00, ++reservation_, 0x00};
    if (request.function == 0x0A && request.command == 0x23) return AnswerRecord(request.data);
    if (request.function == 0x04 && request.command == 0x2D) return AnswerSensor(request.data.at(0));
    return {0xC1};
  }
  std::vector<uint8_t> AnswerDcmi() const {
    if (!dcmi_watts) return {0xC1};
    const auto low = static_cast<uint8_t>(*dcmi_watts);
    const auto high = static_cast<uint8_t>(*dcmi_watts >> 8);
    const auto state = static_cast<uint8_t>(dcmi_is_active ? 0x40 : 0x00);
    return {0x00, 0xDC, low, high, low, high, low, high, low, high, 1, 2, 3, 4, 0xE8, 0x03, 0, 0, state};
  }
  std::vector<uint8_t> AnswerRecord(const std::vector<uint8_t>& data) {
    if (cancellations > 0) {
      --cancellations;
      return {0xC5};
    }
    if (data.at(0) != reservation_) return {0xC5};
    const auto id = static_cast<uint16_t>(data.at(2) | data.at(3) << 8);
    const auto found = id == 0 ? records.begin() : records.find(id);
    if (found == records.end()) return {0xCB};
    if (data.at(5) > max_part) return {0xCA};
    const auto next = std::next(found);
    const uint16_t next_id = next == records.end() ? 0xFFFF : next->first;
    std::vector<uint8_t> answer = {0x00, static_cast<uint8_t>(next_id), static_cast<uint8_t>(next_id >> 8)};
    const std::vector<uint8_t>& record = found->second;
    for (size_t i = data.at(4); i < std::min<size_t>(record.size(), size_t{data.at(4)} + data.at(5)); ++i)
      answer.push_back(record[i]);
    return answer;
  }
  std::vector<uint8_t> AnswerSensor(uint8_t number) const {
    const auto sensor = sensors.find(number);
    if (sensor == sensors.end()) return {0xCB};
    return {0x00, sensor->second.raw, sensor->second.state, 0xC0};
  }

  testing::FakeClock& clock_;
  int generation_ = 0;
  uint8_t reservation_ = 0;
};

}  // namespace kepler::energy::platform::ipmi
