// A report by user, from the lines of an agent and from its series.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/parse.h"
#include "export/json_lines/lines.h"
#include "export/series/visit.h"
#include "report/energy_book.h"
#include "testing/snapshot_builder.h"

namespace kepler::report {
namespace {

using Amounts = std::map<std::string, int64_t>;

/// A tick of an agent, in microjoules: energy by user, of unknown users, of no process, and idle.
struct UserTick {
  std::map<std::pair<uint32_t, std::string>, int64_t> users;
  int64_t departed = 0;
  int64_t unseen = 0;
  int64_t unattributed = 0;
  int64_t idle = 0;
};

std::string LinesAt(int64_t second, const UserTick& tick, const std::string& node) {
  auto snapshot = testing::EmptySnapshot({"package"});
  snapshot.taken_at = WallTime(std::chrono::seconds(1'700'000'000 + second));
  snapshot.begun = BootTime(std::chrono::seconds(1'000 + second));
  snapshot.started = BootTime(std::chrono::seconds(900));
  int64_t active = tick.departed + tick.unseen + tick.unattributed;
  snapshot.users.zones = 1;
  for (const auto& [user, energy] : tick.users) {
    snapshot.users.identity.push_back(std::make_shared<const snapshot::UserIdentity>(user.first, user.second));
    snapshot.users.begin.emplace_back();
    snapshot.users.energy.push_back(Energy::Microjoules(energy));
    active += energy;
  }
  auto& unlisted = snapshot.unlisted[static_cast<size_t>(snapshot::Level::kUser)];
  unlisted[0][0] = Energy::Microjoules(tick.departed);
  unlisted[2][0] = Energy::Microjoules(tick.unseen);
  snapshot.unattributed[0] = Energy::Microjoules(tick.unattributed);
  snapshot.node[0].active = Energy::Microjoules(active);
  snapshot.node[0].idle = Energy::Microjoules(tick.idle);
  snapshot.node[0].total = Energy::Microjoules(active + tick.idle);
  std::string text;
  json_lines::AppendLines(snapshot, {.node = node, .levels = series::kUser}, text);
  return text;
}

Amounts AmountsOf(const std::string& text) {
  EnergyBook book({.by = By::kUser});
  LineReader reader;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    const auto read = reader.Read(*line);
    if (!read) return {{read.error().message, 0}};
    book.Add(**read);
  }
  const auto report = book.Close();
  if (!report) return {{report.error().message, 0}};
  Amounts amounts;
  Energy sum;
  for (const auto* const rows : {&report->rows, &report->rest})
    for (const Row& row : *rows) {
      amounts[row.name] = row.amount.energy.microjoules();
      sum += row.amount.energy;
    }
  EXPECT_EQ(sum, report->total.energy);
  EXPECT_EQ(report->impossible + report->incomplete, 0U);
  return amounts;
}

TEST(EnergyByUser, RowsAndRest_AddUp) {
  const std::string text =
      LinesAt(0, {.users = {{{1000, "alice"}, 5}}, .idle = 1}, "n1") +
      LinesAt(60, {.users = {{{1000, "alice"}, 25}, {{1001, ""}, 7}}, .unseen = 3, .unattributed = 40, .idle = 501},
              "n1");
  EXPECT_EQ(AmountsOf(text), (Amounts{{"alice", 20},
                                      {"uid 1001", 7},
                                      {"came and went between two scans", 3},
                                      {"caused by no workload", 40},
                                      {"idle", 500}}));
}

TEST(EnergyByUser, SameNameOnTwoNodes_IsOneRow) {
  const auto node = [](const std::string& name, uint32_t uid, int64_t energy) {
    return LinesAt(0, {.users = {{{uid, "alice"}, 0}}}, name) +
           LinesAt(60, {.users = {{{uid, "alice"}, energy}}}, name);
  };
  EXPECT_EQ(AmountsOf(node("n1", 1000, 5) + node("n2", 2000, 70)), (Amounts{{"alice", 75}}));
}

TEST(EnergyByUser, NameThatComesLater_IsAnotherRow_AndNothingIsLost) {
  const std::string text = LinesAt(0, {.users = {{{1000, ""}, 0}}}, "n1") +
                           LinesAt(60, {.users = {{{1000, ""}, 30}}}, "n1") +
                           LinesAt(120, {.users = {{{1000, "alice"}, 4}}, .departed = 31}, "n1");
  EXPECT_EQ(AmountsOf(text), (Amounts{{"uid 1000", 30}, {"alice", 4}, {"ended before their next line", 1}}));
}

}  // namespace
}  // namespace kepler::report
