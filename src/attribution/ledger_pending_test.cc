// Groups that have no series before their name is known.
#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

class LedgerPending : public LedgerTest {
 protected:
  LedgerPending() {
    Begin();
    pod_ = ledger_.Pod({"uid", "", ""});
    ledger_.HoldPod(pod_);
    process_ = Process(1, {kNoRow, kNoRow, pod_});
    begin_ = now_;
    ledger_.UseProcess(process_, milliseconds(300));
    Settle(30);
  }
  [[nodiscard]] int64_t UnnamedJoules(Level level) const {
    return Joules(snapshot_.unnamed[std::to_underlying(level)][0]);
  }
  /// All that was active is in one of these.
  [[nodiscard]] int64_t PodJoules() const {
    int64_t sum = UnnamedJoules(Level::kPod);
    for (const auto reason : snapshot::kAllUnlisted) sum += UnlistedJoules(Level::kPod, reason);
    for (size_t row = 0; row < snapshot_.pods.rows(); ++row) sum += Joules(snapshot_.pods.energy_at(row, 0));
    return sum;
  }
  Row pod_ = kNoRow;
  Row process_ = kNoRow;
  BootTime begin_;
};

TEST_F(LedgerPending, NoSeriesYet_ItsEnergyIsUnnamed_OtherLevelsHaveIt) {
  EXPECT_EQ(snapshot_.pods.rows(), 0u);
  EXPECT_EQ(UnnamedJoules(Level::kPod), 30);
  EXPECT_EQ(UnnamedJoules(Level::kContainer), 0);
  EXPECT_EQ(Joules(snapshot_.processes.energy_at(0, 0)), 30);
  EXPECT_EQ(PodJoules(), 30);
}

TEST_F(LedgerPending, Released_TheSeriesHasAllOfItUnderItsName) {
  Begin();
  ledger_.RenamePod(pod_, snapshot::PodIdentity{"uid", "web", "shop"});
  ledger_.ReleasePod(pod_);
  ledger_.UseProcess(process_, milliseconds(300));
  const auto& s = Settle(12);
  ASSERT_EQ(s.pods.rows(), 1u);
  EXPECT_EQ(s.pods.identity[0]->name, "web");
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 42);
  EXPECT_EQ(s.pods.cpu[0], milliseconds(600));
  EXPECT_EQ(s.pods.begin_of(0), begin_) << "the series began with the account";
  EXPECT_EQ(UnnamedJoules(Level::kPod), 0);
  EXPECT_EQ(UnlistedJoules(Level::kPod, Unlisted::kDeparted), 0);
  EXPECT_EQ(PodJoules(), 42);
}

TEST_F(LedgerPending, PendingForSeveralTicks_AndReleasedWithoutAName) {
  Begin();
  ledger_.UseProcess(process_, milliseconds(300));
  Settle(12);
  EXPECT_EQ(UnnamedJoules(Level::kPod), 42);
  Begin();
  ledger_.ReleasePod(pod_);
  ledger_.UseProcess(process_, milliseconds(0));
  const auto& s = Settle(0);
  ASSERT_EQ(s.pods.rows(), 1u);
  EXPECT_EQ(s.pods.identity[0]->name, "");
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 42);
}

TEST_F(LedgerPending, EndedBeforeItsName_IsShownAfterItAndDepartsThen) {
  ledger_.BeginTick(now_);
  ledger_.EndProcess(process_);
  ledger_.TouchPod(pod_);
  Settle(0);
  EXPECT_EQ(UnnamedJoules(Level::kPod), 30);
  Begin();
  ledger_.TouchPod(pod_);
  ledger_.RenamePod(pod_, snapshot::PodIdentity{"uid", "web", "shop"});
  ledger_.ReleasePod(pod_);
  Settle(0);
  ASSERT_EQ(snapshot_.pods.rows(), 1u);
  EXPECT_EQ(Joules(snapshot_.pods.energy_at(0, 0)), 30);
  Idle();
  EXPECT_EQ(snapshot_.pods.state.at(0), snapshot::State::kTerminated);
  EXPECT_EQ(PodJoules(), 30);
}

TEST_F(LedgerPending, RelabelledOnceItIsShown_Departs) {
  Begin();
  ledger_.ReleasePod(pod_);
  ledger_.UseProcess(process_, milliseconds(300));
  Settle(12);
  Begin();
  ledger_.RenamePod(pod_, snapshot::PodIdentity{"uid", "web", "shop"});
  ledger_.UseProcess(process_, milliseconds(300));
  const auto& s = Settle(5);
  EXPECT_EQ(Joules(s.pods.energy_at(0, 0)), 5);
  EXPECT_EQ(UnlistedJoules(Level::kPod, Unlisted::kDeparted), 42);
}

TEST_F(LedgerPending, SeriesThatBeginsWithOtherLabels_IsNotNew) {
  using Listing = GroupAccounts<snapshot::ContainerIdentity>::Listing;
  Begin();
  const Row box = ledger_.Container(Box("c1"), kNoRow);
  EXPECT_EQ(ledger_.containers().listing(box), Listing::kNew);
  Settle(5);
  Begin();
  EXPECT_EQ(ledger_.Container(Box("c1", "named"), kNoRow), box);
  EXPECT_FALSE(ledger_.containers().shown(box));
  EXPECT_EQ(ledger_.containers().listing(box), Listing::kListed);
}

}  // namespace
}  // namespace kepler::attribution
