#include "modelserver/training_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::modelserver {
namespace {

TEST(TrainedUntil, IsWhatWasWritten_AndUnknownWithoutAFile) {
  kepler::testing::FakeTree tree;
  EXPECT_EQ(TrainedUntil(tree.root()), 0);
  tree.Write("training.json", TrainingText(1'700'000'123.5));
  EXPECT_EQ(TrainedUntil(tree.root()), 1'700'000'123.5);
}

TEST(TrainedUntil, MalformedOrTruncated_NamesTheFile) {
  kepler::testing::FakeTree tree;
  const std::string whole = TrainingText(1'700'000'123.5);
  for (const std::string& text :
       {std::string(), whole.substr(0, 10), whole.substr(0, whole.size() - 3), std::string("{}"),
        std::string(R"({"trained_until":"x"})"), std::string(R"({"trained_until":-1})"), std::string(5000, ' ')}) {
    tree.Write("training.json", text);
    const auto until = TrainedUntil(tree.root());
    ASSERT_FALSE(until) << text;
    EXPECT_THAT(until.error().message, ::testing::HasSubstr("training.json"));
  }
}

}  // namespace
}  // namespace kepler::modelserver
