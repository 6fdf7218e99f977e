#include "export/push/request_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "base/small_file.h"
#include "base/unique_fd.h"
#include "export/push/request_test_util.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::push {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
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
  void Damage(uint64_t number) {
    std::string content = ReadSmallFile(PathOf(number)).value();
    content.back() = '!';
    tree_.Write("queue/" + FileName(number), content);
  }

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

TEST_P(AnyQueueTest, MoreRequestsThanTheLimit_DropTheOldest) {
  QueueOptions options = GetParam() ? OnDisk() : QueueOptions{.max_bytes = 100};
  options.max_requests = 3;
  QueueTest::Start(options);
  for (uint64_t i = 1; i <= 4; ++i) queue_->Add(Body(std::to_string(i), i));
  EXPECT_EQ(queue_->TakeLosses().full_points, 1U);
  EXPECT_EQ(queue_->requests(), 3U);
  if (GetParam()) {
    options.max_requests = 2;
    QueueTest::Start(options);
    EXPECT_EQ(queue_->TakeLosses().full_points, 2U) << "also at the start";
  }
  EXPECT_THAT(Drain(), ElementsAreArray(GetParam() ? std::vector<std::string>{"3", "4"}
                                                   : std::vector<std::string>{"2", "3", "4"}));
}

TEST_P(AnyQueueTest, ARequestLargerThanTheQueue_IsDropped) {
  RequestQueue& queue = Start(10);
  queue.Add(Body("12345", 1));
  queue.Add(Body("larger than all", 20));
  EXPECT_EQ(queue.TakeLosses().full_points, 20U) << "not the other one";
  queue.Add(Body("67890"));
  EXPECT_THAT(Drain(), ElementsAre("12345", "67890"));
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

TEST_F(QueueTest, ASmallerLimit_DropsTheOldestOfTheDirectory) {
  Start(OnDisk()).Add(Body("12345", 1));
  queue_->Add(Body("1234567", 2));
  Start(OnDisk(10));
  EXPECT_EQ(queue_->TakeLosses().full_points, 1U);
  EXPECT_FALSE(std::filesystem::exists(PathOf(1)));
  EXPECT_THAT(Drain(), ElementsAre("1234567"));
}

TEST_F(QueueTest, BodiesOfFiles_AreNotInMemory) {
  const auto first = Body("one");
  const auto second = Body("two");
  Start(OnDisk()).Add(first);
  queue_->Add(second);
  EXPECT_EQ(first.body.use_count(), 2) << "the next to be sent";
  EXPECT_EQ(second.body.use_count(), 1);
}

TEST_F(QueueTest, DamagedFiles_AreSkippedCountedAndRemoved) {
  Start(OnDisk());
  for (uint64_t i = 1; i <= 4; ++i) queue_->Add(Body(std::to_string(i), i));
  Damage(1);
  Damage(3);
  tree_.Write("queue/" + FileName(4), "cut");
  ::testing::internal::CaptureStdout();
  Start(OnDisk());
  EXPECT_EQ(queue_->requests(), 3U) << "the header of the fourth is damaged";
  EXPECT_THAT(Drain(), ElementsAre("2"));
  const std::string logged = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(logged, HasSubstr(PathOf(4))) << "the first of ten minutes";
  EXPECT_THAT(logged, ::testing::Not(HasSubstr(PathOf(1))));
  const QueueLosses losses = queue_->TakeLosses();
  EXPECT_EQ(losses.files, 3U);
  EXPECT_EQ(losses.file_points, 4U) << "those of the fourth are unknown";
  EXPECT_TRUE(Start(OnDisk()).empty());
  EXPECT_EQ(queue_->TakeLosses().files, 0U);
}

TEST_F(QueueTest, UnreadableFiles_AreSkippedAndTheirNumbersNotUsedAgain) {
  tree_.MakeDir("queue");
  tree_.Chmod("queue", 0700);
  tree_.Symlink("queue/" + FileName(7), "/dev/zero");
  Start(OnDisk()).Add(Body("new"));
  EXPECT_EQ(queue_->TakeLosses().files, 1U);
  EXPECT_TRUE(std::filesystem::is_symlink(PathOf(7)));
  EXPECT_TRUE(std::filesystem::exists(PathOf(8)));
  EXPECT_THAT(Drain(), ElementsAre("new"));
}

TEST_F(QueueTest, AFileWithTheLargestNumber_CostsItselfOnly) {
  const auto queued_behind = [&] {
    Start(OnDisk()).Add(Body("new", 2));
    const QueueLosses losses = queue_->TakeLosses();
    EXPECT_TRUE(std::filesystem::exists(PathOf(1))) << "in the directory, not in memory";
    return losses;
  };
  tree_.MakeDir("queue");
  tree_.Chmod("queue", 0700);
  tree_.Write("queue/" + FileName(kMaxFileNumber), "damaged");
  EXPECT_EQ(queued_behind().files, 1U);
  EXPECT_FALSE(std::filesystem::exists(PathOf(kMaxFileNumber)));
  EXPECT_THAT(Drain(), ElementsAre("new"));
  tree_.Symlink("queue/" + FileName(kMaxFileNumber), "/dev/zero");
  EXPECT_EQ(queued_behind().files, 1U);
  EXPECT_TRUE(std::filesystem::is_symlink(PathOf(kMaxFileNumber)));
  EXPECT_THAT(Drain(), ElementsAre("new"));
}

TEST_F(QueueTest, ARequestWithTheLargestNumber_IsSentAndTheNextOnesAreStored) {
  Start(OnDisk()).Add(Body("old"));
  queue_.reset();
  std::filesystem::rename(PathOf(1), PathOf(kMaxFileNumber));
  Start(OnDisk()).Add(Body("new"));
  EXPECT_TRUE(std::filesystem::exists(PathOf(1)));
  EXPECT_EQ(queue_->TakeLosses().files, 0U);
  EXPECT_THAT(Drain(), ElementsAre("old", "new"));
}

#ifndef KEPLER_UBSAN  // the sanitizer itself needs descriptors
TEST_F(QueueTest, NoDescriptorLeft_NothingIsSkipped) {
  Start(OnDisk());
  for (uint64_t i = 1; i <= 3; ++i) queue_->Add(Body(std::to_string(i), i));
  Start(OnDisk());
  {
    const NoDescriptors none;
    EXPECT_EQ(queue_->First(), nullptr);
    EXPECT_EQ(queue_->First(), nullptr);
  }
  const QueueLosses losses = queue_->TakeLosses();
  EXPECT_EQ(losses.files, 2U);
  EXPECT_EQ(losses.file_points, 0U);
  EXPECT_EQ(queue_->requests(), 3U);
  EXPECT_EQ(queue_->bytes(), 3U);
  EXPECT_THAT(Drain(), ElementsAre("1", "2", "3"));
}
#endif

TEST_F(QueueTest, AFileThatFailsForAnHour_IsSkippedAndStays) {
  Start(OnDisk());
  for (uint64_t i = 1; i <= 3; ++i) queue_->Add(Body(std::to_string(i), i));
  Start(OnDisk());
  // The file has a lease that nobody gives back: it cannot be opened without a wait.
  const auto old_handler = std::signal(SIGIO, SIG_IGN);
  const UniqueFd file(::open(PathOf(1).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::fcntl(file.get(), F_SETLEASE, F_WRLCK), 0);
  for (int i = 0; i < 11; ++i) {
    EXPECT_EQ(queue_->First(), nullptr);
    clock_.Advance(5min);
  }
  EXPECT_EQ(queue_->TakeLosses().file_points, 0U);
  EXPECT_EQ(queue_->First(), nullptr);
  clock_.Advance(5min);
  EXPECT_THAT(Drain(), ElementsAre("2", "3"));
  std::signal(SIGIO, old_handler);
  const QueueLosses losses = queue_->TakeLosses();
  EXPECT_EQ(losses.files, 2U);
  EXPECT_EQ(losses.file_points, 1U);
  EXPECT_TRUE(std::filesystem::exists(PathOf(1)));
}

TEST_F(QueueTest, AFileThatIsALink_IsSkippedAndStays) {
  Start(OnDisk()).Add(Body("1"));
  queue_->Add(Body("2", 5));
  std::filesystem::remove(PathOf(2));
  tree_.Symlink("queue/" + FileName(2), "/dev/zero");
  EXPECT_THAT(Drain(), ElementsAre("1"));
  EXPECT_EQ(queue_->TakeLosses().file_points, 5U);
  EXPECT_TRUE(std::filesystem::is_symlink(PathOf(2)));
}

TEST_F(QueueTest, ADirectoryThatComesLater_IsUsedFromThen) {
  const QueueOptions options{.max_bytes = 100, .max_memory_bytes = 10, .directory = tree_.Path("later/queue")};
  ::testing::internal::CaptureStdout();
  Start(options).Add(Body("one"));
  queue_->Open();
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              ::testing::AllOf(HasSubstr("the queue directory is unavailable"), HasSubstr("later/queue")));
  EXPECT_EQ(queue_->TakeLosses().files, 2U);
  tree_.MakeDir("later");
  queue_->Open();
  queue_->Add(Body("two"));
  queue_->Add(Body("three"));
  EXPECT_EQ(queue_->TakeLosses().files, 0U);
  EXPECT_THAT(Drain(), ElementsAre("one", "two", "three"));
}

TEST_F(QueueTest, ALockedDirectory_IsTakenOverInFrontOfTheRequestsInMemory) {
  auto first = std::make_unique<RequestQueue>(
      "otlp",
      [&] {
        auto o = OnDisk();
        o.encoding = "otlp";
        return o;
      }(),
      clock_);
  first->Open();
  first->Add(Body("old"));
  Start(OnDisk()).Add(Body("new"));
  EXPECT_EQ(queue_->requests(), 1U);
  first.reset();
  queue_->Open();
  queue_->Add(Body("newest"));
  EXPECT_THAT(Drain(), ElementsAre("old", "new", "newest"));
}

TEST_F(QueueTest, RequestsThatCannotBeWritten_WaitInALittleMemory_InOrder) {
  Start(OnDisk()).Add(Body("on disk", 1));
  tree_.MakeDir("queue/" + FileName(2) + ".tmp");  // in the way of the next three files, also for root
  tree_.MakeDir("queue/" + FileName(3) + ".tmp");
  tree_.MakeDir("queue/" + FileName(4) + ".tmp");
  queue_->Add(Body("12345", 20));
  queue_->Add(Body("67890", 300));
  EXPECT_EQ(queue_->bytes(), 17U);
  queue_->Add(Body("abc", 4000));
  const QueueLosses losses = queue_->TakeLosses();
  EXPECT_EQ(losses.files, 3U);
  EXPECT_EQ(losses.full_points, 20U) << "the oldest in memory";
  queue_->Add(Body("on disk again"));
  EXPECT_TRUE(std::filesystem::exists(PathOf(5)));
  EXPECT_THAT(Drain(), ElementsAre("on disk", "67890", "abc", "on disk again"));
}

TEST_F(QueueTest, ARequestThatFitsOnlyOnDisk_IsDroppedWithoutIt) {
  tree_.Write("queue", "a file");
  Start(OnDisk()).Add(Body("longer than memory", 5));
  EXPECT_TRUE(queue_->empty());
  EXPECT_EQ(queue_->TakeLosses().full_points, 5U);
}

TEST_F(QueueTest, ARemovedDirectory_IsMadeAgain) {
  Start(OnDisk()).Add(Body("one", 1));
  queue_->Add(Body("two", 2));
  std::filesystem::remove_all(path_);
  queue_->Add(Body("three", 4));
  EXPECT_EQ(queue_->TakeLosses().file_points, 2U) << "the first is in memory";
  EXPECT_EQ(queue_->bytes(), 8U);
  queue_->Open();
  queue_->Add(Body("four"));
  EXPECT_TRUE(std::filesystem::exists(PathOf(4)));
  EXPECT_THAT(Drain(), ElementsAre("one", "three", "four"));
}

TEST_F(QueueTest, AFileThatCannotBeRemoved_IsCounted) {
  Start(OnDisk()).Add(Body("one"));
  std::filesystem::remove(PathOf(1));
  EXPECT_THAT(Drain(), ElementsAre("one"));
  EXPECT_EQ(queue_->TakeLosses().files, 1U);
}

}  // namespace
}  // namespace kepler::push
