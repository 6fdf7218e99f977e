// What the ledger receives about running workloads, and what it reports of those that ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "attribution/ledger_test_util.h"

namespace kepler::attribution {
namespace {

using std::chrono::milliseconds;

TEST_F(LedgerTest, Closed_NamesEndedGroupsAndFreedRowsOfTheTick) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  Begin();
  const Row pod = ledger_.Pod({"uid", "", ""});
  const Row box = ledger_.Container({"c1", "", "containerd", "uid"}, pod);
  const Row small = ledger_.Container(Box("small"), kNoRow);
  ledger_.UseResidual({box, kNoRow, pod}, milliseconds(100));
  Settle(1000);
  EXPECT_THAT(ledger_.closed_containers().ended, IsEmpty());
  Idle();
  EXPECT_THAT(ledger_.closed_containers().ended, ElementsAre(box));
  EXPECT_THAT(ledger_.closed_containers().freed, ElementsAre(small)) << "it used too little to stay listed";
  EXPECT_THAT(ledger_.closed_pods().ended, ElementsAre(pod));
  Begin();
  EXPECT_THAT(ledger_.closed_containers().ended, IsEmpty());
  now_ += std::chrono::hours(1);
  Idle();
  EXPECT_THAT(ledger_.closed_containers().freed, ElementsAre(box)) << "no longer listed";
  EXPECT_THAT(ledger_.closed_pods().freed, ElementsAre(pod));
}

TEST_F(LedgerTest, UpdateProcess_GoesOnWithTheSameLabelsAndGroupsOnly) {
  Begin();
  const Groups groups{.container = ledger_.Container(Box("c1"), kNoRow)};
  Row row = Process(1, groups);
  auto identity = ledger_.processes().identity(row);
  /// Joules of the process after a tick in which it has these groups and uses 1 J.
  const auto joules = [&](const Groups& now, bool kernel_thread) {
    row = ledger_.UpdateProcess(row, std::make_shared<const snapshot::ProcessIdentity>(identity), now, kernel_thread);
    EXPECT_EQ(ledger_.processes().groups(row), now);
    EXPECT_EQ(ledger_.processes().kernel_thread(row), kernel_thread);
    ledger_.UseProcess(row, milliseconds(1));
    Settle(1);
    const int64_t total = Joules(snapshot_.processes.energy_at(0, 0));
    Begin();
    return total;
  };
  EXPECT_EQ(joules(groups, false), 1);
  EXPECT_EQ(joules(groups, false), 2);
  EXPECT_EQ(joules({}, false), 1) << "the account in the container is closed";
  EXPECT_EQ(joules({}, false), 2);
  identity.comm = "other";
  EXPECT_EQ(joules({}, false), 1);
  EXPECT_EQ(joules({}, true), 1);
}

}  // namespace
}  // namespace kepler::attribution
