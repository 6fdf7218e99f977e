// Sessions of BmcClient.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "energy/platform/redfish/bmc_client_test_util.h"

namespace kepler::energy::platform::redfish {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BmcSessionTest : public BmcClientTest {
 protected:
  BmcSessionTest() { bmc_.Require(FakeBmc::Login::kSession); }
};

TEST_F(BmcSessionTest, Session_IsMadeOnceAndDeleted) {
  Open(Auth::kSession);
  ASSERT_TRUE(client_->Get(kPower, {}));
  ASSERT_TRUE(client_->Get(kPower, {}));
  EXPECT_THAT(bmc_.TakeRequests(), ElementsAre("GET /redfish/v1/", "POST /redfish/v1/SessionService/Sessions",
                                               "GET /redfish/v1/Chassis/1/Power", "GET /redfish/v1/Chassis/1/Power"));
  EXPECT_EQ(bmc_.sessions(), 1U);
  client_.reset();
  EXPECT_EQ(bmc_.sessions(), 0U);
  EXPECT_THAT(bmc_.TakeRequests(), ElementsAre("DELETE /redfish/v1/SessionService/Sessions/1"));
}

TEST_F(BmcSessionTest, ExpiredSession_IsReplaced) {
  Open(Auth::kSession);
  ASSERT_TRUE(client_->Get(kPower, {}));
  clock_.Advance(30min);
  bmc_.ExpireSessions();
  static_cast<void>(bmc_.TakeRequests());
  ASSERT_TRUE(client_->Get(kPower, {}));
  EXPECT_THAT(bmc_.TakeRequests(),
              ElementsAre("GET /redfish/v1/Chassis/1/Power", "DELETE /redfish/v1/SessionService/Sessions/1",
                          "POST /redfish/v1/SessionService/Sessions", "GET /redfish/v1/Chassis/1/Power"));
  EXPECT_EQ(bmc_.max_sessions(), 1U);
}

TEST_F(BmcSessionTest, SessionThatEndsAtOnce_IsNotReplacedAtOnce) {
  Open(Auth::kSession);
  ASSERT_TRUE(client_->Get(kPower, {}));
  bmc_.ExpireSessions();
  static_cast<void>(bmc_.TakeRequests());
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kUnavailable);
  EXPECT_EQ(ErrorOf(kPower).kind, ErrorKind::kUnavailable);
  EXPECT_THAT(bmc_.TakeRequests(), ElementsAre("GET /redfish/v1/Chassis/1/Power"));
  clock_.Advance(BmcClient::kLoginPause);
  EXPECT_TRUE(client_->Get(kPower, {}));
}

TEST_F(BmcSessionTest, SessionThatCannotBeDeleted_PreventsAnotherOne) {
  Open(Auth::kSession);
  ASSERT_TRUE(client_->Get(kPower, {}));
  clock_.Advance(30min);
  bmc_.Answer(kPower, "401 Unauthorized", "{}");
  const std::string session = "/redfish/v1/SessionService/Sessions/1";
  bmc_.Break(session, [](testing::PeerConnection& client, const std::stop_token&) {
    return client.Send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("cannot delete the session"));
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("cannot delete the session"));
  EXPECT_EQ(bmc_.max_sessions(), 1U);
  bmc_.Set(session, "{}");
  bmc_.SetWatts("300");
  EXPECT_TRUE(client_->Get(kPower, {}));
  EXPECT_EQ(bmc_.max_sessions(), 1U);
}

TEST_F(BmcSessionTest, TooBusyToDeleteASession_PreventsAnotherOne) {
  Open(Auth::kSession);
  ASSERT_TRUE(client_->Get(kPower, {}));
  clock_.Advance(30min);
  bmc_.Answer(kPower, "401 Unauthorized", "{}");
  const std::string session = "/redfish/v1/SessionService/Sessions/1";
  for (const std::string status : {"408 Request Timeout", "429 Too Many Requests"}) {
    bmc_.Break(session, [status](testing::PeerConnection& client, const std::stop_token&) {
      return client.Send("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n");
    });
    EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("cannot delete the session"));
  }
  EXPECT_EQ(bmc_.max_sessions(), 1U);
  bmc_.Set(session, "{}");
  bmc_.SetWatts("300");
  EXPECT_TRUE(client_->Get(kPower, {}));
}

TEST_F(BmcSessionTest, StopDuringTheLogin_LeavesNoSession) {
  Open(Auth::kSession);
  std::atomic<bool> is_posted = false;
  std::atomic<bool> is_stopped = false;
  bmc_.Break("/redfish/v1/SessionService/Sessions", [&](testing::PeerConnection& client, const std::stop_token&) {
    is_posted = true;
    is_posted.notify_all();
    is_stopped.wait(false);
    return client.Send(
        "HTTP/1.1 201 Created\r\nX-Auth-Token: t\r\nLocation: /redfish/v1/SessionService/Sessions/77\r\n"
        "Content-Length: 2\r\n\r\n{}");
  });
  std::stop_source stop;
  std::jthread reader([&] { EXPECT_FALSE(client_->Get(kPower, stop.get_token())); });
  is_posted.wait(false);
  stop.request_stop();
  is_stopped = true;
  is_stopped.notify_all();
  reader.join();
  client_.reset();
  EXPECT_THAT(bmc_.TakeRequests(), ElementsAre("GET /redfish/v1/", "POST /redfish/v1/SessionService/Sessions",
                                               "DELETE /redfish/v1/SessionService/Sessions/77"));
}

TEST_F(BmcSessionTest, FormerClientsSession_IsGoneBeforeTheNextLogin) {
  Open(Auth::kSession);
  ASSERT_TRUE(client_->Get(kPower, {}));
  const std::string session = "/redfish/v1/SessionService/Sessions/1";
  bmc_.Break(session, [](testing::PeerConnection& client, const std::stop_token&) {
    return client.Send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
  });
  auto former = std::move(client_);
  Open(Auth::kSession);
  client_->Replace(*former);
  former.reset();
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("cannot delete the session"));
  bmc_.Set(session, "{}");
  EXPECT_TRUE(client_->Get(kPower, {}));
  EXPECT_EQ(bmc_.max_sessions(), 1U);
}

TEST_F(BmcSessionTest, WrongPasswordOfASession_IsSentOnce) {
  bmc_.ChangePassword();
  Open(Auth::kSession);
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("refused the user name or password (401 for a new session)"));
  static_cast<void>(bmc_.TakeRequests());
  EXPECT_FALSE(client_->Get(kPower, {}));
  EXPECT_THAT(bmc_.TakeRequests(), IsEmpty());
}

TEST_F(BmcSessionTest, LimitOfSessions_MayPass) {
  Open(Auth::kSession);
  const std::string sessions = "/redfish/v1/SessionService/Sessions";
  const auto refuse = [](const std::string& status, const std::string& body) {
    return [=](testing::PeerConnection& client, const std::stop_token&) {
      return client.Send("HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                         body);
    };
  };
  bmc_.Break(sessions, refuse("400 Bad Request", R"({"error": {"message": "SessionLimitExceeded"}})"));
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("too many sessions"));
  bmc_.Break(sessions, refuse("404 Not Found", ""));
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("set auth to basic"));
  bmc_.Break(sessions, refuse("201 Created", "{}"));
  EXPECT_THAT(ErrorOf(kPower).message, HasSubstr("without X-Auth-Token"));
  bmc_.Set(sessions, "{}");
  EXPECT_TRUE(client_->Get(kPower, {}));
}

}  // namespace
}  // namespace kepler::energy::platform::redfish
