#include "export/push/delivery.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "base/small_file.h"
#include "export/push/request_test_util.h"
#include "testing/certificates.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/scripted_peer.h"

namespace kepler::push {
namespace {

using namespace std::chrono_literals;
using kepler::testing::PeerConnection;
using kepler::testing::ScriptedPeer;
using status::PushDrop;
using status::PushFailure;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server that gives the present answer to each request and keeps the bodies, and a delivery to it.
class DeliveryTest : public ::testing::Test {
 protected:
  DeliveryTest() { target_.peer = {.tls = false, .host = "127.0.0.1", .port = server_.port()}; }

  Delivery& Open(uint64_t max_bytes = 100, std::string directory = "") {
    DeliveryOptions options{.queue = {.max_bytes = max_bytes, .directory = std::move(directory)}};
    options.retry.jitter = 0;
    delivery_ = std::make_unique<Delivery>(target_, std::move(options), clock_);
    return *delivery_;
  }
  void Answer(std::string text) {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(text);
  }
  /// Sends the oldest request; returns the time until the next attempt.
  std::optional<Nanoseconds> Attempt(const std::stop_token& stop = {}) {
    delivery_->Attempt(stop);
    const auto next = delivery_->next_attempt();
    return next ? std::optional(*next - clock_.Now()) : std::nullopt;
  }
  uint64_t Failures(PushFailure failure) { return delivery_->status().failures[static_cast<size_t>(failure)]; }
  uint64_t Dropped(PushDrop reason) { return delivery_->status().dropped_points[static_cast<size_t>(reason)]; }
  std::vector<std::string> Received() {
    const std::scoped_lock lock(mutex_);
    return received_;
  }

  testing::FakeClock clock_;
  std::mutex mutex_;
  std::string answer_{kOk};
  std::vector<std::string> received_, heads_;
  ScriptedPeer server_{[this](PeerConnection& client, const std::stop_token& stop) {
    const auto head = client.ReadHead();
    if (!head) return;
    constexpr std::string_view kLength = "Content-Length: ";
    const size_t size = std::stoul(head->substr(head->find(kLength) + kLength.size()));
    const std::string body = client.ReadBytes(size);
    std::string answer;
    {
      const std::scoped_lock lock(mutex_);
      heads_.push_back(*head);
      received_.push_back(body);
      answer = answer_;
    }
    if (answer == "hang") return kepler::testing::WaitFor(stop);
    const bool is_endless = answer.ends_with("...");
    while (client.Send(answer) && is_endless) answer = std::string(10'000, 'x');
  }};
  Target target_{.exporter = "otlp", .request = {.target = "/v1/metrics", .deadlines = {.total = 30s}}};
  std::unique_ptr<Delivery> delivery_;
};

TEST_F(DeliveryTest, AcceptedRequests_LeaveInOrderAndAreCounted) {
  Open();
  EXPECT_EQ(delivery_->next_attempt(), std::nullopt);
  delivery_->Add(Body("one", 3));
  delivery_->Add(Body("two", 4));
  EXPECT_EQ(delivery_->status().queued_bytes, 6U);
  EXPECT_LE(Attempt(), 0ns) << "the next one follows at once";
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_THAT(Received(), ElementsAre("one", "two"));
  const status::PushStatus status = delivery_->status();
  EXPECT_EQ(status.requests, 2U);
  EXPECT_EQ(status.points, 7U);
  EXPECT_EQ(status.queued_requests, 0U);
  EXPECT_EQ(status.queued_bytes, 0U);
  EXPECT_EQ(status.last_success, clock_.Wall());
}

TEST_F(DeliveryTest, FullQueue_DropsTheOldestAndCountsItsPoints) {
  Open(10);
  delivery_->Add(Body("12345", 10));
  delivery_->Add(Body("1234", 200));
  delivery_->Add(Body("new", 3000));
  EXPECT_EQ(Dropped(PushDrop::kQueueFull), 10U);
  delivery_->Add(Body("larger than all", 40000));
  EXPECT_EQ(Dropped(PushDrop::kQueueFull), 40010U) << "itself only";
  EXPECT_EQ(delivery_->status().queued_bytes, 7U);
}

TEST_F(DeliveryTest, RequestsOfAnEarlierProcess_AreSentFirst_DamagedOnesAreCounted) {
  testing::FakeTree tree;
  const std::string queue = tree.Path("queue");
  const auto start = [&] {
    delivery_.reset();
    DeliveryOptions options{.queue = {.directory = queue, .encoding = "otlp"}};
    delivery_ = std::make_unique<Delivery>(target_, std::move(options), clock_);
    delivery_->Open();
  };
  start();
  for (const char* body : {"one", "two", "three"}) delivery_->Add(Body(body, 5));
  std::string content = ReadSmallFile(queue + "/" + FileName(1)).value();
  content.back() = '!';
  tree.Write("queue/" + FileName(1), content);
  start();
  EXPECT_EQ(delivery_->status().queued_requests, 3U);
  EXPECT_EQ(delivery_->status().queued_bytes, 11U);
  delivery_->Add(Body("four", 6));
  while (delivery_->next_attempt()) EXPECT_LE(Attempt().value_or(0ns), 0ns);
  EXPECT_THAT(Received(), ElementsAre("two", "three", "four"));
  EXPECT_EQ(delivery_->status().points, 16U);
  EXPECT_EQ(Failures(PushFailure::kFile), 1U);
  EXPECT_EQ(Dropped(PushDrop::kFile), 5U);
  start();
  EXPECT_EQ(delivery_->next_attempt(), std::nullopt);
}

TEST_F(DeliveryTest, OnlyDamagedRequests_LeaveNothingToSend) {
  testing::FakeTree tree;
  DeliveryOptions options{.queue = {.directory = tree.Path("queue"), .encoding = "otlp"}};
  delivery_ = std::make_unique<Delivery>(target_, options, clock_);
  delivery_->Open();
  for (const char* body : {"one", "two"}) delivery_->Add(Body(body));
  delivery_ = nullptr;
  delivery_ = std::make_unique<Delivery>(target_, options, clock_);
  delivery_->Open();
  for (const uint64_t number : {1U, 2U}) tree.Write("queue/" + FileName(number), "damaged");
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_THAT(Received(), ElementsAre());
  EXPECT_EQ(Dropped(PushDrop::kFile), 2U);
}

#ifndef KEPLER_UBSAN  // the sanitizer itself needs descriptors
TEST_F(DeliveryTest, AFileThatCannotBeReadNow_IsRetriedLater) {
  testing::FakeTree tree;
  DeliveryOptions options{.queue = {.directory = tree.Path("queue"), .encoding = "otlp"}};
  options.retry.jitter = 0;
  const auto start = [&] {
    delivery_.reset();
    delivery_ = std::make_unique<Delivery>(target_, options, clock_);
    delivery_->Open();
  };
  start();
  for (const char* body : {"one", "two"}) delivery_->Add(Body(body));
  start();
  {
    const NoDescriptors none;
    EXPECT_EQ(Attempt(), 1s);
    EXPECT_EQ(Attempt(), 2s);
  }
  EXPECT_EQ(Failures(PushFailure::kFile), 2U);
  EXPECT_EQ(Dropped(PushDrop::kFile), 0U);
  while (delivery_->next_attempt()) static_cast<void>(Attempt());
  EXPECT_THAT(Received(), ElementsAre("one", "two"));
}
#endif

TEST_F(DeliveryTest, NoServer_RetriesLaterAndLaterUntilItAnswers) {
  const auto port = target_.peer.port;
  target_.peer.port = 1;
  Open();
  delivery_->Add(Body("one"));
  for (const Nanoseconds delay : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) EXPECT_EQ(Attempt(), delay);
  EXPECT_EQ(Failures(PushFailure::kConnection), 7U);
  EXPECT_EQ(delivery_->status().queued_requests, 1U);
  target_.peer.port = port;
}

TEST_F(DeliveryTest, Throttled_WaitsAsTheServerSays) {
  Open();
  delivery_->Add(Body("one"));
  Answer("HTTP/1.1 429 Too Many\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Attempt(), 120s);
  Answer("HTTP/1.1 503 Unavailable\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Attempt(), 600s);
  Answer("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Attempt(), 4s);
  EXPECT_EQ(Failures(PushFailure::kThrottled), 2U);
  EXPECT_EQ(Failures(PushFailure::kServer), 1U);
  Answer(std::string(kOk));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_THAT(Received(), ElementsAre("one", "one", "one", "one"));
}

TEST_F(DeliveryTest, Refused_IsDroppedAndTheNextRequestFollows) {
  Open();
  delivery_->Add(Body("bad", 7));
  delivery_->Add(Body("good", 8));
  for (const std::string_view status : {"400 Bad Request", "500 Internal"}) {
    Answer("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 3\r\n\r\nwhy");
    static_cast<void>(Attempt());
  }
  EXPECT_EQ(Dropped(PushDrop::kRefused), 15U);
  EXPECT_EQ(Failures(PushFailure::kRefused), 1U);
  EXPECT_EQ(Failures(PushFailure::kServer), 1U);
  EXPECT_EQ(delivery_->next_attempt(), std::nullopt);
  EXPECT_EQ(delivery_->status().last_success, WallTime{});
}

TEST_F(DeliveryTest, ErrorsOfOperators_AreRetriedWithADirectory) {
  testing::FakeTree tree;
  for (const bool has_directory : {false, true}) {
    Open(100, has_directory ? tree.Path("queue") : "").Open();
    for (const std::string_view status : {"401 Unauthorized", "403 Forbidden", "404 Not Found", "302 Found"}) {
      Answer(fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\n\r\n", status));
      delivery_->Add(Body("one", 10));
      const auto next = Attempt();
      EXPECT_EQ(next.value_or(0ns) > 0ns, has_directory) << status;
    }
    EXPECT_EQ(Dropped(PushDrop::kRefused), has_directory ? 0U : 40U);
    EXPECT_EQ(Failures(PushFailure::kRefused), 4U);
  }
  Answer(std::string(kOk));
  while (delivery_->next_attempt()) static_cast<void>(Attempt());
  EXPECT_EQ(delivery_->status().points, 40U);
}

TEST_F(DeliveryTest, Redirection_NamesItsTarget) {
  Open();
  Answer("HTTP/1.1 308 Permanent Redirect\r\nLocation: https://new.example.com/push\r\nContent-Length: 0\r\n\r\n");
  delivery_->Add(Body("one", 10));
  ::testing::internal::CaptureStdout();
  static_cast<void>(Attempt());
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("answered 308: redirects to https://new.example.com/push; set that URL"));
}

TEST_F(DeliveryTest, AnHourOfErrors_EndsARequestAndNotTheNextOne) {
  Open();
  delivery_->Add(Body("bad", 7));
  delivery_->Add(Body("next", 8));
  Answer("HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n");
  for (int i = 0; i < 12; ++i) {
    EXPECT_GT(Attempt(), 0ns);
    clock_.Advance(5min);
  }
  EXPECT_EQ(Dropped(PushDrop::kRefused), 0U);
  ::testing::internal::CaptureStdout();
  EXPECT_LE(Attempt(), 0ns) << "the next one follows at once";
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr(R"(effect="dropped its data points")"));
  EXPECT_EQ(Dropped(PushDrop::kRefused), 7U);
  for (int i = 0; i < 12; ++i) {
    EXPECT_GT(Attempt(), 0ns);
    clock_.Advance(5min);
  }
  Answer(std::string(kOk));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(delivery_->status().points, 8U);
}

TEST_F(DeliveryTest, AnHourWithFewAnswersOrNone_EndsNoRequest) {
  Open();
  delivery_->Add(Body("one"));
  Answer("HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n");
  for (int i = 0; i < 9; ++i) {
    EXPECT_GT(Attempt(), 0ns);
    clock_.Advance(24h);  // suspended
  }
  Answer("");  // breaks the connection
  EXPECT_GT(Attempt(), 0ns);
  Answer("HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n");
  EXPECT_GT(Attempt(), 0ns);
  EXPECT_EQ(Failures(PushFailure::kConnection), 1U);
  EXPECT_EQ(Dropped(PushDrop::kRefused), 0U);
}

TEST_F(DeliveryTest, ADroppedRequest_TakesItsHourOfErrorsAlong) {
  Open(10);
  delivery_->Add(Body("first", 7));
  Answer("HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n");
  for (int i = 0; i < 12; ++i) {
    EXPECT_GT(Attempt(), 0ns);
    clock_.Advance(5min);
  }
  delivery_->Add(Body("the second", 8));
  EXPECT_EQ(Dropped(PushDrop::kQueueFull), 7U);
  EXPECT_GT(Attempt(), 0ns);
  EXPECT_EQ(Dropped(PushDrop::kRefused), 0U);
}

TEST_F(DeliveryTest, PartialSuccess_CountsOnlyTheRejectedPoints) {
  target_.read_receipt = [](std::string_view answer) -> Result<Receipt> {
    return Receipt{.rejected_points = answer == "ok" ? 3U : 0U, .message = "too old"};
  };
  Open();
  delivery_->Add(Body("one", 10));
  EXPECT_EQ(Attempt(), std::nullopt) << "never sent twice";
  EXPECT_EQ(Dropped(PushDrop::kPartial), 3U);
  EXPECT_EQ(delivery_->status().points, 7U);
  EXPECT_EQ(Failures(PushFailure::kPartial), 1U);
  delivery_->Add(Body("two", 2));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(Dropped(PushDrop::kPartial), 5U) << "no more than the request had";
}

TEST_F(DeliveryTest, WrittenHeader_CountsWhatTheServerDidNotStore) {
  target_.written_header = "X-Samples-Written";
  target_.unsupported_hint = "set version 1: ";
  Open();
  struct Case {
    std::string_view answer;
    uint64_t points, partial, refused;  // in total
  };
  for (const Case& wanted :
       {Case{"204 No Content\r\nX-Samples-Written: 10", 10, 0, 0}, Case{"200 OK\r\nx-samples-written: 7", 17, 3, 0},
        Case{"200 OK\r\nX-Samples-Written: 11", 27, 3, 0}, Case{"200 OK\r\nX-Other: 10", 27, 13, 0},
        Case{"200 OK\r\nX-Samples-Written: 1e1", 27, 23, 0}, Case{"200 OK\r\nX-Samples-Written: -1", 27, 33, 0},
        Case{"400 Bad Request\r\nX-Samples-Written: 4", 31, 33, 6},
        Case{"400 Bad Request\r\nX-Samples-Written: many", 31, 33, 16},
        Case{"415 Unsupported Media Type", 31, 33, 26}}) {
    Answer(fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\n\r\n", wanted.answer));
    delivery_->Add(Body("one", 10));
    EXPECT_EQ(Attempt(), std::nullopt) << wanted.answer;
    EXPECT_EQ(delivery_->status().points, wanted.points) << wanted.answer;
    EXPECT_EQ(Dropped(PushDrop::kPartial), wanted.partial) << wanted.answer;
    EXPECT_EQ(Dropped(PushDrop::kRefused), wanted.refused) << wanted.answer;
  }
}

TEST_F(DeliveryTest, UnknownProtocol_IsLoggedWithTheHint) {
  target_.written_header = "X-Samples-Written";
  target_.unsupported_hint = "set version 1: ";
  for (const std::string_view answer : {"415 Unsupported Media Type", "204 No Content"}) {
    Open();
    Answer(fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\n\r\n", answer));
    delivery_->Add(Body("one"));
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(Attempt(), std::nullopt);
    EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("set version 1: ")) << answer;
  }
}

TEST_F(DeliveryTest, UnreadableLongAndEndlessAnswers_AreAcceptedOnce) {
  target_.read_receipt = [](std::string_view) -> Result<Receipt> { return Fail(ErrorKind::kMalformed, "no protobuf"); };
  Open();
  for (const std::string& answer :
       {std::string(kOk), "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + std::string(10'000'000, 'x'),
        std::string("HTTP/1.1 200 OK\r\n\r\n...")}) {
    Answer(answer);
    delivery_->Add(Body("one"));
    EXPECT_EQ(Attempt(), std::nullopt);
  }
  EXPECT_EQ(Failures(PushFailure::kAnswer), 3U);
  EXPECT_EQ(delivery_->status().points, 3U);
  EXPECT_THAT(Received(), ElementsAre("one", "one", "one"));
}

TEST_F(DeliveryTest, EndlessRefusal_IsRefused) {
  Open();
  Answer("HTTP/1.1 400 Bad Request\r\n\r\n...");
  delivery_->Add(Body("one"));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(Dropped(PushDrop::kRefused), 1U);
}

TEST_F(DeliveryTest, SlowServer_IsATimeoutAndIsRetried) {
  target_.request.deadlines.total = 50ms;
  Open();
  Answer("hang");
  delivery_->Add(Body("one"));
  EXPECT_EQ(Attempt(), 1s);
  EXPECT_EQ(Failures(PushFailure::kTimeout), 1U);
}

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
  EXPECT_THAT(logged, ::testing::Not(HasSubstr("s3cret")));
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
