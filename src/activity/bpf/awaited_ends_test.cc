#include "activity/bpf/awaited_ends.h"

#include <gtest/gtest.h>

#include "activity/bpf/fake_kernel_test_util.h"

namespace kepler::activity::bpf {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// Process 50 has used 40 ms in the latest scan, and process 60 a tenth of a millisecond.
class AwaitedEndsTest : public AfterOneScan {
 protected:
  AwaitedEndsTest() {
    for (const int pid : {1, 50, 60}) kernel_.tree.Write("proc/" + std::to_string(pid) + "/stat", "");
    kernel_.Start({.tid = 50, .tgid = 50, .ran = 40 * kMs});
    kernel_.Start({.tid = 60, .tgid = 60, .ran = kMs / 10});
    awaited_.Note(kernel_.Scan());
  }
  /// Returns the number of looks; `arrives` gets the number of each. A look takes `pause`.
  template <class Arrives>
  int Looks(Arrives arrives, Nanoseconds pause = AwaitedEnds::kPause) {
    int looks = 0;
    awaited_.Await(kernel_.table, kernel_.files, kernel_.clock, [&] {
      kernel_.clock.Advance(pause);
      arrives(++looks);
    });
    return looks;
  }
  int Looks(Nanoseconds pause = AwaitedEnds::kPause) {
    return Looks([](int) {}, pause);
  }
  /// CPU time of the processes 50 and 60 in one more scan.
  void Use(uint64_t by_50, uint64_t by_60) {
    kernel_.living[50].ran += by_50;
    kernel_.living[60].ran += by_60;
    awaited_.Note(kernel_.Scan());
  }
  kepler_task EndAfter(int pid, uint64_t more) {
    kernel_.living[pid].ran += more;
    kernel_.tree.Remove("proc/" + std::to_string(pid));
    return kernel_.End(pid);
  }
  AwaitedEnds awaited_;
};

TEST_F(AwaitedEndsTest, BusyProcessWithoutItsRecord_IsAwaitedUntilItComes) {
  const kepler_task record = EndAfter(50, 25 * kMs);
  EXPECT_EQ(Looks([&](int look) {
              if (look == 3) kernel_.table.AddFreed(record);
            }),
            3);
  kernel_.Scan();
  EXPECT_EQ(kernel_.Given(), 25 * kMs);
}

TEST_F(AwaitedEndsTest, RecordThatNeverComes_IsAwaitedForALimitedTimeAndOnce) {
  EndAfter(50, 25 * kMs);
  EXPECT_EQ(Looks(), AwaitedEnds::kMaxWait / AwaitedEnds::kPause);
  EXPECT_EQ(Looks(), 0) << "after a failed pass";
  awaited_.Note(kernel_.Scan());
  EXPECT_EQ(Looks(), 0);
}

TEST_F(AwaitedEndsTest, PausesThatTakeLonger_DoNotMakeTheWaitLonger) {
  EndAfter(50, 25 * kMs);
  EXPECT_EQ(Looks(AwaitedEnds::kMaxWait / 2), 2);
}

TEST_F(AwaitedEndsTest, LivingProcess_IsNotAwaited) { EXPECT_EQ(Looks(), 0); }

TEST_F(AwaitedEndsTest, ProcessWithItsRecord_IsNotAwaited) {
  kernel_.table.AddFreed(EndAfter(50, 25 * kMs));
  EXPECT_EQ(Looks(), 0);
}

TEST_F(AwaitedEndsTest, ProcessThatUsedLittle_IsNotAwaited) {
  Use(AwaitedEnds::kMin / Nanoseconds(1) - 1, 0);
  EndAfter(50, 25 * kMs);
  EXPECT_EQ(Looks(), 0) << "it used the most";
}

TEST_F(AwaitedEndsTest, ShareOfOneSixtyFourth_IsAwaited) {
  Use(20 * kMs, 63 * 20 * kMs);
  EndAfter(50, 25 * kMs);
  EXPECT_GT(Looks(), 0);
}

TEST_F(AwaitedEndsTest, SmallerShare_IsNotAwaited) {
  Use(20 * kMs, 64 * 20 * kMs);
  EndAfter(50, 25 * kMs);
  EXPECT_EQ(Looks(), 0);
}

TEST_F(AwaitedEndsTest, ProcThatHidesProcesses_TellsNoEnd) {
  EndAfter(50, 25 * kMs);
  kernel_.tree.Remove("proc/1");
  EXPECT_EQ(Looks(), 0);
}

TEST_F(AwaitedEndsTest, HiddenProcess_HasNoRecord) {
  kernel_.BeginScan(std::chrono::seconds(5));
  for (const auto& [tid, thread] : kernel_.living) kernel_.Show(thread);
  kernel_.tree.Write("proc/70/stat", "");
  kepler_task hidden = TaskOf({.tid = 70, .tgid = 70, .ran = 0}, kernel_.Now() / 10'000'000 * 10'000'000, 0);
  kernel_.table.AddHidden(hidden);
  kernel_.EndScan();
  kernel_.BeginScan(std::chrono::seconds(5));
  for (const auto& [tid, thread] : kernel_.living) kernel_.Show(thread);
  hidden.ran = 40 * kMs;
  kernel_.table.AddHidden(hidden);
  awaited_.Note(kernel_.EndScan());
  ASSERT_EQ(kernel_.CpuOf(70), 40 * kMs);
  kernel_.tree.Remove("proc/70");
  EXPECT_EQ(Looks(), 0);
}

}  // namespace
}  // namespace kepler::activity::bpf
