#include "attribution/process_listing.h"

#include <gtest/gtest.h>

#include <map>

#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;

class Limited : public LedgerTest {
 protected:
  explicit Limited(const ProcessLimits& limits)
      : LedgerTest({std::chrono::minutes(2), Energy::Joules(1000), 500}, limits) {}

  /// `times`: milliseconds per process. The zone used one joule per millisecond.
  const snapshot::Snapshot& Run(const std::map<Row, int>& times) {
    Begin();
    int64_t sum = 0;
    for (const auto& [row, time] : times) {
      ledger_.UseProcess(row, std::chrono::milliseconds(time));
      sum += time;
    }
    return Settle(sum);
  }
  const snapshot::Snapshot& RunFor(int ticks, const std::map<Row, int>& times) {
    for (int i = 1; i < ticks; ++i) Run(times);
    return Run(times);
  }
  /// Joules by pid.
  std::map<int, int64_t> Listed() const {
    std::map<int, int64_t> listed;
    for (size_t row = 0; row < snapshot_.processes.rows(); ++row)
      EXPECT_TRUE(
          listed.emplace(snapshot_.processes.identity[row]->pid, Joules(snapshot_.processes.energy_at(row, 0))).second);
    return listed;
  }
  int64_t Capped() const { return UnlistedJoules(Level::kProcess, Unlisted::kCapped); }
  int64_t Departed() const { return UnlistedJoules(Level::kProcess, Unlisted::kDeparted); }
  Row KernelThread(int32_t pid, const Groups& groups = {}) {
    snapshot::ProcessIdentity identity = *Identify(static_cast<size_t>(pid));
    identity.comm = pid == 2 ? "kthreadd" : "kworker";
    return ledger_.OpenProcess(std::make_shared<const snapshot::ProcessIdentity>(identity), groups,
                               /*kernel_thread=*/true);
  }
};

class MaxTwo : public Limited {
 protected:
  MaxTwo() : Limited({.max = 2}) {}
};

TEST_F(MaxTwo, ThoseWithMostPower_HaveASeries_TheOthersAreCapped) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  const Row c = Process(3);
  Settle(0);
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{1, 0}, {2, 0}})) << "all are alike: the older two";
  EXPECT_EQ(Run({{a, 50}, {b, 10}, {c, 40}}).cut->max, 1);
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{1, 50}, {2, 10}})) << "shown once more";
  EXPECT_EQ(Run({{a, 50}, {b, 10}, {c, 40}}).cut->max, 1);
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{1, 100}, {3, 40}}));
  EXPECT_EQ(Departed(), 10) << "no more than its series had shown";
  EXPECT_EQ(Capped(), 50);
}

TEST_F(MaxTwo, ALittleMorePower_TakesNobodysSeries) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  const Row c = Process(3);
  Settle(0);
  RunFor(5, {{a, 50}, {b, 20}, {c, 10}});
  RunFor(300, {{a, 50}, {b, 20}, {c, 25}});
  EXPECT_TRUE(Listed().contains(2));
  EXPECT_EQ(Departed(), 0);
  RunFor(300, {{a, 50}, {b, 20}, {c, 35}});
  EXPECT_FALSE(Listed().contains(2));
  EXPECT_TRUE(Listed().contains(3));
}

TEST_F(MaxTwo, WhoIsListedAgain_StartsAtZeroWithThatTick) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  const Row c = Process(3);
  Settle(0);
  RunFor(100, {{a, 50}, {b, 20}, {c, 10}});
  const int64_t capped = Capped();
  EXPECT_EQ(capped, 1000);
  RunFor(2, {{a, 50}, {b, 20}, {c, 10'000}});
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{1, 5100}, {3, 10'000}}));
  EXPECT_EQ(Capped(), capped + 10'000 + 20);
  EXPECT_EQ(Departed(), 20 * 101);
  for (size_t row = 0; row < snapshot_.processes.rows(); ++row) {
    if (snapshot_.processes.identity[row]->pid != 3) continue;
    EXPECT_EQ(snapshot_.processes.begin_of(row), now_ - std::chrono::seconds(1));
    EXPECT_EQ(snapshot_.processes.cpu[row], std::chrono::seconds(10));
    EXPECT_DOUBLE_EQ(snapshot_.processes.watts_at(row, 0), 10'000);
  }
}

TEST_F(MaxTwo, WhoEndsWithoutASeries_GetsNone) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  const Row c = Process(3);
  const Row d = Process(4);
  Settle(0);
  RunFor(20, {{a, 500}, {b, 200}, {c, 100}, {d, 100}});
  EXPECT_EQ(Capped(), 4000);
  Begin();
  ledger_.UseProcess(a, std::chrono::milliseconds(10));
  ledger_.UseProcess(c, std::chrono::milliseconds(900));
  ledger_.UseProcess(d, std::chrono::milliseconds(1090));
  ledger_.EndProcess(c);
  ledger_.EndProcess(d);
  Settle(2000);
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{1, 10'010}, {2, 4000}}));
  EXPECT_EQ(Capped(), 5990);
}

class MinPower : public Limited {
 protected:
  MinPower() : Limited({.min_power = Power::Watts(10)}) {}
};

TEST_F(MinPower, WhoHasLess_IsCapped_UntilItHasMore) {
  Begin();
  const Row a = Process(1);
  const Row b = Process(2);
  Settle(0);
  EXPECT_EQ(RunFor(200, {{a, 12}, {b, 9}}).cut->min_power, 1);
  EXPECT_EQ(Listed().size(), 1);
  EXPECT_TRUE(Listed().contains(1));
  EXPECT_EQ(RunFor(200, {{a, 8}, {b, 11}}).cut->min_power, 0) << "a stays down to two thirds of the limit";
  EXPECT_EQ(RunFor(200, {{a, 6}, {b, 11}}).cut->min_power, 1);
  EXPECT_FALSE(Listed().contains(1));
}

TEST_F(MinPower, ScansThatFail_ChangeNothing) {
  Begin();
  const Row a = Process(1);
  Process(2);
  Settle(0);
  RunFor(200, {{a, 11}});
  for (int i = 0; i < 200; ++i) {
    Begin();
    SettleZones({{Energy::Joules(11), Power::Watts(11), true}}, 1, Scan::kFailed);
  }
  EXPECT_TRUE(Listed().contains(1));
  for (int i = 0; i < 200; ++i) {
    Begin();
    SettleZones({{Energy{}, Power{}, false}});
  }
  EXPECT_TRUE(Listed().contains(1)) << "no power was known";
}

class OneForKernelThreads : public Limited {
 protected:
  OneForKernelThreads() : Limited({.kernel_threads = KernelThreads::kOne}) {}
};

TEST_F(OneForKernelThreads, TheirParentShowsWhatAllOfThemUsed) {
  Begin();
  const Row a = KernelThread(2);
  const Row b = KernelThread(15);
  const Row user = Process(100);
  Settle(0);
  EXPECT_EQ(RunFor(3, {{a, 5}, {b, 10}, {user, 20}}).cut->kernel_threads, 1) << "one of the two is shown";
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{2, 45}, {100, 60}}));
  EXPECT_EQ(Capped() + Departed(), 0);
  Begin();
  ledger_.UseProcess(b, std::chrono::milliseconds(7));
  ledger_.EndProcess(b);
  ledger_.EndProcess(a);
  Settle(7);
  EXPECT_EQ(Listed().at(2), 52);
  EXPECT_EQ(Capped(), 0);
  for (size_t row = 0; row < snapshot_.processes.rows(); ++row)
    if (snapshot_.processes.identity[row]->pid == 2) {
      EXPECT_EQ(snapshot_.processes.cpu[row], std::chrono::milliseconds(52));
    }
}

TEST_F(OneForKernelThreads, ThoseOfAContainer_StayItsOwn) {
  Begin();
  const Row box = ledger_.Container(Box("a"), kNoRow);
  const Row vhost = KernelThread(50, {.container = box});
  Settle(0);
  Run({{vhost, 5}});
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{50, 5}}));
}

class NoKernelThreads : public Limited {
 protected:
  NoKernelThreads() : Limited({.kernel_threads = KernelThreads::kNone}) {}
};

TEST_F(NoKernelThreads, WhatTheyUse_IsCapped) {
  Begin();
  const Row a = KernelThread(15);
  const Row user = Process(100);
  Settle(0);
  Run({{a, 5}, {user, 20}});
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{100, 20}}));
  EXPECT_EQ(Capped(), 5);
}

TEST_F(LedgerTest, NoLimit_NothingIsCut) {
  Begin();
  Process(1);
  EXPECT_FALSE(Settle(0).cut.has_value());
}

}  // namespace
}  // namespace kepler::attribution
