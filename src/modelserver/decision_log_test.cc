#include "modelserver/decision_log.h"

#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::modelserver {
namespace {

TEST(DecisionLog, ReadsWhatItWrites_AndSkipsCutLines) {
  kepler::testing::FakeTree tree;
  const Decision first{.time = 1'700'000'000, .new_version = 1, .is_published = true, .reason = "the \"first\""};
  const Decision second{.time = 1'700'086'400,
                        .old_version = 1,
                        .new_version = 2,
                        .old_mae = 3.5,
                        .new_mae = 3.25,
                        .rows = 200,
                        .trained_until = 1'700'000'123.5,
                        .is_published = false,
                        .reason = "the gain is too small"};
  const std::string line = DecisionLine(second, "epyc");
  tree.Write("log", DecisionLine(first, "epyc") + "\n" + line + "\nnonsense\n{}\n" + line.substr(0, line.size() / 2));
  const auto decisions = ReadDecisions(tree.Path("log")).value();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].old_mae, std::nullopt);
  EXPECT_EQ(decisions[0].reason, "the \"first\"");
  EXPECT_TRUE(decisions[0].is_published);
  EXPECT_EQ(decisions[1].old_version, 1u);
  EXPECT_EQ(decisions[1].new_mae, 3.25);
  EXPECT_EQ(decisions[1].rows, 200u);
  EXPECT_EQ(decisions[1].trained_until, 1'700'000'123.5);
  EXPECT_FALSE(decisions[1].is_published);
}

TEST(DecisionLog, NoFile_NoDecisions) { EXPECT_TRUE(ReadDecisions("/nowhere/decisions.jsonl")->empty()); }

TEST(DecisionLog, LargeFile_TheLatestDecisionsAreRead) {
  kepler::testing::FakeTree tree;
  std::string text;
  Decision decision{.new_version = 0, .reason = std::string(1'000, 'x')};
  for (; text.size() < 3U << 20; ++decision.new_version) text += DecisionLine(decision, "m") + "\n";
  tree.Write("log", text);
  const auto decisions = ReadDecisions(tree.Path("log"));
  ASSERT_TRUE(decisions && !decisions->empty());
  EXPECT_EQ(decisions->back().new_version, decision.new_version - 1);
  EXPECT_EQ(decisions->front().new_version, decision.new_version - decisions->size());
}

TEST(DecisionLog, NotAFile_IsAnError) {
  kepler::testing::FakeTree tree;
  tree.Write("log/file", "");
  EXPECT_FALSE(ReadDecisions(tree.Path("log")));
}

}  // namespace
}  // namespace kepler::modelserver
