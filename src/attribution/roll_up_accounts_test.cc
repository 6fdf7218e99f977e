#include "attribution/roll_up_accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "attribution/accounts.h"

namespace kepler::attribution {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::array kOneZone = {kNewZone};

BootTime At(int64_t time) { return BootTime(seconds(time)); }

class RollUpAccountsTest : public ::testing::Test {
 protected:
  RollUpAccountsTest() {
    accounts_.SetZones(kOneZone);
    accounts_.BeginTick(At(1));
  }
  Row Join(const std::string& name, int64_t begin = 1) { return accounts_.Join({name}, At(begin)); }
  void Add(Row row, int64_t energy) { accounts_.Add(row, 0, Energy::Microjoules(energy)); }
  std::map<std::string, int64_t> Rows() {
    accounts_.Publish(out_);
    std::map<std::string, int64_t> rows;
    for (size_t row = 0; row < out_.rows(); ++row)
      rows[out_.identity[row]->name_space] = out_.energy_at(row, 0).microjoules();
    return rows;
  }
  [[nodiscard]] int64_t Departed() const { return accounts_.departed()[0].microjoules(); }
  [[nodiscard]] int64_t Capped() const { return accounts_.capped()[0].microjoules(); }

  RollUpAccounts<snapshot::OwnerIdentity> accounts_{{.max_rows = 2, .max_idle = seconds(100)}};
  snapshot::RollUp out_;
};

TEST_F(RollUpAccountsTest, RowStaysWithoutPods_AndGoesOn) {
  const Row row = Join("a", 7);
  Add(row, 5);
  accounts_.Leave(row);
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 5)));
  EXPECT_EQ(Join("a", 9), row);
  Add(row, 2);
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 7)));
  EXPECT_EQ(out_.begin, std::vector{At(7)});
}

TEST_F(RollUpAccountsTest, Full_TheRowThatIsIdleForLongestDeparts) {
  const Row a = Join("a"), b = Join("b");
  Add(a, 5);
  Add(b, 6);
  accounts_.Leave(b);
  accounts_.BeginTick(At(2));
  accounts_.Leave(a);
  EXPECT_EQ(Join("c"), b) << "the row is free again";
  Add(b, 1);
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 5), Pair("c", 1)));
  EXPECT_EQ(Departed(), 6);
}

TEST_F(RollUpAccountsTest, FullOfRowsWithPods_CapsTheNext) {
  Add(Join("a"), 5);
  Add(Join("b"), 6);
  const Row none = Join("c");
  EXPECT_EQ(none, kNoRow);
  Add(none, 7);
  accounts_.Leave(none);
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 5), Pair("b", 6)));
  EXPECT_EQ(Capped(), 7);
  EXPECT_EQ(Departed(), 0);
}

TEST_F(RollUpAccountsTest, TwoPodsOfOneRow_BothMustLeaveFirst) {
  const Row a = Join("a");
  EXPECT_EQ(Join("a"), a);
  accounts_.Leave(a);
  accounts_.BeginTick(At(200));
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 0)));
  accounts_.Leave(a);
  accounts_.BeginTick(At(299));
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 0)));
  accounts_.BeginTick(At(300));
  EXPECT_THAT(Rows(), ElementsAre());
}

TEST_F(RollUpAccountsTest, RowThatReturns_BeginsAtZeroAfterItsEnd) {
  const Row a = Join("a");
  Add(a, 5);
  accounts_.Leave(a);
  accounts_.BeginTick(At(100));
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 5))) << "the last sample of the first series";
  accounts_.BeginTick(At(101));
  EXPECT_EQ(Departed(), 5);
  Add(Join("a", 50), 1);
  EXPECT_THAT(Rows(), ElementsAre(Pair("a", 1)));
  EXPECT_EQ(out_.begin, std::vector{At(100)}) << "no later than the beginning of the tick that shows it";
  EXPECT_EQ(Departed(), 5);
}

TEST_F(RollUpAccountsTest, ZonesMove_WithTheirEnergy) {
  Add(Join("a"), 5);
  accounts_.SetZones(std::array{kNewZone, size_t{0}});
  accounts_.Publish(out_);
  EXPECT_EQ(out_.energy, (std::vector{Energy{}, Energy::Microjoules(5)}));
}

}  // namespace
}  // namespace kepler::attribution
