#include "apps/kepler-model/decisions.h"

#include <gtest/gtest.h>

#include <string>

#include "base/small_file.h"
#include "modelserver/decision_log.h"
#include "modelserver/training_facts.h"
#include "testing/fake_tree.h"

namespace kepler::lab::tool {
namespace {

TEST(TrainedUntil, VersionOlderThanTheFile_IsInTheLog) {
  kepler::testing::FakeTree tree;
  const ModelInStore model{.store = tree.root(), .name = "mine"};
  const std::string versions = ".versions/mine";
  tree.Write(versions + "/1/model.json", "{}");
  const std::string directory = tree.Path(versions + "/1");
  EXPECT_EQ(TrainedUntil(model, directory, 1), 0) << "an uploaded model";
  const auto line = [](uint32_t version, double until, bool is_published) {
    return modelserver::DecisionLine({.new_version = version, .trained_until = until, .is_published = is_published},
                                     "mine") +
           "\n";
  };
  tree.Write(versions + modelserver::kDecisionsFile, line(1, 500, true) + line(2, 700, true) + line(1, 900, false));
  EXPECT_EQ(TrainedUntil(model, directory, 1), 500);
  EXPECT_EQ(TrainedUntil(model, directory, 3), 0);
  tree.Write(versions + "/1/" + modelserver::kTrainingFile, modelserver::TrainingText(600));
  EXPECT_EQ(TrainedUntil(model, directory, 1), 600) << "the file is right also if the log is cut";
}

TEST(Remember, LineThatWasCut_DoesNotTakeTheNext) {
  kepler::testing::FakeTree tree;
  const ModelInStore model{.store = tree.root(), .name = "mine"};
  const std::string path = tree.Path(".versions/mine") + modelserver::kDecisionsFile;
  ASSERT_TRUE(Remember(model, {.new_version = 1, .reason = "the first"}));
  const std::string whole = ReadSmallFile(path).value();
  tree.Write(std::string(".versions/mine") + modelserver::kDecisionsFile, whole + whole.substr(0, 20));
  ASSERT_TRUE(Remember(model, {.new_version = 2, .reason = "after a full disk"}));
  ASSERT_TRUE(Remember(model, {.new_version = 3, .reason = "and after that"}));
  const auto decisions = modelserver::ReadDecisions(path).value();
  ASSERT_EQ(decisions.size(), 3u);
  EXPECT_EQ(decisions[1].new_version, 2u);
  EXPECT_EQ(decisions[2].new_version, 3u);
  EXPECT_FALSE(ReadSmallFile(path).value().contains("\n\n"));
}

}  // namespace
}  // namespace kepler::lab::tool
