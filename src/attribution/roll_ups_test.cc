// Totals of namespaces and owners, in a ledger.
#include "attribution/roll_ups.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>

#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr OwnerView kWeb{"shop", "Deployment", "web"};
constexpr OwnerView kDb{"shop", "StatefulSet", "db"};
constexpr OwnerView kBatch{"batch", "Job", "train"};

class RollUpsTest : public LedgerTest {
 protected:
  RollUpsTest()
      : LedgerTest({std::chrono::seconds(5), Energy::Joules(1'000), 500}) {}  // nothing is listed after its end

  Row Pod(const std::string& uid) { return ledger_.Pod({uid}); }
  /// A tick in which a pod uses this energy, and nothing else runs.
  Row Run(const std::string& uid, int64_t joules) {
    Begin();
    const Row pod = Pod(uid);
    ledger_.UseResidual({.pod = pod}, milliseconds(100));
    Settle(joules);
    return pod;
  }
  void Pass(int ticks) {
    for (int i = 0; i < ticks; ++i) {
      Begin();
      Settle(0);
    }
  }
  void NameEnded(const std::string& uid, const OwnerView& owner) {
    ledger_.SetOwnersOfEnded([&](std::string_view of) { return of == uid ? std::optional(owner) : std::nullopt; });
  }
  [[nodiscard]] static std::map<std::string, int64_t> Rows(const snapshot::RollUp& of) {
    std::map<std::string, int64_t> rows;
    for (size_t row = 0; row < of.rows(); ++row) {
      const snapshot::OwnerIdentity& owner = *of.identity[row];
      rows[owner.name_space + (owner.kind.empty() ? "" : "/" + owner.kind + "/" + owner.name)] =
          Joules(of.energy_at(row, 0));
    }
    return rows;
  }
  [[nodiscard]] std::map<std::string, int64_t> Namespaces() const { return Rows(snapshot_.namespaces); }
  [[nodiscard]] std::map<std::string, int64_t> Owners() const { return Rows(snapshot_.owners); }
  [[nodiscard]] int64_t Unnamed(Level level = Level::kNamespace) const {
    return Joules(snapshot_.unnamed[std::to_underlying(level)][0]);
  }
};

TEST_F(RollUpsTest, PodsOfOneNamespace_AddUpByOwner) {
  ledger_.SetOwner(Run("a", 0), kWeb);
  Run("a", 5);
  ledger_.SetOwner(Run("b", 0), kDb);
  Run("b", 7);
  ledger_.SetOwner(Run("c", 0), {"shop", "", ""});
  Run("c", 1);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("shop", 13)));
  EXPECT_THAT(Owners(), ElementsAre(Pair("shop", 1), Pair("shop/Deployment/web", 5), Pair("shop/StatefulSet/db", 7)));
}

TEST_F(RollUpsTest, EndedPod_LeavesItsEnergy) {
  ledger_.SetOwner(Run("a", 0), kWeb);
  Run("a", 5);
  Pass(200);
  EXPECT_EQ(snapshot_.pods.rows(), 0u);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("shop", 5)));
  ledger_.SetOwner(Run("b", 0), kWeb);
  Run("b", 2);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("shop", 7)));
  EXPECT_THAT(Owners(), ElementsAre(Pair("shop/Deployment/web", 7)));
}

TEST_F(RollUpsTest, DelayedName_BringsAllTheEnergy) {
  const Row pod = Run("a", 5);
  const BootTime first = now_;  // charges of the first tick begin with it
  Run("a", 6);
  EXPECT_THAT(Namespaces(), IsEmpty());
  EXPECT_EQ(Unnamed(), 11);
  EXPECT_EQ(Unnamed(Level::kOwner), 11);
  Begin();
  EXPECT_EQ(Pod("a"), pod);
  ledger_.SetOwner(pod, kWeb);
  ledger_.UseResidual({.pod = pod}, milliseconds(100));
  Settle(3);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("shop", 14)));
  EXPECT_THAT(Owners(), ElementsAre(Pair("shop/Deployment/web", 14)));
  EXPECT_EQ(snapshot_.owners.begin.at(0), first);
  EXPECT_EQ(Unnamed(), 0);
}

TEST_F(RollUpsTest, NameThatComesAfterTheEnd_BringsAllTheEnergy) {
  Run("a", 5);
  Pass(2);
  EXPECT_EQ(snapshot_.pods.rows(), 0u);
  EXPECT_EQ(Unnamed(), 5) << "it may still get a name";
  NameEnded("a", kWeb);
  Pass(1);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("shop", 5)));
  EXPECT_EQ(Unnamed(), 0);
}

TEST_F(RollUpsTest, NameThatNeverComes_IsUnseenAfterTwoMinutes) {
  Run("a", 5);
  Pass(119);
  EXPECT_EQ(Unnamed(), 5);
  Pass(3);
  EXPECT_EQ(Unnamed(), 0);
  EXPECT_EQ(UnlistedJoules(Level::kNamespace, Unlisted::kUnseen), 5);
  EXPECT_EQ(UnlistedJoules(Level::kOwner, Unlisted::kUnseen), 5);
  NameEnded("a", kWeb);
  Pass(1);
  EXPECT_EQ(UnlistedJoules(Level::kNamespace, Unlisted::kUnseen), 5) << "a counter never falls";
}

TEST_F(RollUpsTest, UidOfAnEndedPod_NewPodInItsRowIsAnother) {
  ledger_.SetOwner(Run("a", 5), kWeb);
  Pass(2);
  const Row row = Run("b", 7);
  EXPECT_EQ(Unnamed(), 7);
  ledger_.SetOwner(row, kBatch);
  Pass(1);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("batch", 7), Pair("shop", 5)));
}

TEST_F(RollUpsTest, OwnerThatChanges_GetsTheEnergyFromThenOn) {
  ledger_.SetOwner(Run("a", 0), kWeb);
  Run("a", 5);
  Begin();
  ledger_.SetOwner(Pod("a"), kDb);
  ledger_.UseResidual({.pod = Pod("a")}, milliseconds(100));
  Settle(2);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("shop", 7)));
  EXPECT_THAT(Owners(), ElementsAre(Pair("shop/Deployment/web", 5), Pair("shop/StatefulSet/db", 2)));
}

TEST_F(RollUpsTest, OutsideOfPods_IsABucket) {
  Begin();
  ledger_.UseProcess(Process(1), milliseconds(100));
  Settle(9);
  EXPECT_EQ(UnlistedJoules(Level::kNamespace, Unlisted::kOutside), 9);
  EXPECT_EQ(UnlistedJoules(Level::kOwner, Unlisted::kOutside), 9);
  EXPECT_THAT(Namespaces(), IsEmpty());
}

TEST_F(RollUpsTest, ZoneWithoutANewReading_AddsNothing) {
  ledger_.SetOwner(Run("a", 5), kWeb);
  Begin();
  ledger_.UseResidual({.pod = Pod("a")}, milliseconds(100));
  SettleCharges({{.unchanged = true, .weights = weights_.get()}});
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("shop", 5)));
}

TEST_F(RollUpsTest, IdleOwner_DepartsAfterAnHour_ItsNamespaceStays) {
  ledger_.SetOwner(Run("a", 5), kBatch);
  Pass(3'600);
  EXPECT_THAT(Owners(), ElementsAre(Pair("batch/Job/train", 5)));
  Pass(2);
  EXPECT_THAT(Owners(), IsEmpty());
  EXPECT_EQ(UnlistedJoules(Level::kOwner, Unlisted::kDeparted), 5);
  EXPECT_THAT(Namespaces(), ElementsAre(Pair("batch", 5)));
}

}  // namespace
}  // namespace kepler::attribution
