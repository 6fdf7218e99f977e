// RetentionPolicy::keep_shown: whoever reads more often than the retention sees every joule of every series.
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;

constexpr RetentionPolicy kKeep{
    .retention = std::chrono::seconds(10), .threshold = Energy::Joules(50), .max = 2, .keep_shown = true};

class LedgerKeepShown : public LedgerTest {
 protected:
  explicit LedgerKeepShown(const RetentionPolicy& policy = kKeep) : LedgerTest(policy) {}
  std::map<int, int64_t> Listed() const {
    std::map<int, int64_t> listed;
    for (size_t row = 0; row < snapshot_.processes.rows(); ++row)
      listed[snapshot_.processes.identity[row]->pid] += Joules(snapshot_.processes.energy_at(row, 0));
    return listed;
  }
  void Run(int64_t joules, std::initializer_list<Row> rows) {
    Begin();
    for (const Row row : rows) ledger_.UseProcess(row, std::chrono::seconds(1));
    Settle(joules);
  }
  int64_t Departed() const { return UnlistedJoules(Level::kProcess, Unlisted::kDeparted); }
};

TEST_F(LedgerKeepShown, ShownAndBelowTheThreshold_StaysWithItsLastSlice) {
  Begin();
  const Row row = Process(1);
  Settle(0);
  Run(3, {row});
  Begin();
  ledger_.UseProcess(row, std::chrono::seconds(1));
  ledger_.EndProcess(row);
  Settle(4);
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{1, 7}}));
  EXPECT_EQ(snapshot_.processes.state[0], snapshot::State::kTerminated);
  for (int second = 0; second < 10; ++second) Run(0, {});
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{}));
  EXPECT_EQ(Departed(), 7);
}

TEST_F(LedgerKeepShown, NewLabels_OldSeriesStays) {
  Begin();
  const Row row = Process(1, {}, "sh");
  Settle(0);
  Run(3, {row});
  Begin();
  const auto renamed =
      std::make_shared<const snapshot::ProcessIdentity>(snapshot::ProcessIdentity{1, "work", "", "regular", "", ""});
  const Row next = ledger_.UpdateProcess(row, renamed, {}, false);
  ledger_.UseProcess(next, std::chrono::seconds(1));
  Settle(4);
  ASSERT_EQ(snapshot_.processes.rows(), 2u);
  EXPECT_EQ(Listed(), (std::map<int, int64_t>{{1, 7}}));
  EXPECT_EQ(Departed(), 0);
}

TEST_F(LedgerKeepShown, NeverShown_ThresholdAndCapHold) {
  Begin();
  for (const int pid : {1, 2, 3, 4}) ledger_.UseShortLived({.number = static_cast<size_t>(pid), .cpu = Nanoseconds(1)});
  Settle(400);
  EXPECT_EQ(Listed().size(), 2u) << "the cap";
  Begin();
  ledger_.UseShortLived({.number = 9, .cpu = Nanoseconds(1)});
  Settle(500);
  EXPECT_EQ(Listed().size(), 2u) << "more energy, but those were shown";
  EXPECT_EQ(Listed().count(9), 0u);
  EXPECT_EQ(Departed(), 0);
  EXPECT_EQ(UnlistedJoules(Level::kProcess, Unlisted::kCapped), 700);
}

/// Adds up what a server stores: the increase of each label set from 0 at its start, and of the counters.
class SlowReader {
 public:
  void Read(const snapshot::Snapshot& s) {
    for (size_t row = 0; row < s.processes.rows(); ++row) {
      Energy& last = last_[s.processes.identity[row]->comm + std::to_string(s.processes.identity[row]->pid)];
      RC_ASSERT(s.processes.energy_at(row, 0) >= last);
      sum_ += s.processes.energy_at(row, 0) - last;
      last = s.processes.energy_at(row, 0);
    }
    rest_ = s.unattributed[0];
    for (const Unlisted reason : {Unlisted::kCapped, Unlisted::kUnseen, Unlisted::kOutside})
      rest_ += s.unlisted[std::to_underlying(Level::kProcess)][std::to_underlying(reason)][0];
    RC_ASSERT(sum_ + rest_ == s.node[0].active);
  }

 private:
  std::map<std::string, Energy> last_;
  Energy sum_;
  Energy rest_;
};

RC_GTEST_FIXTURE_PROP(LedgerKeepShown, AnyHistory_ASlowReaderMissesNothing, ()) {
  SlowReader reader;
  std::map<int32_t, Row> living;
  int32_t next = 1;  // no pid is used again
  for (int tick = 0; tick < 60; ++tick) {
    Begin();
    for (int starts = *rc::gen::inRange(0, 4); starts > 0; --starts, ++next) living[next] = Process(next);
    for (auto& [pid, row] : living) {
      if (*rc::gen::inRange(0, 5) == 0) {
        auto renamed = std::make_shared<const snapshot::ProcessIdentity>(
            snapshot::ProcessIdentity{pid, "r" + std::to_string(tick), "", "regular", "", ""});
        row = ledger_.UpdateProcess(row, std::move(renamed), {}, false);
      }
      ledger_.UseProcess(row, Nanoseconds(*rc::gen::inRange(0, 1'000'000)));
    }
    for (int lives = *rc::gen::inRange(0, 4); lives > 0; --lives, ++next)
      ledger_.UseShortLived({.number = static_cast<size_t>(next), .cpu = Nanoseconds(*rc::gen::inRange(0, 1'000'000))});
    std::erase_if(living, [&](const auto& entry) {
      if (*rc::gen::inRange(0, 4) != 0) return false;
      ledger_.EndProcess(entry.second);
      return true;
    });
    Settle(*rc::gen::inRange(0, 300));
    if (tick % 7 == 0) reader.Read(snapshot_);
  }
}

}  // namespace
}  // namespace kepler::attribution
