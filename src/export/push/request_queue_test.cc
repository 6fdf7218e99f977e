#include "export/push/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/small_file.h"
#include "export/push/request_test_util.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::push {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class QueueTest : public ::testing::Test {
 protected:
  /// A new queue, as of a new process.
  RequestQueue& Start(QueueOptions options) {
    queue_.reset();
    options.encoding = "otlp";
    queue_ = std::make_unique<RequestQueue>("otlp", std::move(options), clock_);
    queue_->Open();
    return *queue_;
  }
  QueueOptions OnDisk(uint64_t max_bytes = 100) {
    return {.max_bytes = max_bytes, .max_memory_bytes = 10, .directory = path_};
  }
  /// Takes all requests out of the queue.
  std::vector<std::string> Drain() {
    std::vector<std::string> bodies;
    while (const Request* const first = queue_->First()) {
      bodies.push_back(*first->body);
      queue_->RemoveFirst();
    }
    EXPECT_TRUE(queue_->empty());
    EXPECT_EQ(queue_->bytes(), 0U);
    return bodies;
  }
  std::string PathOf(uint64_t number) { return path_ + "/" + FileName(number); }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  const std::string path_ = tree_.Path("queue");
  std::unique_ptr<RequestQueue> queue_;
};

/// What holds in memory and on disk.
class AnyQueueTest : public QueueTest, public ::testing::WithParamInterface<bool> {
 protected:
  RequestQueue& Start(uint64_t max_bytes = 100) {
    return QueueTest::Start(GetParam() ? OnDisk(max_bytes) : QueueOptions{.max_bytes = max_bytes});
  }
};

INSTANTIATE_TEST_SUITE_P(All, AnyQueueTest, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "Disk" : "Memory"; });

TEST_P(AnyQueueTest, Requests_LeaveInOrder) {
  RequestQueue& queue = Start();
  EXPECT_EQ(queue.First(), nullptr);
  queue.Add(Body("one", 3));
  queue.Add(Body("three", 4));
  EXPECT_EQ(queue.requests(), 2U);
  EXPECT_EQ(queue.bytes(), 8U);
  EXPECT_EQ(queue.First()->points, 3U);
  EXPECT_EQ(queue.First()->points, 3U) << "until it is removed";
  EXPECT_THAT(Drain(), ElementsAre("one", "three"));
  queue.Add(Body("four"));
  EXPECT_THAT(Drain(), ElementsAre("four"));
  EXPECT_EQ(queue.TakeLosses().files, 0U);
}

TEST_P(AnyQueueTest, AFullQueue_DropsTheOldest) {
  RequestQueue& queue = Start(10);
  queue.Add(Body("12345", 10));
  queue.Add(Body("1234", 200));
  EXPECT_EQ(queue.First()->points, 10U);
  queue.Add(Body("new", 3000));
  EXPECT_EQ(queue.TakeLosses().full_points, 10U);
  EXPECT_EQ(queue.TakeLosses().full_points, 0U) << "counted once";
  EXPECT_THAT(Drain(), ElementsAre("1234", "new"));
}

TEST_P(AnyQueueTest, ANewProcess_HasWhatTheDirectoryHas) {
  Start().Add(Body("one", 3));
  queue_->Add(Body("two", 4));
  queue_->RemoveFirst();
  EXPECT_EQ(Start().requests(), GetParam() ? 1U : 0U);
  queue_->Add(Body("three", 5));
  if (!GetParam()) return;
  EXPECT_EQ(queue_->First()->points, 4U);
  EXPECT_THAT(Drain(), ElementsAre("two", "three"));
  EXPECT_TRUE(Start().empty());
}

}  // namespace
}  // namespace kepler::push
