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
#include <vector>

#include "base/thread.h"
#include "base/unique_fd.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/fifo.h"
#include "testing/no_threads.h"
#include "workload/patient_limits.h"

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
    testing::MakeFifo(tree_.Path(name));
    return name;
  }
  /// A read that is late, on behalf of `payer`.
  Error ReadOverdue(const std::string& fifo, const std::string& payer) { return ReadOverdue(reader_, fifo, payer); }
  Error ReadOverdue(DeadlineReader& reader, const std::string& fifo, const std::string& payer) {
    reader.BeginScan();
    auto late = reader.Read(tree_.Path(fifo), payer, 100);
    for (; !late && late.error().message.ends_with("got no CPU time"); late = reader.Read(tree_.Path(fifo), payer, 100))
      reader.BeginScan();
    EXPECT_FALSE(late);
    if (late || late.error().kind != ErrorKind::kTimeout) return late ? Error{} : late.error();
    held_.push_back(fifo);
    return late.error();
  }
  /// Its reader, which waits for it, finds it empty.
  void Release(const std::string& fifo) {
    const std::string path = tree_.Path(fifo);
    std::erase_if(held_, [&](const std::string& held) { return tree_.Path(held) == path; });
    testing::ReleaseFifo(path);
  }
  /// What comes of it in a new scan; where this machine is too slow for the deadline, of another payer's in its place.
  std::string ReadFile(std::string payer) {
    while (true) {
      reader_.BeginScan();
      const auto text = reader_.Read(tree_.Path("file"), payer, 100);
      if (text) return std::string(*text);
      if (!text.error().message.ends_with("locked") && !text.error().message.ends_with("got no CPU time"))
        return text.error().message;
      payer += '+';
    }
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  DeadlineReader reader_{clock_, {.deadline = 20ms}};
  DeadlineReader patient_{clock_, kPatient};

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

TEST_F(DeadlineReaderTest, BeneathARoot_IsThatFileOnly) {
  tree_.Write("root/run/file", std::string(300'000, 'x'));
  tree_.Symlink("root/run/link", tree_.Path("file"));
  const auto whole = patient_.ReadBeneath(tree_.Path("root"), "run/file", "a", 1 << 20);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->size(), 300'000U);
  EXPECT_EQ(patient_.ReadBeneath(tree_.Path("root"), "run/file", "a", 100'000)->size(), 100'000U);
  EXPECT_EQ(patient_.ReadBeneath(tree_.Path("root"), "run/link", "a", 100).error().kind, ErrorKind::kInvalid);
  const auto none = patient_.ReadBeneath(tree_.Path("root"), "run/none", "a", 100);
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr(tree_.Path("root/run/none")));
  EXPECT_EQ(*patient_.Read(tree_.Path("file"), "a", 100), "text");
}

TEST_F(DeadlineReaderTest, WhatIsChargedInAddition_CountsAsIfItWereRead) {
  patient_.Charge("a", kPatient.budget.slow);
  patient_.BeginScan();
  EXPECT_THAT(patient_.Read(tree_.Path("file"), "a", 100).error().message, HasSubstr("was slow"));
  EXPECT_EQ(*patient_.Read(tree_.Path("file"), "b", 100), "text");
  patient_.Charge("c", kPatient.budget.of_scan);
  EXPECT_THAT(patient_.Read(tree_.Path("file"), "b", 100).error().message,
              HasSubstr("the read time of this scan is used up"));
}

TEST_F(DeadlineReaderTest, FileThatNeverAnswers_TimesOutAndDelaysNoOther) {
  const std::string fifo = Fifo();
  const Error late = ReadOverdue(fifo, "a");
  EXPECT_EQ(late.kind, ErrorKind::kTimeout);
  EXPECT_THAT(late.message, HasSubstr(fifo + ": no answer within 20 ms"));
  EXPECT_EQ(ReadFile("b"), "text");
}

TEST_F(DeadlineReaderTest, PayerOfAnOverdueRead_IsNotReadWhileItWaitsNorRightAfter) {
  const std::string fifo = Fifo();
  ReadOverdue(fifo, "a");
  EXPECT_THAT(ReadFile("a"), HasSubstr("an earlier read of its unit is still in flight"));
  EXPECT_THAT(reader_.ReadBeneath(tree_.root(), "file", "a", 100).error().message,
              HasSubstr("read " + tree_.Path("file") + ": an earlier"));
  Release(fifo);
  while (ReadFile("a").ends_with("still in flight")) std::this_thread::yield();
  EXPECT_THAT(ReadFile("a"), HasSubstr("an earlier read of its unit was slow"));
  clock_.Advance(2 * ReadBudget::kFirstPause);  // twice slow: when it was late, and when it came back
  EXPECT_EQ(ReadFile("a"), "text");
  EXPECT_EQ(ReadFile("b"), "text");
}

TEST_F(DeadlineReaderTest, OverdueReadThatTakesAWholeScan_NothingMoreIsReadInIt) {
  DeadlineReader slow(clock_, {.deadline = 200ms});
  EXPECT_EQ(ReadOverdue(slow, Fifo(), "a").kind, ErrorKind::kTimeout);
  const auto other = slow.Read(tree_.Path("file"), "b", 100);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("the read time of this scan is used up"));
  slow.BeginScan();
  EXPECT_EQ(slow.Read(tree_.Path("file"), "b", 100).value_or(""), "text");
}

TEST_F(DeadlineReaderTest, TooManyWait_NothingIsReadUntilOneIsBack) {
  std::vector<std::string> fifos;
  for (size_t i = 0; i < DeadlineReader::kMaxOverdue; ++i) {
    fifos.push_back(Fifo());
    ASSERT_EQ(ReadOverdue(fifos.back(), std::to_string(i)).kind, ErrorKind::kTimeout);
  }
  EXPECT_THAT(ReadFile("other"), HasSubstr("too many reads are in flight"));
  Release(fifos[2]);
  while (ReadFile("other") != "text") std::this_thread::yield();
}

TEST_F(DeadlineReaderTest, NoThread_IsAnErrorAndWorksLater) {
  std::optional<DeadlineReader> reader;
  {
    const testing::NoThreads limit;
    reader.emplace(clock_, kPatient);
    const auto refused = reader->Read(tree_.Path("file"), "a", 100);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kIo);
    const auto again = reader->Read(tree_.Path("file"), "b", 100);
    ASSERT_FALSE(again);
    EXPECT_THAT(again.error().message, HasSubstr("failed to start a thread"));
  }
  reader->BeginScan();
  EXPECT_EQ(reader->Read(tree_.Path("file"), "a", 100).value_or(""), "text");
}

TEST_F(DeadlineReaderTest, End_LeavesOnlyThreadsBehindThatStillWait) {
  std::optional<DeadlineReader> reader;
  const std::string fifo = Fifo();
  reader.emplace(clock_, DeadlineReader::Limits{.deadline = 20ms});
  ASSERT_EQ(ReadOverdue(*reader, fifo, "a").kind, ErrorKind::kTimeout);
  EXPECT_EQ(ThreadsLeftBehind(), 0u);
  reader.reset();
  EXPECT_EQ(ThreadsLeftBehind(), 1u);
  Release(fifo);
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
  reader.emplace(clock_, kPatient);
  EXPECT_EQ(reader->Read(tree_.Path("file"), "a", 100).value_or(""), "text");
  reader.reset();
  EXPECT_EQ(ThreadsLeftBehind(), 0u);
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
