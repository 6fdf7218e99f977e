#include "os/proc_stat.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

constexpr std::string_view kText =
    "cpu  100 1 50 800 40 2 3 4 9 0\ncpu0 50 0 25 400 20 1 1 2 4 0\ncpu1 50 1 25 400 20 1 2 2 5 0\nintr 5 0 cpu 9\n";

TEST(OnlineDigest, OtherProcessors_AnotherDigest) {
  const uint64_t both = OnlineDigest("cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 5 6 7 8\nintr 5\n");
  EXPECT_EQ(OnlineDigest("cpu  9 9 9 9\ncpu0 9 2 3 4\ncpu1 9 6 7 8\nintr 6\n"), both) << "times do not matter";
  EXPECT_NE(OnlineDigest("cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 5\n"), both);
  EXPECT_NE(OnlineDigest("cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu2 5 6 7 8\nintr 5\n"), both) << "as many, but others";
}

TEST(ProcStat, Parse_Whole_EveryColumnAndProcessors) {
  const auto cpu = ParseProcStat(kText);
  ASSERT_TRUE(cpu) << cpu.error().message;
  EXPECT_EQ(*cpu, (ProcStatCpu{.user = 100,
                               .nice = 1,
                               .system = 50,
                               .idle = 800,
                               .iowait = 40,
                               .irq = 2,
                               .softirq = 3,
                               .steal = 4,
                               .cpus = 2}));
}

TEST(ProcStat, Parse_OldKernelWithFourColumns_RestIsZero) {
  const auto cpu = ParseProcStat("cpu  1 2 3 4\n");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->idle, 4U);
  EXPECT_EQ(cpu->steal, 0U);
}

TEST(ProcStat, Parse_MalformedOrTruncated_IsAnError) {
  for (const char* text :
       {"", "cpu", "cpu \n", "cpu  1 2 3\n", "cpu  1 2 x 4\n", "cpu  1 2 -3 4\n", "intr 1\n", "cpu0 1 2 3 4\n"}) {
    EXPECT_FALSE(ParseProcStat(text)) << text;
  }
}

TEST(MemoryLoad, Lines_AreFound_AndMissingOrMalformedOnesAreUnknown) {
  EXPECT_EQ(ParseContextSwitches("cpu  1 2 3 4\nctxt 987\nbtime 5\n"), 987U);
  EXPECT_EQ(ParseContextSwitches("cpu  1 2 3 4\nctxt x\n"), std::nullopt);
  EXPECT_EQ(ParsePageFaults("nr_free_pages 7\npgfault 12\npgmajfault 3\n"), 12U);
  EXPECT_EQ(ParsePageFaults("pgfault"), std::nullopt);
  EXPECT_EQ(ParseUsedMemory("MemTotal:        2048 kB\nMemFree: 9 kB\nMemAvailable:     48 kB\n"), 2000U * 1024);
  EXPECT_EQ(ParseUsedMemory("MemTotal: 48 kB\nMemAvailable: 50 kB\n"), 0U) << "never negative";
  for (const char* text :
       {"", "MemTotal: 2048 kB\n", "MemAvailable: 48 kB\n", "MemTotal: 2048\nMemAvailable: 48 kB\n",
        "MemTotal: x kB\nMemAvailable: 48 kB\n", "MemTotal: 18446744073709551615 kB\nMemAvailable: 48 kB\n"})
    EXPECT_EQ(ParseUsedMemory(text), std::nullopt) << text;
}

TEST(ProcStat, Read_TakesMemoryFromItsFiles_WhereTheyAre) {
  testing::FakeTree tree;
  testing::FakeClock clock;
  ProcStatReader reader(tree.root(), clock);
  tree.Write("stat", "cpu  1 2 3 4\nctxt 9\n");
  EXPECT_EQ(reader.Read()->context_switches, 9U);
  EXPECT_EQ(reader.Read()->page_faults, std::nullopt);
  tree.Write("vmstat", "pgfault 12\n");
  tree.Write("meminfo", "MemTotal: 4 kB\nMemAvailable: 1 kB\n");
  EXPECT_EQ(reader.Read()->page_faults, 12U);
  EXPECT_EQ(reader.Read()->used_memory, 3072U);
}

TEST(ProcStat, Read_SinceRenew_IsOneReadingForAll) {
  testing::FakeTree tree;
  testing::FakeClock clock;
  ProcStatReader reader(tree.root(), clock);
  const auto user = [&] { return reader.Read()->cpu.user; };
  const auto write = [&](int ticks) { tree.Write("stat", "cpu  " + std::to_string(ticks) + " 2 3 4\nprocesses 7\n"); };
  write(1);
  EXPECT_EQ(user(), 1U);
  write(2);
  EXPECT_EQ(user(), 2U) << "nobody shares it yet";
  reader.Renew();
  write(3);
  EXPECT_EQ(user(), 3U) << "read when it is asked for";
  write(4);
  EXPECT_EQ(user(), 3U);
  EXPECT_EQ(reader.Read()->tasks_made, 7U);
  tree.Remove("stat");
  reader.Renew();
  EXPECT_FALSE(reader.Read());
  write(5);
  EXPECT_FALSE(reader.Read()) << "nobody sees another machine than the others";
}

TEST(ProcStat, Read_MissingAndMalformed_ErrorNamesThePath) {
  testing::FakeTree tree;
  testing::FakeClock clock;
  ProcStatReader reader(tree.root(), clock);
  EXPECT_EQ(reader.Read().error().kind, ErrorKind::kNotFound);
  tree.Write("stat", "nonsense");
  const auto malformed = reader.Read();
  ASSERT_FALSE(malformed);
  EXPECT_NE(malformed.error().message.find(tree.Path("stat")), std::string::npos);
  tree.Write("stat", kText);
  EXPECT_TRUE(reader.Read());
}

TEST(ProcStat, InterruptsAndSteal_ForwardStepsOnly) {
  const ProcStatCpu before{.irq = 10, .softirq = 20, .steal = 5};
  const ProcStatCpu now{.irq = 13, .softirq = 19, .steal = 9};
  EXPECT_EQ(InterruptTime(before, now), 3 * ClockTick());
  EXPECT_EQ(StolenTime(before, now), 4 * ClockTick());
  EXPECT_EQ(StolenTime(now, before), Nanoseconds(0));
}

TEST(ProcStat, RanTime_IsBusyTimeWithoutSteal) {
  const ProcStatCpu before{.user = 10, .nice = 5, .idle = 7, .steal = 5};
  const ProcStatCpu now{.user = 13, .nice = 4, .system = 2, .idle = 70, .irq = 1, .softirq = 1, .steal = 9};
  EXPECT_EQ(RanTime(before, now), 7 * ClockTick());
}

TEST(UsageRatio, KnownSteps_IsBusyOverTotal) {
  const ProcStatCpu before{.user = 100, .idle = 1000, .iowait = 100};
  const ProcStatCpu now{.user = 130, .system = 10, .idle = 1040, .iowait = 110, .steal = 10};
  EXPECT_DOUBLE_EQ(UsageRatio(before, now).value(), 0.5);
  EXPECT_EQ(BusyTicks(before, now), 50U);
}

TEST(UsageRatio, NoTimePassed_IsZero) {
  const ProcStatCpu same{.user = 5, .idle = 5};
  EXPECT_EQ(UsageRatio(same, same).value(), 0.0);
}

TEST(UsageRatio, IdleAndIowaitStepBack_CountAsZero) {
  const ProcStatCpu before{.user = 100, .idle = 1000, .iowait = 100};
  EXPECT_DOUBLE_EQ(UsageRatio(before, {.user = 110, .idle = 990, .iowait = 110}).value(), 0.5);
  EXPECT_DOUBLE_EQ(UsageRatio(before, {.user = 110, .idle = 1010, .iowait = 50}).value(), 0.5);
}

RC_GTEST_PROP(UsageRatio, AnyTwoReadings_LiesWithinZeroAndOne, (uint32_t a, uint32_t b, uint32_t c, uint32_t d)) {
  const double ratio = UsageRatio({.user = a, .idle = b, .iowait = c}, {.user = d, .idle = a, .iowait = b}).value();
  RC_ASSERT(ratio >= 0.0 && ratio <= 1.0);
}

TEST(ParseTasksMade, OkMissingMalformedTruncated) {
  EXPECT_EQ(ParseTasksMade("cpu  1 2 3 4\nintr 5 6\nctxt 7\nprocesses 31721\nprocs_running 2\n"), 31721U);
  EXPECT_EQ(ParseTasksMade("cpu  1 2 3 4\nprocesses 31"), 31U);
  EXPECT_EQ(ParseTasksMade(""), std::nullopt);
  EXPECT_EQ(ParseTasksMade("cpu  1 2 3 4\nprocs_running 2\n"), std::nullopt);
  EXPECT_EQ(ParseTasksMade("cpu  1 2 3 4\nprocesses \n"), std::nullopt);
  EXPECT_EQ(ParseTasksMade("cpu  1 2 3 4\nprocesses -1\n"), std::nullopt);
}

TEST(ParseSoftirqs, OkMissingMalformedTruncated) {
  const std::string cpu = "cpu  1 2 3 4\n";
  constexpr Softirqs kFound{.net_tx = 4, .net_rx = 5, .block = 6};
  EXPECT_EQ(ParseSoftirqs(cpu + "softirq 99 2 3 4 5 6 7 8 9 10 11\n"), kFound);
  EXPECT_EQ(ParseSoftirqs(cpu + "softirq 99 2 3 4 5 6"), kFound) << "what stands behind is not needed";
  EXPECT_EQ(ParseSoftirqs(""), std::nullopt);
  EXPECT_EQ(ParseSoftirqs(cpu), std::nullopt);
  EXPECT_EQ(ParseSoftirqs(cpu + "softirq 99 2 3 4 5\n"), std::nullopt);
  EXPECT_EQ(ParseSoftirqs(cpu + "softirq 99 2 3 4 5 -6 7\n"), std::nullopt);
  EXPECT_EQ(ParseSoftirqs(cpu + "softirq 99 2 3 4 99999999999999999999999 6\n"), std::nullopt);
  EXPECT_EQ(ParseSoftirqs(cpu + "softirq \n"), std::nullopt);
}

}  // namespace
}  // namespace kepler::os
