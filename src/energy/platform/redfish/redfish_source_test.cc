#include "energy/platform/redfish/redfish_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/thread.h"
#include "energy/platform/redfish/fake_bmc.h"
#include "energy/polled_source.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::platform::redfish {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr auto* kPower = "/redfish/v1/Chassis/1/Power";

class RedfishSourceTest : public ::testing::Test {
 protected:
  RedfishSourceTest() { WriteFile("username: kepler, password: geheim"); }
  void WriteFile(const std::string& keys) {
    tree_.Write("bmc.yaml", "nodes: {worker-1: bmc-1}\nbmcs: {bmc-1: {endpoint: 'http://127.0.0.1:" +
                                std::to_string(bmc_.port()) + "', " + keys + "}}\n");
  }
  std::unique_ptr<RedfishSource> Make(std::chrono::milliseconds timeout = 30s) {
    return std::make_unique<RedfishSource>(
        RedfishOptions{.bmc_file = tree_.Path("bmc.yaml"), .node_name = "worker-1", .timeout = timeout},
        testing::Lend(clock_));
  }
  void Open(std::chrono::milliseconds timeout = 30s) {
    source_ = Make(timeout);
    const auto found = source_->Discover();
    ASSERT_TRUE(found) << found.error().message;
    domains_ = *found;
    static_cast<void>(bmc_.TakeRequests());
  }
  /// Watts, or -1 for an error.
  std::vector<double> Read() {
    source_->Read(readings_);
    std::vector<double> watts;
    for (const DomainReading& reading : readings_) {
      const Power* const power = std::get_if<Power>(&reading.value);
      watts.push_back(power != nullptr ? power->watts() : -1);
    }
    return watts;
  }
  const Error& ErrorAt(size_t index) { return std::get<Error>(readings_[index].value); }
  void SetControls(const std::string& entries) { bmc_.Set(kPower, R"({"PowerControl": [)" + entries + "]}"); }

  testing::FakeClock clock_;
  testing::FakeTree tree_;
  FakeBmc bmc_;
  std::unique_ptr<RedfishSource> source_;
  std::vector<Domain> domains_;
  std::vector<DomainReading> readings_;
};

TEST_F(RedfishSourceTest, SensorsWithUpstreamsLabels) {
  Open();
  ASSERT_THAT(domains_, SizeIs(1));
  EXPECT_EQ(domains_[0].zone, "bmc-1/1/PowerControl/0");
  const status::PlatformSensor expected{.bmc_id = "bmc-1",
                                        .chassis_id = "1",
                                        .source_id = "0",
                                        .source_name = "Server",
                                        .source_type = "PowerControl",
                                        .whole = true};
  EXPECT_EQ(domains_[0].sensor, expected);
  EXPECT_THAT(Read(), ElementsAre(300));
  EXPECT_EQ(readings_[0].at, clock_.Now());
}

TEST_F(RedfishSourceTest, EnergyCounter_IsReadWithThePower) {
  bmc_.Set("/redfish/v1/Chassis/1", R"({"Id": "1", "EnvironmentMetrics": {"@odata.id": "/metrics"}})");
  bmc_.Set("/metrics", R"({"PowerWatts": {"Reading": 300}, "EnergykWh": {"Reading": 325.675}})");
  Open();
  EXPECT_THAT(Read(), ElementsAre(300));
  EXPECT_EQ(readings_[0].counter, Energy::Joules(1'172'430'000));
  bmc_.Set("/metrics", R"({"PowerWatts": {"Reading": 300}, "EnergykWh": {"Reading": null}})");
  EXPECT_THAT(Read(), ElementsAre(300));
  EXPECT_EQ(readings_[0].counter, std::nullopt);
}

TEST_F(RedfishSourceTest, EachTurn_FetchesOnlyResourcesWithReadings) {
  SetControls(R"({"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 300},
                 {"MemberId": "1", "Name": "CPU", "PowerConsumedWatts": 120})");
  Open();
  EXPECT_THAT(Read(), ElementsAre(300, 120));
  EXPECT_THAT(Read(), ElementsAre(300, 120));
  EXPECT_THAT(bmc_.TakeRequests(), ElementsAre("GET /redfish/v1/Chassis/1/Power", "GET /redfish/v1/Chassis/1/Power"));
  EXPECT_EQ(bmc_.connections(), 1U);
}

TEST_F(RedfishSourceTest, BadValues_AreErrorsOfTheirSensor) {
  SetControls(R"({"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 300},
                 {"MemberId": "1", "Name": "CPU", "PowerConsumedWatts": 120})");
  Open();
  for (const auto* value : {"null", "-5", "\"n/a\"", "true", "{}"}) {
    SetControls(R"({"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 300},
                   {"MemberId": "1", "Name": "CPU", "PowerConsumedWatts": )" +
                std::string(value) + "}");
    EXPECT_THAT(Read(), ElementsAre(300, -1)) << value;
    EXPECT_THAT(ErrorAt(1).message, HasSubstr("/redfish/v1/Chassis/1/Power#/PowerControl/1: the ")) << value;
  }
  SetControls(R"({"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 300})");
  EXPECT_THAT(Read(), ElementsAre(300, -1));
  EXPECT_EQ(ErrorAt(1).kind, ErrorKind::kNotFound) << "the sensors are searched for again";
  SetControls(R"({"MemberId": "1", "Name": "CPU", "PowerConsumedWatts": "121"},
                 {"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 301.5})");
  EXPECT_THAT(Read(), ElementsAre(301.5, 121)) << "the id counts, not the order";
}

TEST_F(RedfishSourceTest, ZeroWatts_AreNoReadingOfThisMachine) {
  Open();
  bmc_.SetWatts("0");
  EXPECT_THAT(Read(), ElementsAre(-1));
  EXPECT_THAT(ErrorAt(0).message, HasSubstr("the BMC reports 0 W for a machine that is on"));
  SetControls(R"({"MemberId": "0", "Name": "Server", "PowerConsumedWatts": 300},
                 {"MemberId": "1", "Name": "CPU", "PowerConsumedWatts": 0})");
  ASSERT_TRUE(source_->Discover());
  EXPECT_THAT(Read(), ElementsAre(300, 0)) << "a part may be off";
}

TEST_F(RedfishSourceTest, BmcThatHangs_CostsTwoTimeouts) {
  std::string supplies;
  for (const std::string id : {"1", "2", "3", "4"}) {
    supplies += (supplies.empty() ? "" : ",") + (R"({"@odata.id": "/ps/)" + id + R"("})");
    bmc_.Set("/ps/" + id, R"({"PowerInputWatts": 100})");
  }
  bmc_.Set("/ps", R"({"Members": [)" + supplies + "]}");
  bmc_.Set("/subsystem", R"({"PowerSupplies": {"@odata.id": "/ps"}})");
  bmc_.Set("/redfish/v1/Chassis/1", R"({"Id": "1", "PowerSubsystem": {"@odata.id": "/subsystem"}})");
  Open(200ms);
  EXPECT_THAT(Read(), ElementsAre(100, 100, 100, 100));
  for (const std::string id : {"1", "2", "3"})
    bmc_.Break("/ps/" + id, [](testing::PeerConnection&, const std::stop_token& stop) {
      testing::WaitFor(stop);
      return false;
    });
  static_cast<void>(bmc_.TakeRequests());
  EXPECT_THAT(Read(), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(bmc_.TakeRequests(), SizeIs(2));
  EXPECT_EQ(ErrorAt(3).kind, ErrorKind::kTimeout);
  for (const std::string id : {"1", "2"}) bmc_.Set("/ps/" + id, R"({"PowerInputWatts": 90})");
  EXPECT_THAT(Read(), ElementsAre(90, 90, -1, 100)) << "one that hangs leaves the others";
}

TEST_F(RedfishSourceTest, Search_IsRepeated) {
  Open();
  EXPECT_FALSE(source_->HasChanged());
  clock_.Advance(RedfishSource::kSearchPeriod);
  EXPECT_TRUE(source_->HasChanged());
  ASSERT_TRUE(source_->Discover());
  EXPECT_FALSE(source_->HasChanged());
}

TEST_F(RedfishSourceTest, SupplyWithoutValue_IsSearchedForSoonAndDoesNotMakeTheTotal) {
  bmc_.Set("/redfish/v1/Chassis/1", R"({"Id": "1", "PowerSubsystem": {"@odata.id": "/subsystem"}})");
  bmc_.Set("/subsystem", R"({"PowerSupplies": {"@odata.id": "/ps"}})");
  bmc_.Set("/ps", R"({"Members": [{"@odata.id": "/ps/1"}, {"@odata.id": "/ps/2"}]})");
  bmc_.Set("/ps/1", R"({"PowerInputWatts": 100})");
  bmc_.Set("/ps/2", R"({"PowerInputWatts": 90})");
  Open();
  EXPECT_THAT(Read(), ElementsAre(100, 90));
  bmc_.Set("/ps/2", R"({"PowerInputWatts": null})");
  EXPECT_THAT(Read(), ElementsAre(100, -1));
  EXPECT_FALSE(source_->HasChanged());
  clock_.Advance(RedfishSource::kRepairPeriod);
  EXPECT_TRUE(source_->HasChanged());
  domains_ = source_->Discover().value();
  ASSERT_THAT(domains_, SizeIs(1));
  EXPECT_FALSE(domains_[0].sensor->whole);
  EXPECT_THAT(domains_[0].doubt, HasSubstr("these supplies have no reading: 2"));
  EXPECT_THAT(Read(), ElementsAre(100));
  bmc_.Set("/ps/2", R"({"PowerInputWatts": 90})");
  clock_.Advance(RedfishSource::kRepairPeriod);
  EXPECT_TRUE(source_->HasChanged());
  domains_ = source_->Discover().value();
  ASSERT_THAT(domains_, SizeIs(2));
  EXPECT_TRUE(domains_[0].sensor->whole);
}

TEST_F(RedfishSourceTest, FileWithAMistake) {
  tree_.Write("bmc.yaml", "nodes: {worker-2: b}\nbmcs: {b: {endpoint: https://h}}\n");
  source_ = Make();
  const auto missing = source_->Discover();
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("bmc.yaml:1: nodes: has no entry for this node, \"worker-1\""));
  EXPECT_EQ(source_->Discover().error().message, missing.error().message) << "without reading it again";
  WriteFile("username: kepler, password: geheim");
  EXPECT_TRUE(source_->Discover()) << "corrected";
  tree_.Write("bmc.yaml", "nodes: [");
  EXPECT_TRUE(source_->HasChanged());
  EXPECT_TRUE(source_->Discover()) << "the old file stays in use";
  EXPECT_THAT(Read(), ElementsAre(300));
}

TEST_F(RedfishSourceTest, RefusedLogin_WaitsForTheFile) {
  bmc_.Require(FakeBmc::Login::kBasic);
  WriteFile("username: kepler, password: wrong");
  PolledSource polled(Make(), 15s, testing::Lend(clock_));
  for (int i = 0; i < 20; ++i) clock_.Advance(polled.Poll());
  EXPECT_THAT(polled.Discover().error().message, HasSubstr("refused the user name or password"));
  EXPECT_THAT(bmc_.TakeRequests(), ElementsAre("GET /redfish/v1/", "GET /redfish/v1/Chassis"))
      << "the account must not be locked";
  WriteFile("username: kepler, password: geheim");
  clock_.Advance(polled.Poll());
  const auto found = polled.Discover();
  ASSERT_TRUE(found) << found.error().message;
  polled.Read(readings_);
  EXPECT_TRUE(std::holds_alternative<RawCounter>(readings_[0].value));
}

TEST_F(RedfishSourceTest, Session_EndsWithTheSource) {
  bmc_.Require(FakeBmc::Login::kSession);
  WriteFile("username: kepler, password: geheim, auth: session");
  Open();
  EXPECT_THAT(Read(), ElementsAre(300));
  EXPECT_EQ(bmc_.sessions(), 1U);
  WriteFile("username: kepler, password: geheim, auth: session, insecure: false");
  ASSERT_TRUE(source_->Discover());
  EXPECT_EQ(bmc_.max_sessions(), 1U) << "the old one ends before the new one begins";
  source_.reset();
  EXPECT_EQ(bmc_.sessions(), 0U);
}

TEST_F(RedfishSourceTest, HungRequest_DoesNotDelayTheEnd) {
  bmc_.Require(FakeBmc::Login::kSession);
  WriteFile("username: kepler, password: geheim, auth: session");
  std::atomic<bool> hangs = false;
  {
    PolledSource polled(Make(1h), 1ms, std::make_shared<SystemClock>());
    static_cast<void>(polled.Poll());
    ASSERT_TRUE(polled.Discover());
    bmc_.Break(kPower, [&](testing::PeerConnection&, const std::stop_token& stop) {
      hangs = true;
      hangs.notify_all();
      testing::WaitFor(stop);
      return false;
    });
    ASSERT_TRUE(polled.Start());
    hangs.wait(false);
  }
  EXPECT_EQ(ThreadsLeftBehind(), 0U);
  EXPECT_EQ(bmc_.sessions(), 0U) << "the session is deleted all the same";
}

}  // namespace
}  // namespace kepler::energy::platform::redfish
