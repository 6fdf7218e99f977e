#include "base/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "testing/fake_tree.h"
#include "testing/no_threads.h"

namespace kepler::log {
namespace {

using namespace std::chrono_literals;

std::string Notice(uint64_t dropped) { return "dropped " + std::to_string(dropped); }

/// A pipe, and a writer into it.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    reader.Reset(ends[0]);
    end.Reset(ends[1]);
    EXPECT_GT(fcntl(end.get(), F_SETPIPE_SZ, 16384), 0);
  }
  /// What comes until the writing end is closed and the pipe empty.
  std::string ReadAll() {
    std::string all;
    std::array<char, 4096> chunk{};
    for (ssize_t n = 0; (n = read(reader.get(), chunk.data(), chunk.size())) > 0;)
      all.append(chunk.data(), static_cast<size_t>(n));
    return all;
  }
  UniqueFd reader, end;
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// How many lines a notice reports; nothing for an ordinary line.
std::optional<uint64_t> Reported(const std::string& line) {
  if (!line.starts_with("dropped ")) return std::nullopt;
  return std::stoull(line.substr(8));
}

/// Numbered lines 0, 1, ... with notices that stand exactly where `of` lines are missing; how many are.
uint64_t ExpectEveryLineOrItsNotice(const std::vector<std::string>& lines, uint64_t of) {
  uint64_t next = 0, missing = 0;
  for (const std::string& line : lines) {
    if (const auto reported = Reported(line)) {
      next += *reported;
      missing += *reported;
      continue;
    }
    EXPECT_EQ(line, std::to_string(next));
    ++next;
  }
  EXPECT_EQ(next, of);
  return missing;
}

TEST(LogWriter, ReaderThatKeepsUp_GetsEveryLineInOrder) {
  Pipe pipe;
  std::string all;
  std::jthread reading([&] { all = pipe.ReadAll(); });
  {
    LogWriter writer(pipe.end.get(), Notice);
    ASSERT_TRUE(writer.Start());
    for (int i = 0; i < 500; ++i) writer.Add(std::to_string(i));
    EXPECT_TRUE(writer.Flush(10s));
    EXPECT_EQ(writer.dropped(), 0u);
  }
  pipe.end.Reset();
  reading.join();
  EXPECT_EQ(ExpectEveryLineOrItsNotice(Lines(all), 500), 0u);
}

TEST(LogWriter, ReaderThatKeepsUp_NothingIsDroppedHoweverMuchItIs) {
  Pipe pipe;
  std::string all;
  std::jthread reading([&] { all = pipe.ReadAll(); });
  constexpr size_t kLine = LogWriter::kMaxBytes / 8;
  {
    LogWriter writer(pipe.end.get(), Notice);
    ASSERT_TRUE(writer.Start());
    for (int i = 0; i < 20; ++i) {
      writer.Add(std::string(kLine, 'x'));
      ASSERT_TRUE(writer.Flush(10s));
    }
    EXPECT_EQ(writer.dropped(), 0u);
  }
  pipe.end.Reset();
  reading.join();
  EXPECT_EQ(all.size(), 20 * (kLine + 1));
}

TEST(LogWriter, ReaderThatStandsStill_HoldsUpNobodyAndHearsWhatItMissed) {
  Pipe pipe;
  LogWriter writer(pipe.end.get(), Notice);
  ASSERT_TRUE(writer.Start());
  writer.Add(std::string(20'000, 'x'));  // more than the pipe holds
  for (int i = 0; i < 20'000; ++i) writer.Add(std::to_string(i));
  EXPECT_FALSE(writer.Flush(1ms));
  const uint64_t dropped = writer.dropped();
  EXPECT_GT(dropped, 10'000u);
  std::string all;
  std::jthread reading([&] { all = pipe.ReadAll(); });
  EXPECT_TRUE(writer.Flush(10s));
  writer.Add("20000");
  EXPECT_TRUE(writer.Flush(10s));
  pipe.end.Reset();
  reading.join();
  auto lines = Lines(all);
  EXPECT_EQ(lines.front(), std::string(20'000, 'x'));
  lines.erase(lines.begin());
  EXPECT_EQ(ExpectEveryLineOrItsNotice(lines, 20'001), dropped);
  EXPECT_EQ(writer.dropped(), dropped);
  EXPECT_EQ(std::ranges::count_if(lines, [](const auto& line) { return Reported(line).has_value(); }), 1);
}

TEST(LogWriter, OnceItIsFull_TakesNothingUntilHalfIsWritten) {
  constexpr int kCapacity = 16'384;
  Pipe pipe;
  if (::sysconf(_SC_PAGESIZE) != 4096) GTEST_SKIP() << "how a pipe fills depends on the size of a page";
  LogWriter writer(pipe.end.get(), Notice);
  ASSERT_TRUE(writer.Start());
  const auto fills_to = [&](int bytes) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    int waiting = 0;
    while (waiting < bytes && std::chrono::steady_clock::now() < deadline) {
      if (ioctl(pipe.reader.get(), FIONREAD, &waiting) != 0) return false;
      std::this_thread::yield();
    }
    return waiting >= bytes;
  };
  writer.Add(std::string(20'000, 'x'));
  for (int i = 0; i < 2'000; ++i) writer.Add(std::string(50, '.'));
  ASSERT_TRUE(fills_to(kCapacity));
  std::array<char, 2 * 4096> pages{};  // for the rest of the long line and some others: poll(2) wants a free page
  ASSERT_EQ(read(pipe.reader.get(), pages.data(), pages.size()), static_cast<ssize_t>(pages.size()));
  ASSERT_TRUE(fills_to(kCapacity - 4096));
  const uint64_t dropped = writer.dropped();
  for (uint64_t i = 1; i <= 10; ++i) {
    writer.Add("more");
    EXPECT_EQ(writer.dropped(), dropped + i);
  }
}

TEST(LogWriter, LongLines_AreBoundedByTheirBytes) {
  Pipe pipe;
  LogWriter writer(pipe.end.get(), Notice);
  ASSERT_TRUE(writer.Start());
  for (int i = 0; i < 100; ++i) writer.Add(std::string(LogWriter::kMaxBytes / 10, 'x'));
  EXPECT_GE(writer.dropped(), 90u);
}

TEST(LogWriter, WriterThatEnds_DoesNotWaitForItsReader) {
  Pipe pipe;
  {
    LogWriter writer(pipe.end.get(), Notice);
    ASSERT_TRUE(writer.Start());
    for (int i = 0; i < 2'000; ++i) writer.Add(std::to_string(i));
  }
  SUCCEED() << "or the test's own time is over";
}

TEST(LogWriter, ReaderThatWentAway_MakesEveryLineADroppedOne) {
  Pipe pipe;
  pipe.reader.Reset();
  LogWriter writer(pipe.end.get(), Notice);
  ASSERT_TRUE(writer.Start());  // its thread has SIGPIPE blocked
  for (int i = 0; i < 10; ++i) writer.Add("x");
  EXPECT_TRUE(writer.Flush(10s));
  EXPECT_EQ(writer.dropped(), 10u);
}

TEST(LogWriter, LinesThatCouldNotBeWritten_AreReportedBeforeTheNextOne) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  Pipe pipe;
  LogWriter writer(full.get(), Notice);
  for (int i = 0; i < 3; ++i) writer.Add(std::to_string(i));
  EXPECT_EQ(writer.dropped(), 3u);
  writer.SetFd(pipe.end.get());
  writer.Add("3");
  pipe.end.Reset();
  EXPECT_EQ(Lines(pipe.ReadAll()), (std::vector<std::string>{"dropped 3", "3"}));
}

/// Limits every file of this process to a number of bytes, as a full disk does, until the end of the scope.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t room) : signal_(signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    Resize(room);
  }
  ~SmallDisk() {
    Resize(before_.rlim_cur);
    signal(SIGXFSZ, signal_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  void Resize(rlim_t room) const {
    const rlimit limit{.rlim_cur = room, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }

 private:
  void (*signal_)(int);
  rlimit before_{};
};

TEST(LogWriter, LineThatIsCutByAFullDisk_IsEndedBeforeTheNextOne) {
  testing::FakeTree tree;
  tree.Write("log", "");
  const UniqueFd file(open(tree.Path("log").c_str(), O_WRONLY | O_CLOEXEC));
  LogWriter writer(file.get(), Notice);
  {
    const SmallDisk disk(10);
    writer.Add("first");
    writer.Add("second");  // "seco"
    writer.Add("third");
    disk.Resize(11);  // for the end of the line that was cut
    writer.Add("fourth");
    EXPECT_EQ(writer.dropped(), 3u);
  }
  writer.Add("fifth");
  std::ifstream written(tree.Path("log"));
  std::stringstream all;
  all << written.rdbuf();
  EXPECT_EQ(all.str(), "first\nseco\ndropped 3\nfifth\n");
}

TEST(LogWriter, TextThatIsCutAtTheEndOfOneOfItsLines_LeavesNoEmptyLine) {
  testing::FakeTree tree;
  tree.Write("log", "");
  const UniqueFd file(open(tree.Path("log").c_str(), O_WRONLY | O_CLOEXEC));
  LogWriter writer(file.get(), Notice);
  {
    const SmallDisk disk(4);
    writer.Add("one\ntwo");
  }
  writer.Add("three");
  std::ifstream written(tree.Path("log"));
  std::stringstream all;
  all << written.rdbuf();
  EXPECT_EQ(all.str(), "one\ndropped 1\nthree\n");
}

TEST(LogWriter, BeforeItsThread_WritesWhatIsTakenAtOnce) {
  Pipe pipe;
  LogWriter writer(pipe.end.get(), Notice);
  writer.Add("0");
  std::array<char, 8> first{};
  EXPECT_EQ(read(pipe.reader.get(), first.data(), first.size()), 2);
  for (int i = 1; i < 5'000; ++i) writer.Add(std::to_string(i));
  EXPECT_FALSE(writer.Flush(1ms));
  const uint64_t dropped = writer.dropped();
  EXPECT_GT(dropped, 0u);
  ASSERT_TRUE(writer.Start());
  std::string all;
  std::jthread reading([&] { all = pipe.ReadAll(); });
  EXPECT_TRUE(writer.Flush(10s));
  pipe.end.Reset();
  reading.join();
  EXPECT_EQ(ExpectEveryLineOrItsNotice(Lines("0\n" + all), 5'000), dropped);
}

TEST(LogWriter, NoThreadToBeHad_GoesOnAsBefore) {
  Pipe pipe;
  LogWriter writer(pipe.end.get(), Notice);
  {
    const testing::NoThreads none;
    const auto started = writer.Start();
    ASSERT_FALSE(started);
    EXPECT_TRUE(started.error().message.starts_with("start thread log: ")) << started.error().message;
  }
  writer.Add("0");
  pipe.end.Reset();
  EXPECT_EQ(pipe.ReadAll(), "0\n");
}

}  // namespace
}  // namespace kepler::log
