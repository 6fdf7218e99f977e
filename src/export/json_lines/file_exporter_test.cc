#include "export/json_lines/file_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "base/small_file.h"
#include "base/thread.h"
#include "export/series/visit.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/snapshot_builder.h"

namespace kepler::json_lines {
namespace {

class FileExporterTest : public ::testing::Test {
 protected:
  std::unique_ptr<FileExporter> Open(const std::string& path) {
    FileOptions options{.path = path, .limits = {}, .interval = std::chrono::hours(1), .lines = {}};
    options.lines.node = "n1";
    options.lines.levels = series::kAllLevels;
    return std::make_unique<FileExporter>(
        std::move(options), [this] { return series::Reading{.snapshot = snapshot_}; }, testing::Lend(clock_));
  }
  void Tick(uint64_t sequence) {
    auto next = std::make_shared<snapshot::Snapshot>(testing::EmptySnapshot({"package"}));
    next->sequence = sequence;
    snapshot_ = std::move(next);
  }
  std::string Text() { return ReadSmallFile(tree_.Path("log")).value_or(""); }
  static uint64_t At(const auto& counters, auto reason) { return counters[static_cast<size_t>(reason)]; }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::shared_ptr<const snapshot::Snapshot> snapshot_;
};

TEST_F(FileExporterTest, WritesEachSnapshotOnce) {
  const auto exporter = Open(tree_.Path("log"));
  exporter->WriteOnce();
  EXPECT_EQ(Text(), "") << "no snapshot yet";
  Tick(1);
  exporter->WriteOnce();
  const std::string once = Text();
  exporter->WriteOnce();
  EXPECT_EQ(Text(), once);
  Tick(2);
  exporter->WriteOnce();
  EXPECT_EQ(Text(), once + once);
  const status::PushStatus status = exporter->status();
  EXPECT_EQ(status.exporter, "json_lines");
  EXPECT_EQ(status.requests, 2u);
  EXPECT_EQ(status.points, static_cast<uint64_t>(std::ranges::count(Text(), '\n')));
  EXPECT_EQ(status.last_success, clock_.Wall());
}

TEST_F(FileExporterTest, AFailureIsCounted_AndTheNextTickIsWritten) {
  const auto exporter = Open(tree_.Path("later/log"));
  Tick(1);
  exporter->WriteOnce();
  EXPECT_EQ(At(exporter->status().failures, status::PushFailure::kFile), 1u);
  EXPECT_GT(At(exporter->status().dropped_points, status::PushDrop::kFile), 0u);
  tree_.MakeDir("later");
  Tick(2);
  exporter->WriteOnce();
  EXPECT_EQ(exporter->status().requests, 1u);
}

TEST_F(FileExporterTest, TheThreadWritesAtOnce_AndAtItsEndWithoutWaitingForItsInterval) {
  Tick(1);
  auto exporter = Open(tree_.Path("log"));
  ASSERT_TRUE(exporter->Start());
  while (exporter->status().requests == 0) std::this_thread::yield();
  const std::string once = Text();
  Tick(2);
  exporter.reset();
  EXPECT_EQ(Text(), once + once);
}

/// A clock whose second look hangs, as the thread would on a dead disk.
class HangingClock final : public Clock {
 public:
  [[nodiscard]] BootTime Now() const override {
    if (++looks_ == 2) hang_.get_future().wait();
    return inner_.Now();
  }
  [[nodiscard]] WallTime Wall() const override { return inner_.Wall(); }
  void End() { hang_.set_value(); }
  [[nodiscard]] int looks() const { return looks_; }

 private:
  mutable std::promise<void> hang_;
  mutable std::atomic<int> looks_ = 0;
  const testing::FakeClock inner_;
};

TEST_F(FileExporterTest, ThreadThatIsLeftBehind_ReadsNothingAfterStop) {
  const auto clock = std::make_shared<HangingClock>();
  std::atomic<int> reads = 0;
  FileExporter exporter(
      {.path = tree_.Path("log"), .limits = {}, .lines = {}}, [&] { return ++reads, series::Reading{}; }, clock);
  ASSERT_TRUE(exporter.Start());
  while (clock->looks() < 2) std::this_thread::yield();
  exporter.Stop(std::chrono::steady_clock::now());
  EXPECT_EQ(ThreadsLeftBehind(), 1U);
  clock->End();
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
  EXPECT_EQ(reads, 1);
}

}  // namespace
}  // namespace kepler::json_lines
