#include "apps/kepler-model/decisions.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kepler::lab::tool
