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
  /// Returns the number of looks; `arrives` gets the number of each.
  template <class Arrives>
  int Looks(Arrives arrives) {
    int looks = 0;
    awaited_.Await(kernel_.table, kernel_.files, [&] { arrives(++looks); });
    return looks;
  }
  int Looks() {
    return Looks([](int) {});
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
  EXPECT_EQ(Looks(), AwaitedEnds::kMaxLooks);
  awaited_.Note(kernel_.Scan());
  EXPECT_EQ(Looks(), 0);
}

TEST_F(AwaitedEndsTest, LivingProcess_IsNotAwaited) { EXPECT_EQ(Looks(), 0); }

TEST_F(AwaitedEndsTest, ProcessWithItsRecord_IsNotAwaited) {
  kernel_.table.AddFreed(EndAfter(50, 25 * kMs));
  EXPECT_EQ(Looks(), 0);
}

TEST_F(AwaitedEndsTest, ProcessThatUsedLittle_IsNotAwaited) {
  EndAfter(60, 25 * kMs);
  EXPECT_EQ(Looks(), 0);
}

TEST_F(AwaitedEndsTest, ShareBelowOneSixtyFourth_IsNotAwaited) {
  kernel_.living[50].ran += 20 * kMs;
  kernel_.living[60].ran += 64 * 20 * kMs;
  awaited_.Note(kernel_.Scan());
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
