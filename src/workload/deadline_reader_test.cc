#include "workload/deadline_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

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
    while (!held_.empty()) Release(held_.front());
  }
  std::string Fifo() {
    const std::string name = "fifo" + std::to_string(fifos_++);
    EXPECT_EQ(::mkfifo(tree_.Path(name).c_str(), 0600), 0);
    return name;
  }
  /// A read that is late, on behalf of `owner`.
  Error ReadLate(const std::string& fifo, const std::string& owner) {
    const auto late = reader_.Read(tree_.Path(fifo), owner, 100);
    EXPECT_FALSE(late);
    held_.push_back(fifo);
    return late ? Error{} : late.error();
  }
  /// Its reader, which is or will be there, finds it empty.
  void Release(const std::string& fifo) {
    const std::string path = tree_.Path(fifo);
    std::erase_if(held_, [&](const std::string& held) { return tree_.Path(held) == path; });
    while (!UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)).valid()) std::this_thread::yield();
  }
  /// What comes of it; where this machine is too slow for the deadline, of another owner's in its place.
  std::string ReadFile(std::string owner) { return ReadFile(reader_, std::move(owner)); }
  std::string ReadFile(DeadlineReader& reader, std::string owner) {
    while (true) {
      reader.BeginLook();
      const auto text = reader.Read(tree_.Path("file"), owner, 100);
      if (text) return std::string(*text);
      if (!text.error().message.ends_with("locked")) return text.error().message;
      owner += '+';
    }
  }

  testing::FakeTree tree_;
  DeadlineReader reader_{20ms};
  DeadlineReader patient_{10s};

 private:
  size_t fifos_ = 0;
  std::vector<std::string> held_;
};

TEST_F(DeadlineReaderTest, Ok_IsTheFirstBytes) {
  EXPECT_EQ(patient_.Read(tree_.Path("file"), "a", 100).value_or(""), "text");
  EXPECT_EQ(patient_.Read(tree_.Path("file"), "a", 3).value_or(""), "tex");
}

TEST_F(DeadlineReaderTest, MissingOrUnreadable_IsTheErrorOfTheSystem) {
  tree_.MakeDir("dir");
  const auto missing = patient_.Read(tree_.Path("none"), "a", 100), dir = patient_.Read(tree_.Path("dir"), "a", 100);
  ASSERT_FALSE(missing || dir);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(dir.error().kind, ErrorKind::kIo);
}

TEST_F(DeadlineReaderTest, FileThatNeverAnswers_IsLateAndHoldsUpNoOther) {
  const std::string fifo = Fifo();
  const Error late = ReadLate(fifo, "a");
  EXPECT_EQ(late.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(late.message, HasSubstr(fifo + ": no answer within 20 ms"));
  EXPECT_EQ(ReadFile("b"), "text");
}

TEST_F(DeadlineReaderTest, OwnerOfALateRead_IsNotReadWhileItWaitsNorRightAfter) {
  const std::string fifo = Fifo();
  ReadLate(fifo, "a");
  EXPECT_THAT(ReadFile("a"), HasSubstr("an earlier read of its owner still waits"));
  Release(fifo);
  while (ReadFile("a").ends_with("still waits")) std::this_thread::yield();
  EXPECT_THAT(ReadFile("a"), HasSubstr("an earlier read of its owner was late"));
  EXPECT_EQ(ReadFile("b"), "text");
}

TEST_F(DeadlineReaderTest, ALookWaitsNoLongerThanItMay) {
  size_t late = 0;
  DeadlineReader slow(DeadlineReader::kMaxWait / 2 - 1ms);
  std::vector<std::string> fifos;
  for (; late < 10; ++late) {
    fifos.push_back(Fifo());
    const auto text = slow.Read(tree_.Path(fifos.back()), std::to_string(late), 100);
    ASSERT_FALSE(text);
    if (text.error().message.ends_with("too long was waited for others")) break;
  }
  EXPECT_LE(late, 3u) << "two whole ones, and what was left";
  EXPECT_EQ(ReadFile(slow, "other"), "text");
  for (size_t i = 0; i < late; ++i) Release(fifos[i]);
}

TEST_F(DeadlineReaderTest, TooManyWait_NothingIsReadUntilOneIsBack) {
  std::vector<std::string> fifos;
  for (size_t i = 0; i < DeadlineReader::kMaxLate; ++i) {
    reader_.BeginLook();
    fifos.push_back(Fifo());
    ReadLate(fifos.back(), std::to_string(i));
  }
  EXPECT_THAT(ReadFile("other"), HasSubstr("too many reads wait"));
  Release(fifos[2]);
  while (ReadFile("other") != "text") std::this_thread::yield();
}

TEST_F(DeadlineReaderTest, NoThread_IsAnErrorAndWorksLater) {
  std::optional<DeadlineReader> reader;
  {
    const testing::NoThreads limit;
    reader.emplace(10s);
    const auto refused = reader->Read(tree_.Path("file"), "a", 100);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  }
  EXPECT_EQ(reader->Read(tree_.Path("file"), "a", 100).value_or(""), "text");
}

TEST_F(DeadlineReaderTest, FileThatComesInParts_IsReadWhole) {
  const std::string path = tree_.Path(Fifo());
  const std::jthread writer([&] {
    const UniqueFd end(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    for (const std::string_view part : {"first ", "second ", "third"}) {
      ASSERT_EQ(::write(end.get(), part.data(), part.size()), static_cast<ssize_t>(part.size()));
      for (int unread = 1; unread > 0;) ASSERT_EQ(::ioctl(end.get(), FIONREAD, &unread), 0);
    }
  });
  EXPECT_EQ(patient_.Read(path, "a", 100).value_or(""), "first second third");
}

TEST_F(DeadlineReaderTest, SecondPartBeyondTheBound_IsCut) {
  const std::string path = tree_.Path(Fifo());
  const std::jthread writer([&] {
    const UniqueFd end(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::write(end.get(), "first ", 6), 6);
    for (int unread = 1; unread > 0;) ASSERT_EQ(::ioctl(end.get(), FIONREAD, &unread), 0);
    ASSERT_EQ(::write(end.get(), "second", 6), 6);
  });
  EXPECT_EQ(patient_.Read(path, "a", 10).value_or(""), "first seco");
}

}  // namespace
}  // namespace kepler::workload
