#include "energy/platform/redfish/bmc_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/platform/redfish/bmc_client_test_util.h"
#include "testing/certificates.h"

namespace kepler::energy::platform::redfish {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(BmcClientTest, Resources_ComeOverOneConnection) {
  bmc_.Require(FakeBmc::Login::kBasic);
  Open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client_->Get(kPower, {}));
  EXPECT_EQ(bmc_.connections(), 1U);
  EXPECT_EQ(bmc_.TakeRequests().size(), 3U);
}

TEST_F(BmcClientTest, WrongPassword_IsSentOnce) {
  bmc_.Require(FakeBmc::Login::kBasic);
  bmc_.ChangePassword();
  Open();
  const Error error = ErrorOf(kPower);
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error.message, AllOf(HasSubstr("BMC bmc-1 refused the user name or password (401"),
                                   HasSubstr("No request is sent until the file changes"), Not(HasSubstr("geheim"))));
  clock_.Advance(24h);
  EXPECT_EQ(ErrorOf(kChassis).message, error.message);
  EXPECT_THAT(bmc_.TakeRequests(), ElementsAre(std::string("GET ") + kPower));
}

TEST_F(BmcClientTest, ForbiddenResource_IsNotRequestedAgain) {
  Open();
  bmc_.Answer(kPower, "403 Forbidden", R"({"error": {"message": "This feature requires a license."}})");
  EXPECT_THAT(ErrorOf(kPower).message, AllOf(HasSubstr("answered 403: This feature"), HasSubstr("needs a licence")));
  bmc_.Answer(kChassis, "403 Forbidden", R"({"error": {"message": "Insufficient privilege"}})");
  EXPECT_THAT(ErrorOf(kChassis).message, HasSubstr("needs the privilege Login"));
  bmc_.SetWatts("1");
  bmc_.Set(kChassis, "{}");
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kInvalid);
  EXPECT_EQ(bmc_.TakeRequests().size(), 2U);
  clock_.Advance(BmcClient::kForbidden);
  EXPECT_TRUE(client_->Get(kChassis, {})) << "a role may have changed";
  EXPECT_FALSE(client_->Get(kPower, {})) << "a licence needs a restart or a new file";
}

TEST_F(BmcClientTest, RetryAfter_IsWaitedFor) {
  Open();
  bmc_.Answer(kPower, "503 Service Unavailable\r\nRetry-After: 30", "{}");
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kUnavailable);
  bmc_.SetWatts("1");
  clock_.Advance(29s);
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("no request for another 1 s"));
  EXPECT_EQ(bmc_.TakeRequests().size(), 1U);
  clock_.Advance(1s);
  EXPECT_TRUE(client_->Get(kPower, {}));
}

TEST_F(BmcClientTest, RetryAfterWithoutEnd_IsLimited) {
  Open();
  bmc_.Answer(kPower, "503 Service Unavailable\r\nRetry-After: 999999999", "{}");
  EXPECT_FALSE(client_->Get(kPower, {}));
  bmc_.SetWatts("1");
  clock_.Advance(BmcClient::kMaxRetryAfter);
  EXPECT_TRUE(client_->Get(kPower, {}));
}

TEST_F(BmcClientTest, BusyWithoutRetryAfter_MayBeRetried) {
  Open();
  bmc_.Answer(kPower, "503 Service Unavailable", "busy");
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kUnavailable);
  bmc_.SetWatts("1");
  EXPECT_TRUE(client_->Get(kPower, {}));
}

TEST_F(BmcClientTest, OtherAnswers_AreErrorsOfTheResource) {
  Open();
  EXPECT_EQ(ErrorOf("/none").kind, ErrorKind::kNotFound);
  bmc_.Answer(kPower, "500 Internal Server Error", R"({"error": {"message": "oops"}})");
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kIo);
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("/redfish/v1/Chassis/1/Power answered 500: oops"));
  bmc_.Answer(kPower, "308 Permanent Redirect\r\nLocation: https://elsewhere/redfish/v1/x", "");
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kInvalid);
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("redirects to https://elsewhere/redfish/v1/x"));
  for (const auto* text : {"", "{", "<html>Login</html>", "{\"a\": 1} x"}) {
    bmc_.Set(kPower, text);
    EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kMalformed) << text;
  }
  EXPECT_TRUE(client_->Get(kChassis, {}));
}

TEST_F(BmcClientTest, HugeAnswer_IsRefused) {
  Open();
  bmc_.Set(kPower, "[" + std::string(10'000'000, ' ') + "]");
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kInvalid);
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("more than 1048576 bytes"));
  std::string many = "[{}";
  for (size_t i = 0; i < BmcClient::kMaxValues; ++i) many += ",{}";
  bmc_.Set(kPower, many + "]");
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kMalformed);
  EXPECT_TRUE(client_->Get(kChassis, {}));
}

TEST_F(BmcClientTest, EndlessBody_IsRefused) {
  Open();
  bmc_.Break(kPower, [](testing::PeerConnection& client, const std::stop_token& stop) {
    client.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (!stop.stop_requested() && client.Send("400\r\n" + std::string(1024, ' ') + "\r\n")) {
    }
    return false;
  });
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kInvalid);
  EXPECT_TRUE(client_->Get(kChassis, {}));
}

TEST_F(BmcClientTest, SlowAndCutAnswers) {
  Open(Auth::kBasic, 200ms);
  bmc_.Break(kPower, [](testing::PeerConnection& client, const std::stop_token& stop) {
    client.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
    testing::WaitFor(stop);
    return false;
  });
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kTimeout);
  bmc_.Break(kPower, [](testing::PeerConnection& client, const std::stop_token&) {
    client.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
    return false;
  });
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(client_->Get(kChassis, {}));
}

TEST_F(BmcClientTest, Stop_EndsARequest) {
  BmcAccess access = Access();
  BmcClient patient(access, 1h, testing::Lend(clock_));
  std::stop_source source;
  bmc_.Break(kPower, [&](testing::PeerConnection&, const std::stop_token& stop) {
    source.request_stop();
    testing::WaitFor(stop);
    return false;
  });
  const auto got = patient.Get(kPower, source.get_token());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::kUnavailable);
}

TEST_F(BmcClientTest, UnknownCertificate_NamesTheRemedy) {
  const auto authority = testing::MakeAuthority("bmc");
  const auto leaf = testing::MakeLeaf(authority, "server", "IP:127.0.0.1");
  FakeBmc secure({.cert = leaf.cert, .key = leaf.key});
  BmcAccess access = Access();
  access.peer = {.host = "127.0.0.1", .port = secure.port(), .ca = testing::MakeAuthority("other").cert};
  BmcClient wary(access, 5s, testing::Lend(clock_));
  const auto got = wary.Get(kPower, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(got.error().message, HasSubstr("set caFile in the BMC file"));
  access.peer.ca = authority.cert;
  BmcClient sure(access, 5s, testing::Lend(clock_));
  const auto trusted = sure.Get(kPower, {});
  EXPECT_TRUE(trusted) << trusted.error().message;
}

}  // namespace
}  // namespace kepler::energy::platform::redfish
