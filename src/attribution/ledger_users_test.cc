// Energy by user: what each user's processes used stays in the user's row, to the microjoule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attribution/ledger.h"

namespace kepler::attribution {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::shared_ptr<const snapshot::ProcessIdentity> Process(int32_t pid, const std::string& comm = "task") {
  return std::make_shared<const snapshot::ProcessIdentity>(snapshot::ProcessIdentity{pid, comm, "", "regular", "", ""});
}

/// A ledger with one zone. In each tick the energy in microjoules is the CPU time in nanoseconds, so each process is
/// charged exactly its CPU time.
class UserLedger {
 public:
  explicit UserLedger(const ProcessLimits& limits = {})
      : ledger_({std::chrono::seconds(10), Energy::Microjoules(5'000), 50}, limits) {
    ledger_.SetZones({{"package", "p", "x"}}, 0);
  }

  void Begin() { ledger_.BeginTick(BootTime(std::chrono::seconds(++tick_))); }
  Row Open(int32_t pid, uint32_t uid) { return ledger_.OpenProcess(Process(pid), {}, false, uid); }
  void Run(Row process, int64_t cpu) { ledger_.UseProcess(process, Count(cpu)); }
  void RunShortLived(uint32_t uid, int64_t cpu) {
    ledger_.UseShortLived({.number = ++short_lived_, .cpu = Count(cpu), .uid = uid});
  }
  void RunResidual(int64_t cpu) { ledger_.UseResidual({}, Count(cpu)); }
  void RunUnattributed(int64_t cpu) { ledger_.UseUnattributed(Count(cpu)); }
  void End() {
    const auto charge = SplitByRatio(Energy::Microjoules(sum_), Power{}, true, Ratio::Clamped(1), weights_);
    sum_ = 0;
    ledger_.Settle(std::array{charge}, Scan::kDone,
                   [](size_t number) { return Process(static_cast<int32_t>(100'000 + number)); });
    ledger_.NameUsers([&](uint32_t uid) {
      const auto name = names.find(uid);
      return name == names.end() ? std::string_view() : std::string_view(name->second);
    });
    ledger_.Publish(snapshot);
  }

  [[nodiscard]] std::map<uint32_t, int64_t> Users() const {
    std::map<uint32_t, int64_t> users;
    for (size_t row = 0; row < snapshot.users.rows(); ++row)
      users[snapshot.users.identity[row]->uid] = snapshot.users.energy_at(row, 0).microjoules();
    return users;
  }
  [[nodiscard]] int64_t Of(Unlisted reason) const {
    return snapshot.unlisted[std::to_underlying(Level::kUser)][std::to_underlying(reason)][0].microjoules();
  }
  [[nodiscard]] bool AddsUp() const {
    return std::ranges::all_of(snapshot.conservation_error, [](const auto& error) { return error[0] == Energy{}; });
  }

  std::map<uint32_t, std::string> names;
  snapshot::Snapshot snapshot;
  Ledger& ledger() { return ledger_; }

 private:
  Nanoseconds Count(int64_t cpu) {
    sum_ += cpu;
    return Nanoseconds(cpu);
  }

  Ledger ledger_;
  CpuTimeWeights weights_{ledger_.cpu_usage()};
  int64_t tick_ = 0;
  int64_t sum_ = 0;
  size_t short_lived_ = 0;
};

TEST(LedgerUsers, ProcessesOfAUser_AreOneRowThatStays) {
  UserLedger node;
  node.Begin();
  const Row a = node.Open(1, 1000), b = node.Open(2, 0), c = node.Open(3, 1000);
  node.Run(a, 10);
  node.Run(b, 100);
  node.Run(c, 1'000);
  node.End();
  EXPECT_THAT(node.Users(), ElementsAre(Pair(0, 100), Pair(1000, 1'010)));
  node.Begin();
  for (const Row process : {a, b, c}) node.ledger().EndProcess(process);
  node.End();
  EXPECT_THAT(node.Users(), ElementsAre(Pair(0, 100), Pair(1000, 1'010))) << "they have ended";
  EXPECT_TRUE(node.AddsUp());
}

TEST(LedgerUsers, ShortLivedAndUnlistedProcesses_CountForTheirUser) {
  UserLedger node({.max = 1});
  node.Begin();
  node.Run(node.Open(1, 7), 10);
  node.Run(node.Open(2, 8), 20);
  node.RunShortLived(8, 300);
  node.RunShortLived(7, 6'000);  // gets a series
  node.End();
  EXPECT_THAT(node.Users(), ElementsAre(Pair(7, 6'010), Pair(8, 320)));
  EXPECT_TRUE(node.AddsUp());
}

TEST(LedgerUsers, MoreUsersThanRows_UsersOfThisTickKeepTheirs) {
  UserLedger node;
  constexpr uint32_t kUsers = UserAccounts::kLimits.max_rows;
  node.Begin();
  for (uint32_t uid = 0; uid < kUsers; ++uid) node.RunShortLived(uid, 10);
  node.End();
  node.Begin();
  for (uint32_t uid = kUsers + 1; uid > 0; --uid) node.RunShortLived(uid - 1, 10);
  node.End();
  EXPECT_EQ(node.Of(Unlisted::kDeparted), 0);
  EXPECT_EQ(node.Of(Unlisted::kCapped), 10);
  EXPECT_EQ(node.Users().size(), kUsers);
  EXPECT_TRUE(node.AddsUp());
}

TEST(LedgerUsers, WithoutAUser_IsUnseenOrUnattributed) {
  UserLedger node;
  node.Begin();
  node.RunShortLived(kUnknownUid, 1);
  node.RunResidual(20);
  node.RunUnattributed(300);
  node.Run(node.Open(1, kUnknownUid), 4'000);
  node.End();
  EXPECT_THAT(node.Users(), IsEmpty());
  EXPECT_EQ(node.Of(Unlisted::kUnseen), 4'021);
  EXPECT_EQ(node.snapshot.unattributed[0], Energy::Microjoules(300));
  EXPECT_TRUE(node.AddsUp());
}

TEST(LedgerUsers, ChangedUser_GetsTheEnergyFromNowOn) {
  UserLedger node;
  node.Begin();
  const Row process = node.Open(1, 0);
  node.Run(process, 10);
  node.End();
  node.Begin();
  EXPECT_EQ(node.ledger().UpdateProcess(process, Process(1), {}, false, 33), process) << "its series goes on";
  node.Run(process, 200);
  node.End();
  EXPECT_THAT(node.Users(), ElementsAre(Pair(0, 10), Pair(33, 200)));
  EXPECT_EQ(node.snapshot.processes.energy_at(0, 0), Energy::Microjoules(210));
}

TEST(LedgerUsers, NameThatComesLater_IsANewSeries_AndTheOldOneDeparts) {
  UserLedger node;
  node.names[1000] = "alice";
  node.Begin();
  const Row a = node.Open(1, 1000), b = node.Open(2, 1001);
  node.Run(a, 10);
  node.Run(b, 20);
  node.End();
  EXPECT_EQ(node.snapshot.users.identity[0]->name, "alice") << "known from the first snapshot on";
  EXPECT_EQ(node.snapshot.users.identity[1]->name, "");
  node.names[1001] = "bob";
  node.Begin();
  node.Run(a, 100);
  node.Run(b, 200);
  node.End();
  EXPECT_EQ(node.snapshot.users.identity[1]->name, "bob");
  EXPECT_THAT(node.Users(), ElementsAre(Pair(1000, 110), Pair(1001, 0)));
  EXPECT_EQ(node.Of(Unlisted::kDeparted), 220);
  EXPECT_TRUE(node.AddsUp());
  node.Begin();
  node.Run(b, 3'000);
  node.End();
  EXPECT_THAT(node.Users(), ElementsAre(Pair(1000, 110), Pair(1001, 3'000)));
  EXPECT_EQ(node.Of(Unlisted::kDeparted), 220);
  EXPECT_TRUE(node.AddsUp());
}

TEST(LedgerUsers, MoreUsersThanRows_IdleOnesDepart_AndOthersAreCapped) {
  constexpr auto kRows = static_cast<uint32_t>(UserAccounts::kLimits.max_rows);
  UserLedger node;
  node.Begin();
  node.RunShortLived(5'000, 7);
  node.End();
  node.Begin();
  for (uint32_t uid = 0; uid < kRows + 3; ++uid) node.RunShortLived(uid, 10);
  node.End();
  EXPECT_EQ(node.Users().size(), kRows);
  EXPECT_FALSE(node.Users().contains(5'000));
  EXPECT_EQ(node.Of(Unlisted::kDeparted), 7);
  EXPECT_EQ(node.Of(Unlisted::kCapped), 30);
  EXPECT_TRUE(node.AddsUp());
}

TEST(LedgerUsers, EnergyOfADevice_IsChargedToTheUsersOfTheDevice) {
  Ledger ledger({std::chrono::seconds(10), Energy::Microjoules(5'000), 50});
  ledger.SetZones({{"package", "p", "x"}, {"gpu", "g", "x"}}, 0);
  UsageList device;
  CpuTimeWeights cpu_weights(ledger.cpu_usage()), device_weights(device);
  snapshot::Snapshot snapshot;
  std::array<Row, 4> processes{};
  for (int tick = 1; tick <= 2; ++tick) {
    ledger.BeginTick(BootTime(std::chrono::seconds(tick)));
    const std::array uids = {1000U, 1001U, 1000U, kUnknownUid};
    for (size_t i = 0; i < uids.size(); ++i) {
      if (tick == 1) processes[i] = ledger.OpenProcess(Process(static_cast<int32_t>(i)), {}, false, uids[i]);
      ledger.UseProcess(processes[i], Nanoseconds(i == 1 ? 7 : 0));
    }
    device.Clear();
    for (size_t i = 0, time = 1; i < processes.size(); ++i, time *= 10)
      device.Add({Usage::Payer::kProcess, processes[i], {}}, Nanoseconds(time));
    device.Add({Usage::Payer::kResidual, kNoRow, {}}, Nanoseconds(10'000));
    device.Add({Usage::Payer::kUnattributed, kNoRow, {}}, Nanoseconds(100'000));
    const auto charge = [](int64_t microjoules, Weights& weights) {
      return SplitByRatio(Energy::Microjoules(microjoules), Power{}, true, Ratio::Clamped(1), weights);
    };
    ledger.Settle(std::array{charge(7, cpu_weights), charge(111'111, device_weights)}, Scan::kDone);
  }
  ledger.Publish(snapshot);
  std::map<uint32_t, std::array<int64_t, 2>> users;
  for (size_t row = 0; row < snapshot.users.rows(); ++row)
    for (size_t zone = 0; zone < 2; ++zone)
      users[snapshot.users.identity[row]->uid].at(zone) = snapshot.users.energy_at(row, zone).microjoules();
  EXPECT_THAT(users,
              ElementsAre(Pair(1000, std::array<int64_t, 2>{0, 202}), Pair(1001, std::array<int64_t, 2>{14, 20})));
  const auto& unlisted = snapshot.unlisted[std::to_underlying(Level::kUser)];
  EXPECT_EQ(unlisted[std::to_underlying(Unlisted::kUnseen)][1], Energy::Microjoules(22'000));
  EXPECT_EQ(snapshot.unattributed[1], Energy::Microjoules(200'000));
  EXPECT_EQ(snapshot.conservation_error[std::to_underlying(Level::kUser)][1], Energy{});
}

/// Processes of any user that come, run, change their user and go, with all that belongs to nobody.
void RunProcesses(uint64_t seed, int ticks) {
  uint64_t random = seed * 2 + 1;
  const auto below = [&](uint64_t limit) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (random >> 33) % limit;
  };
  UserLedger node({.max = below(2) * 3});
  std::map<uint32_t, int64_t> expected;
  int64_t unseen = 0, unattributed = 0;
  struct Living {
    Row row;
    int32_t pid;
    uint32_t uid;
  };
  std::vector<Living> living;
  int32_t pid = 0;
  const auto any_uid = [&] { return below(8) == 0 ? kUnknownUid : static_cast<uint32_t>(below(6) * 1'000); };
  const auto count = [&](uint32_t uid, int64_t cpu) {
    if (cpu > 0) (uid == kUnknownUid ? unseen : expected[uid]) += cpu;
    return cpu;
  };
  const auto cpu = [&] { return static_cast<int64_t>(below(3) * below(10'000)); };
  for (int tick = 0; tick < ticks; ++tick) {
    node.Begin();
    for (uint64_t starts = below(4); starts > 0; --starts) {
      const uint32_t uid = any_uid();
      living.push_back({node.Open(++pid, uid), pid, uid});
    }
    for (uint64_t ends = below(20); ends > 0; --ends) {
      const uint32_t uid = any_uid();
      node.RunShortLived(uid, count(uid, cpu()));
    }
    for (Living& process : living) {
      if (below(10) == 0) process.uid = any_uid();
      process.row = node.ledger().UpdateProcess(process.row, Process(process.pid), {}, false, process.uid);
      node.Run(process.row, count(process.uid, cpu()));
    }
    node.RunResidual(count(kUnknownUid, cpu()));
    const int64_t lost = cpu();
    node.RunUnattributed(lost);
    unattributed += lost;
    std::erase_if(living, [&](const Living& process) {
      if (below(5) > 0) return false;
      node.ledger().EndProcess(process.row);
      return true;
    });
    node.End();
    RC_ASSERT(node.AddsUp());
    RC_ASSERT(node.Users() == expected);
    RC_ASSERT(node.Of(Unlisted::kUnseen) == unseen);
    RC_ASSERT(node.snapshot.unattributed[0].microjoules() == unattributed);
  }
}

RC_GTEST_PROP(LedgerUsers, AnyHistory_EachUserHasWhatItsProcessesUsed, (uint64_t seed)) {
  RunProcesses(seed, *rc::gen::inRange(1, 100));
}

}  // namespace
}  // namespace kepler::attribution
