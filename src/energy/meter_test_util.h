// A Meter on top of a scripted source, with a fake clock.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "energy/meter.h"
#include "energy/scripted_source.h"
#include "testing/fake_clock.h"

namespace kepler::energy {

inline constexpr uint64_t kRange = 262'143'328'850;
inline const Error kIoError{ErrorKind::kIo, "read energy_uj: Input/output error"};
inline const Error kGoneError{ErrorKind::kGone, "read energy_uj: No such device"};

inline RawCounter Uj(uint64_t microjoules) { return {microjoules}; }
inline Energy Joules(int64_t joules) { return Energy::Joules(joules); }

inline Domain Package(int socket = 0) {
  const std::string n = std::to_string(socket);
  return {"package", "/s/class/powercap/intel-rapl:" + n, "package@" + n, kRange, {}, {}};
}

class MeterTest : public ::testing::Test {
 protected:
  Meter& Open() {
    meter_ = std::make_unique<Meter>(std::make_unique<ScriptedSource>(script_, clock_), clock_,
                                     [this] { return suspended_; });
    const Status status = meter_->Open();
    EXPECT_TRUE(status) << status.error().message;
    return *meter_;
  }
  /// One interval: time passes, then the meter looks.
  const ZoneDelta& After(Nanoseconds time) {
    clock_.Advance(time);
    meter_->Sample();
    return meter_->deltas()[0];
  }

  testing::FakeClock clock_;
  Nanoseconds suspended_{0};  // time that the machine was suspended
  Script script_;
  std::unique_ptr<Meter> meter_;
};

}  // namespace kepler::energy
