#include "modelserver/own_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lab/files/archive.h"
#include "lab/files/model_archive.h"
#include "model/model_json.h"
#include "modelserver/archive_summary.h"
#include "modelserver/store_test_util.h"

namespace kepler::modelserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::PowerModel TreeModel() { return model::ReadModelJson(testing::OwnTrees("trees", "p")).value(); }

TEST(OwnArchive, IsReadAsThePublishedOnesAndPredictsTheSame) {
  const model::PowerModel model = TreeModel();
  const auto zip = WriteOwnArchive(model, "rapl-sysfs");
  ASSERT_TRUE(zip) << zip.error().message;
  const auto members = lab::files::ReadArchive(*zip);
  ASSERT_TRUE(members);
  const auto read = lab::files::ReadServerArchive(*members);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->model.components.size(), 1U);
  for (const double x : {0.0, 9.9, 10.0, 10.1, 500.0}) {
    const double row[] = {x, 1};
    EXPECT_EQ(model::Predict(read->model.components[0].predictor, row),
              model::Predict(model.components[0].predictor, row));
  }
}

TEST(OwnArchive, HasNoPickleAndNoNestedObjectInItsMetadata) {
  const auto zip = WriteOwnArchive(TreeModel(), "rapl-sysfs");
  ASSERT_TRUE(zip);
  const auto members = lab::files::ReadArchive(*zip).value();
  for (const lab::files::Member& member : members) EXPECT_THAT(member.name, Not(HasSubstr(".pkl")));
  const std::string metadata = lab::files::FindMember(members, "metadata.json")->bytes;
  EXPECT_EQ(metadata.find('{', 1), std::string::npos);
  const auto summary = ReadArchiveSummary(*zip);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->model_class, "xgboost");
  EXPECT_EQ(summary->stated.at("package_mae"), 1.5);
}

TEST(OwnArchive, HasOnlyComponentsOfTheSource) {
  EXPECT_FALSE(WriteOwnArchive(TreeModel(), "acpi"));
  EXPECT_TRUE(IsOfSource(model::Component::kPlatform, "acpi"));
  EXPECT_FALSE(IsOfSource(model::Component::kPlatform, "rapl-sysfs"));
}

TEST(OwnArchive, OtherFormulasAreRefused) {
  const auto linear = model::ReadModelJson(testing::OwnModel("linear", 1, "p"));
  ASSERT_TRUE(linear);
  EXPECT_FALSE(WriteOwnArchive(*linear, "rapl-sysfs"));
}

}  // namespace
}  // namespace kepler::modelserver
