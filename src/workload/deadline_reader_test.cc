#include "workload/deadline_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "testing/fake_tree.h"
#include "testing/no_threads.h"

namespace kepler::workload {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A fifo keeps whoever opens it waiting until somebody writes.
class DeadlineReaderTest : public ::testing::Test {
 protected:
  DeadlineReaderTest() { tree_.Write("file", "text"); }
  ~DeadlineReaderTest() override {
    for (; fifos_ > 0; --fifos_) Release(fifos_ - 1);
  }
  std::string Fifo() {
    const std::string name = "fifo" + std::to_string(fifos_++);
    EXPECT_EQ(::mkfifo(tree_.Path(name).c_str(), 0600), 0);
    return name;
  }
  /// Its reader, if there is one, finds it empty.
  void Release(size_t fifo) {
    const UniqueFd end(::open(tree_.Path("fifo" + std::to_string(fifo)).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  Result<std::string_view> Read(const std::string& name, size_t most = 100) {
    return reader_.Read(tree_.Path(name), most);
  }

  testing::FakeTree tree_;
  DeadlineReader reader_{20ms};

 private:
  size_t fifos_ = 0;
};

TEST_F(DeadlineReaderTest, Ok_IsTheFirstBytes) {
  EXPECT_EQ(Read("file").value_or(""), "text");
  EXPECT_EQ(Read("file", 3).value_or(""), "tex");
}

TEST_F(DeadlineReaderTest, MissingOrUnreadable_IsTheErrorOfTheSystem) {
  tree_.MakeDir("dir");
  const auto missing = Read("none"), dir = Read("dir");
  ASSERT_FALSE(missing || dir);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(dir.error().kind, ErrorKind::kIo);
}

TEST_F(DeadlineReaderTest, FileThatNeverAnswers_IsLateAndHoldsUpNoOther) {
  const std::string fifo = Fifo();
  const auto late = Read(fifo);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(late.error().message, HasSubstr(fifo + ": no answer within 20 ms"));
  EXPECT_EQ(Read("file").value_or(""), "text");
}

TEST_F(DeadlineReaderTest, FileThatComesInParts_IsReadWhole) {
  DeadlineReader patient(10s);
  const std::string path = tree_.Path(Fifo());
  const std::jthread writer([&] {
    const UniqueFd end(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    for (const std::string_view part : {"first ", "second ", "third"}) {
      ASSERT_EQ(::write(end.get(), part.data(), part.size()), static_cast<ssize_t>(part.size()));
      for (int unread = 1; unread > 0;) ASSERT_EQ(::ioctl(end.get(), FIONREAD, &unread), 0);
    }
  });
  EXPECT_EQ(patient.Read(path, 100).value_or(""), "first second third");
}

TEST_F(DeadlineReaderTest, SecondPartBeyondTheBound_IsCut) {
  DeadlineReader patient(10s);
  const std::string path = tree_.Path(Fifo());
  const std::jthread writer([&] {
    const UniqueFd end(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::write(end.get(), "first ", 6), 6);
    for (int unread = 1; unread > 0;) ASSERT_EQ(::ioctl(end.get(), FIONREAD, &unread), 0);
    ASSERT_EQ(::write(end.get(), "second", 6), 6);
  });
  EXPECT_EQ(patient.Read(path, 10).value_or(""), "first seco");
}

TEST_F(DeadlineReaderTest, FileThatIsWaitedFor_IsNotReadByAnotherThread) {
  const std::string fifo = Fifo();
  EXPECT_FALSE(Read(fifo));
  for (size_t i = 0; i < 2 * DeadlineReader::kMaxLate; ++i) {
    const auto again = Read(fifo);
    ASSERT_FALSE(again);
    EXPECT_THAT(again.error().message, HasSubstr("an earlier read of it still waits"));
  }
  EXPECT_EQ(Read("file").value_or(""), "text");
}

TEST_F(DeadlineReaderTest, TooManyWait_NothingIsReadUntilOneIsBack) {
  for (size_t i = 0; i < DeadlineReader::kMaxLate; ++i) EXPECT_FALSE(Read(Fifo()));
  const auto refused = Read("file");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("too many reads wait"));
  Release(2);
  while (!Read("file")) std::this_thread::yield();
}

TEST_F(DeadlineReaderTest, NoThread_IsAnErrorAndWorksLater) {
  {
    const testing::NoThreads limit;
    const auto refused = Read("file");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  }
  EXPECT_EQ(Read("file").value_or(""), "text");
}

}  // namespace
}  // namespace kepler::workload
