#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/small_file.h"
#include "export/push/delivery_test_util.h"
#include "testing/fake_tree.h"

namespace kepler::push {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

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

}  // namespace
}  // namespace kepler::push
