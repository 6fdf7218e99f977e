// Dies that show their package's counter, and dies that have their own, seen through the Meter.
#include "energy/rapl/die_mirrors.h"

#include <gtest/gtest.h>

#include "energy/meter.h"
#include "energy/rapl/powercap_source.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::rapl {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kJoule = 1'000'000;
constexpr uint64_t kRange = 65'532'610'987;

class DieMirrorsTest : public ::testing::Test {
 protected:
  void Die(int die, uint64_t value, int socket = 0) {
    const std::string base = Base(die, socket);
    tree_.Write(base + "name", "package-" + std::to_string(socket) + "-die-" + std::to_string(die) + "\n");
    tree_.Write(base + "max_energy_range_uj", std::to_string(kRange) + "\n");
    Count(die, value, socket);
  }
  void Count(int die, uint64_t value, int socket = 0) {
    tree_.Write(Base(die, socket) + "energy_uj", std::to_string(value % (kRange + 1)) + "\n");
  }
  void Break(int die) { tree_.Write(Base(die, 0) + "energy_uj", "broken\n"); }
  void BreakRange(int die) { tree_.Write(Base(die, 0) + "max_energy_range_uj", "0\n"); }
  void Open() {
    meter_ = std::make_unique<Meter>(std::make_unique<PowercapSource>(tree_.root(), std::vector<std::string>{}, clock_),
                                     clock_);
    ASSERT_TRUE(meter_->Open());
    meter_->Sample();
  }
  /// What the zone shows in all, in joules, one interval later.
  int64_t TotalAfter(Nanoseconds time = 5s) {
    clock_.Advance(time);
    meter_->Sample();
    total_ += meter_->deltas()[0].energy;
    return total_.microjoules() / static_cast<int64_t>(kJoule);
  }
  bool Fresh() const { return meter_->deltas()[0].fresh; }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::unique_ptr<Meter> meter_;
  Energy total_;

 private:
  static std::string Base(int die, int socket) {
    return "class/powercap/intel-rapl:" + std::to_string(socket * 8 + die) + "/";
  }
};

TEST_F(DieMirrorsTest, FourDiesShowOneCounter_ItCountsOnce) {
  for (int die = 0; die < 4; ++die) Die(die, 700 * kJoule);
  Open();
  for (int64_t i = 1; i <= 3; ++i) {
    for (int die = 0; die < 4; ++die) Count(die, (700 + 100 * static_cast<uint64_t>(i)) * kJoule);
    EXPECT_EQ(TotalAfter(), 100 * i);
    EXPECT_TRUE(Fresh());
    EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 20.0);
  }
  EXPECT_EQ(meter_->status().failed_reads, 0u);
}

TEST_F(DieMirrorsTest, DiesWithTheirOwnCounters_AreAdded) {
  Die(0, 700 * kJoule);
  Die(1, 500 * kJoule);
  Open();
  Count(0, 800 * kJoule);
  Count(1, 800 * kJoule);  // they meet now, which proves nothing any more
  EXPECT_EQ(TotalAfter(), 100 + 300);
  Count(0, 900 * kJoule);
  Count(1, 900 * kJoule);
  EXPECT_EQ(TotalAfter(), 400 + 200);
}

TEST_F(DieMirrorsTest, EqualAtTheStartOnly_NothingIsLost) {
  Die(0, 0);
  Die(1, 0);
  Open();
  EXPECT_EQ(TotalAfter(), 0);
  Count(0, 100 * kJoule);
  Count(1, 70 * kJoule);
  EXPECT_EQ(TotalAfter(), 170);
  EXPECT_TRUE(Fresh());
}

TEST_F(DieMirrorsTest, SocketsAreNeverTakenForMirrors) {
  Die(0, 700 * kJoule, 0);
  Die(0, 700 * kJoule, 1);
  Open();
  for (int socket = 0; socket < 2; ++socket) Count(0, 800 * kJoule, socket);
  EXPECT_EQ(TotalAfter(), 200);
}

TEST_F(DieMirrorsTest, FirstDieFailsBeforeTheVerdict_ItsMirrorDoesNotCountForIt) {
  Die(0, 700 * kJoule);
  Die(1, 700 * kJoule);
  Open();
  Break(0);
  Count(1, 800 * kJoule);
  EXPECT_EQ(TotalAfter(), 0);
  EXPECT_FALSE(Fresh());
  for (int die = 0; die < 2; ++die) Count(die, 900 * kJoule);
  EXPECT_EQ(TotalAfter(), 200);
  EXPECT_TRUE(Fresh());
}

TEST_F(DieMirrorsTest, FirstDieFailsBeforeTheVerdict_AnotherCounterIsCaughtUp) {
  Die(0, 700 * kJoule);
  Die(1, 700 * kJoule);
  Open();
  Break(0);
  Count(1, 750 * kJoule);
  EXPECT_EQ(TotalAfter(), 0);
  Count(0, 900 * kJoule);
  Count(1, 800 * kJoule);
  EXPECT_EQ(TotalAfter(), 200 + 100);
}

TEST_F(DieMirrorsTest, FirstDieHasNoRange_TheOthersCountOnceAndSoDoesItLater) {
  for (int die = 0; die < 4; ++die) Die(die, 700 * kJoule);
  BreakRange(0);
  Open();
  for (int64_t i = 1; i <= 3; ++i) {
    for (int die = 0; die < 4; ++die) Count(die, (700 + 100 * static_cast<uint64_t>(i)) * kJoule);
    EXPECT_EQ(TotalAfter(), 100 * i);
  }
  EXPECT_FALSE(Fresh());
  Die(0, 1000 * kJoule);
  for (int64_t i = 4; i <= 8; ++i) {
    for (int die = 0; die < 4; ++die) Count(die, (700 + 100 * static_cast<uint64_t>(i)) * kJoule);
    EXPECT_EQ(TotalAfter(), 100 * i);
  }
  EXPECT_TRUE(Fresh());
}

TEST_F(DieMirrorsTest, FoundOutLater_WhatWasCountedStaysAndNothingCountsTwice) {
  Die(0, 700 * kJoule);
  Die(1, 700 * kJoule);
  Break(0);  // and so from the start: the other one is all that is known
  Open();
  Count(1, 800 * kJoule);
  EXPECT_EQ(TotalAfter(), 100);
  for (int die = 0; die < 2; ++die) Count(die, 900 * kJoule);
  EXPECT_EQ(TotalAfter(), 200) << "the first die begins where the other one ends";
  for (int die = 0; die < 2; ++die) Count(die, 1'000 * kJoule);
  EXPECT_EQ(TotalAfter(), 300);
  EXPECT_TRUE(Fresh());
}

TEST_F(DieMirrorsTest, FoundOutByADelayedMirror_NothingCountsTwice) {
  for (int die = 0; die < 2; ++die) Die(die, 700 * kJoule);
  Break(0);
  Open();
  Count(1, 800 * kJoule);
  EXPECT_EQ(TotalAfter(), 100);
  Count(0, 900 * kJoule);
  Count(1, 900 * kJoule - 100'000);
  TotalAfter();
  for (uint64_t joules = 1'000; joules <= 1'200; joules += 100) {
    for (int die = 0; die < 2; ++die) Count(die, joules * kJoule);
    TotalAfter();
  }
  EXPECT_EQ(TotalAfter(), 400) << "of the scan in between nobody knows whose it was";
  EXPECT_TRUE(Fresh());
}

TEST_F(DieMirrorsTest, WithheldMirror_IsNotCaughtUpWhileItStandsStillOrCannotBeRead) {
  for (const bool stands_still : {true, false}) {
    for (int die = 0; die < 2; ++die) Die(die, 700 * kJoule);
    Break(0);
    Open();
    total_ = Energy();
    Count(1, 800 * kJoule);
    TotalAfter();
    Count(0, 900 * kJoule);
    Count(1, 900 * kJoule - 100'000);  // withheld
    TotalAfter();
    if (stands_still) {
      for (int scan = 0; scan < 2; ++scan) {
        for (int die = 0; die < 2; ++die) Count(die, 1'000 * kJoule);
        TotalAfter();
      }
    } else {
      Count(0, 1'000 * kJoule);
      Break(1);
      TotalAfter();
    }
    for (uint64_t joules = 1'100; joules <= 1'200; joules += 100) {
      for (int die = 0; die < 2; ++die) Count(die, joules * kJoule);
      TotalAfter();
    }
    EXPECT_EQ(total_, Energy::Joules(400)) << (stands_still ? "unchanged" : "cannot be read");
  }
}

TEST_F(DieMirrorsTest, DelayedMirror_CountsOnceAndIsFoundOut) {
  for (int die = 0; die < 2; ++die) Die(die, 700 * kJoule);
  Open();
  Count(0, 800 * kJoule);
  Count(1, 800 * kJoule - 100'000);
  EXPECT_EQ(TotalAfter(), 100);
  for (int die = 0; die < 2; ++die) Count(die, 900 * kJoule);
  EXPECT_EQ(TotalAfter(), 200);
  for (int die = 0; die < 2; ++die) Count(die, 1'000 * kJoule);
  EXPECT_EQ(TotalAfter(), 300);
  EXPECT_TRUE(Fresh());
}

TEST_F(DieMirrorsTest, MirrorWraps_CountsOnce) {
  for (int die = 0; die < 2; ++die) Die(die, kRange - 9);
  Open();
  for (int die = 0; die < 2; ++die) Count(die, kRange + 1 + 100 * kJoule - 10);
  EXPECT_EQ(TotalAfter(), 100);
}

TEST_F(DieMirrorsTest, FirstDieGoesOfflineAfterTheVerdict_IsCaughtUpWithoutDoubling) {
  Die(0, 700 * kJoule);
  Die(1, 700 * kJoule);
  Open();
  for (int die = 0; die < 2; ++die) Count(die, 800 * kJoule);
  EXPECT_EQ(TotalAfter(), 100);
  tree_.Remove("class/powercap/intel-rapl:0");
  Count(1, 900 * kJoule);
  TotalAfter();
  Count(1, 1'000 * kJoule);
  EXPECT_EQ(TotalAfter(), 100);
  EXPECT_FALSE(Fresh());
  Die(0, 1'100 * kJoule);
  Count(1, 1'100 * kJoule);
  EXPECT_EQ(TotalAfter(10s), 400);
  EXPECT_TRUE(Fresh());
}

/// The counter may take a step between any two reads of one scan.
class StepwiseDies : public ::testing::Test {
 protected:
  static PowercapZone Zone(const std::string& unit) {
    return {"intel-rapl", "package", unit, "0", "/" + unit, kRange, {}};
  }
  /// One scan, at `first`, then `die`, then `again`; whether the die counts.
  bool Counts(uint64_t first, uint64_t die, uint64_t again) {
    std::vector<DomainReading> readings{{{}, RawCounter{first}}, {{}, RawCounter{die}}};
    mirrors_.Judge(readings, [again](size_t) { return Answer(RawCounter{again}); });
    return std::holds_alternative<RawCounter>(readings[1].value);
  }
  StepwiseDies() { mirrors_.Adopt(std::vector{Zone("0.0"), Zone("0.1")}); }
  DieMirrors mirrors_;
};

TEST_F(StepwiseDies, StepBetweenTheReads_IsAMirrorAllTheSame) {
  EXPECT_TRUE(Counts(100, 100, 161));
  EXPECT_FALSE(Counts(1'000, 1'061, 1'061));
  EXPECT_TRUE(mirrors_.IsMirror(1));
}

TEST_F(StepwiseDies, OutsideOfTheTwoValues_HasItsOwnCounter) {
  EXPECT_TRUE(Counts(100, 100, 100));
  EXPECT_TRUE(Counts(10 * kJoule, 4 * kJoule, 10 * kJoule + 61));
  EXPECT_TRUE(Counts(20 * kJoule, 20 * kJoule, 20 * kJoule));
  EXPECT_FALSE(mirrors_.IsMirror(1));
}

TEST_F(StepwiseDies, OutsideByLessThanAnUpdate_IsNotJudgedAndNotCounted) {
  EXPECT_TRUE(Counts(100, 100, 100));
  EXPECT_FALSE(Counts(2'000, 1'939, 2'061));
  EXPECT_FALSE(Counts(3'000, 3'122, 3'061));
  EXPECT_FALSE(mirrors_.IsMirror(1));
  EXPECT_FALSE(Counts(4'000, 4'000, 4'061));
  EXPECT_TRUE(mirrors_.IsMirror(1));
}

TEST_F(StepwiseDies, FirstWrapsDuringTheScan_IsNotJudgedAndNotCounted) {
  EXPECT_TRUE(Counts(100, 100, 100));
  EXPECT_FALSE(Counts(kRange, 5, 5));
  EXPECT_FALSE(mirrors_.IsMirror(1));
  EXPECT_FALSE(Counts(1'000, 1'000, 1'000));
  EXPECT_TRUE(mirrors_.IsMirror(1));
}

TEST_F(StepwiseDies, OneOfThemHasWrappedAndTheOtherIsAboutTo_IsNotJudgedAndNotCounted) {
  EXPECT_TRUE(Counts(100, 100, 100));
  EXPECT_FALSE(Counts(5, kRange - 50, 120)) << "the die is late";
  EXPECT_FALSE(Counts(kRange - 100, 20, kRange - 60)) << "the die is ahead";
  EXPECT_FALSE(mirrors_.IsMirror(1));
  EXPECT_FALSE(Counts(1'000, 1'000, 1'000));
  EXPECT_TRUE(mirrors_.IsMirror(1));
}

TEST_F(StepwiseDies, FarBehindTheFirstAcrossItsWrap_HasItsOwnCounter) {
  EXPECT_TRUE(Counts(100, 100, 100));
  EXPECT_TRUE(Counts(5, kRange - 5 * kJoule, 120));
  EXPECT_FALSE(mirrors_.IsMirror(1));
}

TEST_F(StepwiseDies, RediscoveredWithoutTheFirst_TheVerdictHolds) {
  EXPECT_TRUE(Counts(100, 100, 100));
  EXPECT_FALSE(Counts(200, 200, 200));
  mirrors_.Adopt(std::vector{Zone("0.1")});
  EXPECT_TRUE(mirrors_.IsMirror(0));
  mirrors_.Adopt(std::vector{Zone("0.0"), Zone("0.1")});
  EXPECT_TRUE(mirrors_.IsMirror(1));
}

}  // namespace
}  // namespace kepler::energy::rapl
