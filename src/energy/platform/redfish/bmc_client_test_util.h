#pragma once
// Fixture for the tests of BmcClient.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "energy/platform/redfish/bmc_client.h"
#include "energy/platform/redfish/fake_bmc.h"
#include "testing/fake_clock.h"

namespace kepler::energy::platform::redfish {

inline constexpr auto* kPower = "/redfish/v1/Chassis/1/Power";
inline constexpr auto* kChassis = "/redfish/v1/Chassis/1";

class BmcClientTest : public ::testing::Test {
 protected:
  BmcAccess Access(Auth auth = Auth::kBasic) const {
    BmcAccess access;
    access.id = "bmc-1";
    access.peer = {.tls = false, .host = "127.0.0.1", .port = bmc_.port()};
    access.username = FakeBmc::kUser;
    access.password = FakeBmc::kPassword;
    access.auth = auth;
    return access;
  }
  void Open(Auth auth = Auth::kBasic, std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
    client_ = std::make_unique<BmcClient>(Access(auth), timeout, testing::Lend(clock_));
  }
  Error ErrorOf(const std::string& uri) {
    auto got = client_->Get(uri, {});
    return got ? Error{ErrorKind::kIo, "no error"} : got.error();
  }

  testing::FakeClock clock_;
  FakeBmc bmc_;
  std::unique_ptr<BmcClient> client_;
};

}  // namespace kepler::energy::platform::redfish
