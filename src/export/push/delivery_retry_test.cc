#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/push/delivery_test_util.h"
#include "testing/fake_tree.h"

namespace kepler::push {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  AnswerStatus("429 Too Many\r\nRetry-After: 120");
  EXPECT_EQ(Attempt(), 120s);
  AnswerStatus("503 Unavailable\r\nRetry-After: 86400");
  EXPECT_EQ(Attempt(), 600s);
  AnswerStatus("502 Bad Gateway");
  EXPECT_EQ(Attempt(), 4s);
  EXPECT_EQ(Failures(PushFailure::kThrottled), 2U);
  EXPECT_EQ(Failures(PushFailure::kServer), 1U);
  Answer(std::string(kOk));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_THAT(Received(), ElementsAre("one", "one", "one", "one"));
}

TEST_F(DeliveryTest, SlowServer_IsATimeoutAndIsRetried) {
  target_.request.deadlines.total = 50ms;
  Open();
  Answer("hang");
  delivery_->Add(Body("one"));
  EXPECT_EQ(Attempt(), 1s);
  EXPECT_EQ(Failures(PushFailure::kTimeout), 1U);
}

TEST_F(DeliveryTest, TimeoutOfAProxy_IsATimeout) {
  Open();
  AnswerStatus("504 Gateway Timeout");
  delivery_->Add(Body("one"));
  EXPECT_EQ(Attempt(), 1s);
  EXPECT_EQ(Failures(PushFailure::kTimeout), 1U);
  EXPECT_EQ(Failures(PushFailure::kServer), 0U);
}

TEST_F(DeliveryTest, ErrorsOfOperators_AreRetriedWithADirectory) {
  testing::FakeTree tree;
  for (const bool has_directory : {false, true}) {
    Open(100, has_directory ? tree.Path("queue") : "").Open();
    for (const std::string_view status : {"401 Unauthorized", "403 Forbidden", "404 Not Found", "302 Found"}) {
      AnswerStatus(status);
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

TEST_F(DeliveryTest, ErrorOfAnOperatorForADay_EndsNoRequestOfADirectory) {
  const testing::FakeTree tree;
  Open(100, tree.Path("queue"));
  delivery_->Open();
  delivery_->Add(Body("one"));
  AnswerStatus("401 Unauthorized");
  for (int hour = 0; hour < 24; ++hour) {
    EXPECT_GT(Attempt(), 0ns);
    clock_.Advance(1h);
  }
  EXPECT_EQ(Dropped(PushDrop::kRefused), 0U);
  Answer(std::string(kOk));
  EXPECT_EQ(Attempt(), std::nullopt);
  EXPECT_EQ(delivery_->status().requests, 1U);
}

TEST_F(DeliveryTest, AnHourOfErrors_EndsARequestAndNotTheNextOne) {
  Open();
  delivery_->Add(Body("bad", 7));
  delivery_->Add(Body("next", 8));
  AnswerStatus("503 Unavailable");
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
  AnswerStatus("503 Unavailable");
  for (int i = 0; i < 9; ++i) {
    EXPECT_GT(Attempt(), 0ns);
    clock_.Advance(24h);  // suspended
  }
  Answer("");  // breaks the connection
  EXPECT_GT(Attempt(), 0ns);
  AnswerStatus("503 Unavailable");
  EXPECT_GT(Attempt(), 0ns);
  EXPECT_EQ(Failures(PushFailure::kConnection), 1U);
  EXPECT_EQ(Dropped(PushDrop::kRefused), 0U);
}

TEST_F(DeliveryTest, ADroppedRequest_TakesItsHourOfErrorsAlong) {
  Open(10);
  delivery_->Add(Body("first", 7));
  AnswerStatus("503 Unavailable");
  for (int i = 0; i < 12; ++i) {
    EXPECT_GT(Attempt(), 0ns);
    clock_.Advance(5min);
  }
  delivery_->Add(Body("the second", 8));
  EXPECT_EQ(Dropped(PushDrop::kQueueFull), 7U);
  EXPECT_GT(Attempt(), 0ns);
  EXPECT_EQ(Dropped(PushDrop::kRefused), 0U);
}

}  // namespace
}  // namespace kepler::push
