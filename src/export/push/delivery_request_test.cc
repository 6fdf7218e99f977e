#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "export/push/delivery_test_util.h"
#include "testing/certificates.h"

namespace kepler::push {
namespace {

using namespace std::chrono_literals;
using kepler::testing::PeerConnection;
using kepler::testing::ScriptedPeer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(DeliveryTest, Stop_EndsTheAttemptAndCountsNothing) {
  Open();
  Answer("hang");
  delivery_->Add(Body("one"));
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (server_.calls() == 0) std::this_thread::yield();
    stop.request_stop();
  });
  delivery_->Attempt(stop.get_token());
  EXPECT_EQ(Failures(PushFailure::kConnection), 0U);
  EXPECT_EQ(delivery_->status().queued_requests, 1U);
}

TEST_F(DeliveryTest, Secrets_AreReadBeforeEachAttemptAndNotLogged) {
  std::string tenant;
  target_.add_secrets = [&](http::client::Peer&, http::client::ClientRequest& request) -> Status {
    if (tenant.empty()) return Fail(ErrorKind::kIo, "no file");
    request.headers.emplace_back("X-Scope-OrgID", tenant);
    return {};
  };
  Open();
  delivery_->Add(Body("one"));
  EXPECT_EQ(Attempt(), 1s);
  EXPECT_EQ(Failures(PushFailure::kSetup), 1U);
  tenant = "s3cret-tenant";
  Answer("HTTP/1.1 400 Bad Request\r\nContent-Length: 23\r\n\r\nunknown s3cret-tenant !");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Attempt(), std::nullopt);
  const std::string logged = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(heads_.back(), HasSubstr("X-Scope-OrgID: s3cret-tenant\r\n"));
  EXPECT_THAT(logged, HasSubstr("answered 400: unknown"));
  EXPECT_THAT(logged, Not(HasSubstr("s3cret")));
}

TEST_F(DeliveryTest, SecretInALongAnswer_IsNotLoggedInPart) {
  target_.add_secrets = [](http::client::Peer&, http::client::ClientRequest& request) -> Status {
    request.headers.emplace_back("X-Api-Key", "s3cret-key-of-a-tenant");
    return {};
  };
  Open();
  delivery_->Add(Body("one"));
  const std::string text = std::string(190, 'x') + "s3cret-key-of-a-tenant";
  Answer(fmt::format("HTTP/1.1 400 Bad Request\r\nContent-Length: {}\r\n\r\n{}", text.size(), text));
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), AllOf(HasSubstr("xxx<hidden>"), Not(HasSubstr("s3c"))));
}

TEST_F(DeliveryTest, SecretInAPartialSuccess_IsNotLogged) {
  target_.add_secrets = [](http::client::Peer&, http::client::ClientRequest& request) -> Status {
    request.headers.emplace_back("X-Api-Key", "s3cret-key");
    return {};
  };
  target_.read_receipt = [](std::string_view) {
    return Receipt{.rejected_points = 1, .message = "s3cret-key is over its limit"};
  };
  Open();
  delivery_->Add(Body("one"));
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("1 data points rejected: <hidden> is over its limit"));
}

TEST_F(DeliveryTest, NumberOfATenant_DoesNotChangeTheUrlAndTheStatus) {
  target_.add_secrets = [](http::client::Peer&, http::client::ClientRequest& request) -> Status {
    request.headers.emplace_back("X-Scope-OrgID", "0");
    return {};
  };
  Open();
  delivery_->Add(Body("one"));
  Answer("HTTP/1.1 400 Bad Request\r\nContent-Length: 8\r\n\r\ntenant 0");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr(fmt::format("http://127.0.0.1:{} answered 400: tenant 0", server_.port())));
}

TEST_F(DeliveryTest, Certificates_AreReadBeforeEachAttempt) {
  const auto authority = testing::MakeAuthority("new");
  const auto leaf = testing::MakeLeaf(authority, "server", "IP:127.0.0.1");
  const ScriptedPeer server(
      [](PeerConnection& client, const std::stop_token&) {
        if (client.ReadHead() && client.ReadBytes(3) == "one") client.Send(kOk);
      },
      {.cert = leaf.cert, .key = leaf.key});
  std::string ca = testing::MakeAuthority("old").cert;
  target_.peer = {.host = "127.0.0.1", .port = server.port()};
  target_.add_secrets = [&](http::client::Peer& peer, http::client::ClientRequest&) -> Status {
    peer.ca = ca;
    return {};
  };
  Open();
  delivery_->Add(Body("one"));
  EXPECT_EQ(Attempt(), 1s);
  EXPECT_EQ(Failures(PushFailure::kCertificate), 1U);
  ca = authority.cert;
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(delivery_->status().requests, 1U);
}

TEST_F(DeliveryTest, OtherProtocol_SendsAndDescribes) {
  unsigned status = 503;
  target_.send = [&](const http::client::Peer&, const http::client::ClientRequest& request,
                     const http::client::OnPiece& take, const std::stop_token&) -> Result<http::client::Answer> {
    received_.push_back(*std::get<http::client::SharedText>(request.body));
    if (status == 200) KEPLER_CHECK_OK(take("done"));
    return http::client::Answer{.status = status, .body = "UNAVAILABLE: no backend", .retry_after = "7"};
  };
  std::string read;
  target_.read_receipt = [&](std::string_view answer) -> Result<Receipt> {
    read = answer;
    return Receipt{};
  };
  Open();
  delivery_->Add(Body("one"));
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Attempt(), 7s);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("answered UNAVAILABLE: no backend"));
  EXPECT_EQ(Failures(PushFailure::kThrottled), 1U);
  status = 200;
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(read, "done");
  EXPECT_THAT(received_, ElementsAre("one", "one"));
  EXPECT_EQ(delivery_->status().points, 1U);
}

}  // namespace
}  // namespace kepler::push
