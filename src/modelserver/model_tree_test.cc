#include "modelserver/model_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/sha256.h"
#include "modelserver/store_test_util.h"
#include "testing/fifo.h"

namespace kepler::modelserver {
namespace {

using kepler::testing::FakeTree;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const StoredModel* Find(const ModelIndex& index, std::string_view id) {
  const auto found = std::ranges::find(index.models, id, &StoredModel::id);
  return found == index.models.end() ? nullptr : &*found;
}

struct ModelTreeTest : ::testing::Test {
  FakeTree files;
  ModelTree tree{files.root()};
  std::shared_ptr<const ModelIndex> Scan() {
    auto index = tree.Scan();
    EXPECT_TRUE(index) << index.error().message;
    return index ? *index : nullptr;
  }
};

TEST_F(ModelTreeTest, IndexesAPublishedPipelineAndOwnModels) {
  testing::WriteStore(files);
  const auto index = Scan();
  EXPECT_THAT(index->models, SizeIs(4));
  EXPECT_THAT(index->skipped, IsEmpty());
  ASSERT_THAT(index->pipelines, SizeIs(1));
  EXPECT_EQ(index->pipelines[0].name, "ec2");
  const StoredModel* const first = Find(*index, std::string(testing::kGroupDir) + "SGDRegressorTrainer_1");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->pipeline, "ec2");
  EXPECT_EQ(first->source, "rapl-sysfs");
  EXPECT_EQ(first->group, "BPFOnly");
  EXPECT_EQ(first->type, 1U);
  EXPECT_EQ(first->machine()->cores, 72U);
  EXPECT_EQ(first->judged_weights->model.components[0].accuracy->mae_watts, 7);
  const auto bytes = ReadStored(*first->archive);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(model::Sha256(*bytes), first->archive->sha256);
  const StoredModel* const own = index->FindOwn("epyc");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->pipeline, "trained");
  EXPECT_TRUE(own->signature);
  EXPECT_EQ(own->stated.at("mae"), 1.5);
  EXPECT_EQ(index->FindFile("own/epyc/model.json.sig")->sha256, model::Sha256("signature"));
  EXPECT_EQ(index->FindFile("../etc/passwd"), nullptr);
}

TEST_F(ModelTreeTest, TheRootMayBeThePipeline) {
  testing::WriteStore(files);
  ModelTree pipeline(files.Path("v0.7/ec2"));
  const auto index = pipeline.Scan();
  ASSERT_TRUE(index);
  ASSERT_THAT((*index)->models, SizeIs(3));
  EXPECT_EQ((*index)->models[0].pipeline, "ec2");
  EXPECT_TRUE((*index)->models[0].machine());
}

TEST_F(ModelTreeTest, AnUnchangedTreeKeepsItsIndex) {
  testing::WriteStore(files);
  const auto first = Scan();
  EXPECT_EQ(Scan(), first);
  files.Write("v0.7/ec2/README.md", "of no interest");
  EXPECT_EQ(Scan(), first);
}

TEST_F(ModelTreeTest, AChangeMakesAnIndexAndKeepsOtherModels) {
  testing::WriteStore(files);
  const auto first = Scan();
  files.Write("own/epyc/model.json", testing::OwnModel("newer", 41, "amd_epyc_9654"));
  files.Write(std::string(testing::kGroupDir) + "SGDRegressorTrainer_2.json", testing::Weights(3));
  const auto second = Scan();
  EXPECT_EQ(second->generation, first->generation + 1);
  EXPECT_EQ(second->FindOwn("epyc")->pipeline, "newer");
  const std::string id = std::string(testing::kGroupDir) + "SGDRegressorTrainer_1";
  EXPECT_EQ(Find(*second, id)->judged_archive, Find(*first, id)->judged_archive);
  EXPECT_NE(Find(*second, std::string(testing::kGroupDir) + "SGDRegressorTrainer_2"), nullptr);
  files.Remove("own");
  EXPECT_EQ(Scan()->FindOwn("epyc"), nullptr);
}

TEST_F(ModelTreeTest, ANewSignatureOrTypeIndexIsSeen) {
  testing::WriteStore(files);
  const auto first = Scan();
  files.Write("own/epyc/model.json.sig", "another");
  files.Write("v0.7/ec2/node_type_index.json", R"({"1":{"attrs":{"processor":"x","cores":2},"members":[]}})");
  const auto second = Scan();
  EXPECT_EQ(second->FindOwn("epyc")->signature->sha256, model::Sha256("another"));
  EXPECT_EQ(Find(*second, std::string(testing::kGroupDir) + "SGDRegressorTrainer_1")->machine()->processor, "x");
}

TEST_F(ModelTreeTest, ABrokenFileIsSkippedWithAReason) {
  testing::WriteStore(files);
  files.Write(std::string(testing::kGroupDir) + "SVRRegressorTrainer_0.zip", "PK but no archive");
  files.Write(std::string(testing::kGroupDir) + "ExponentialRegressionTrainer_0.json", "{");
  files.Write("own/other/model.json", R"({"kepler_model":1})");
  files.Write("elsewhere/epyc/model.json", testing::OwnModel("twin", 1, "p"));
  files.Write("own/a name/model.json", testing::OwnModel("spaces", 1, "p"));
  const auto index = Scan();
  EXPECT_THAT(index->skipped, SizeIs(5));
  EXPECT_THAT(index->models, SizeIs(4));
}

TEST_F(ModelTreeTest, APipeIsSkippedWithAReason) {
  testing::WriteStore(files);
  files.Remove("own/epyc/model.json.sig");
  for (const char* const path : {"own/pipe/model.json", "linked/model.json", "own/epyc/model.json.sig"}) {
    std::filesystem::create_directories(std::filesystem::path(files.Path(path)).parent_path());
    kepler::testing::MakeFifo(files.Path(path));
  }
  files.Symlink("own/link", "../linked");
  const auto index = Scan();
  EXPECT_EQ(index->FindOwn("epyc"), nullptr) << "its signature cannot be read";
  std::vector<std::string> skipped;
  for (const SkippedFile& file : index->skipped) {
    skipped.push_back(file.relative);
    EXPECT_THAT(file.reason, HasSubstr("it is not a regular file"));
  }
  EXPECT_THAT(skipped, UnorderedElementsAre("own/pipe", "linked", "own/link", "own/epyc"));
  EXPECT_EQ(Scan(), index) << "nothing has changed";
}

TEST_F(ModelTreeTest, AnUploadedModelWinsAgainstACopyOfItsName) {
  files.Write(".versions/epyc/v2/model.json", testing::OwnModel("uploaded", 2, "p"));
  files.Symlink("models/epyc", "../.versions/epyc/v2");
  files.Write("backup/epyc/model.json", testing::OwnModel("copy", 1, "p"));
  const auto index = Scan();
  EXPECT_EQ(index->FindOwn("epyc")->pipeline, "uploaded");
  ASSERT_THAT(index->skipped, SizeIs(1));
  EXPECT_EQ(index->skipped[0].relative, "backup/epyc");
}

TEST_F(ModelTreeTest, ABrokenArchiveWithGoodWeightsLeavesNothingHalf) {
  const std::string path = std::string(testing::kGroupDir) + "SGDRegressorTrainer_0";
  files.Write(path + ".zip", testing::Archive({.output = "DynPower"}));
  files.Write(path + ".json", testing::Weights(3));
  const auto index = Scan();
  EXPECT_THAT(index->models, IsEmpty());
  ASSERT_THAT(index->skipped, SizeIs(1));
  EXPECT_THAT(index->skipped[0].reason, HasSubstr("another output"));
}

TEST_F(ModelTreeTest, HiddenDirectoriesAndLoopsOfLinksAreHarmless) {
  testing::WriteStore(files);
  files.Write(".staging/half/model.json", testing::OwnModel("half", 1, "p"));
  files.Symlink("v0.7/loop", "..");
  const auto index = Scan();
  EXPECT_NE(index->FindOwn("epyc"), nullptr);
  EXPECT_EQ(index->FindOwn("half"), nullptr);
}

TEST_F(ModelTreeTest, AChangedFileIsNotReadAsTheOldOne) {
  testing::WriteStore(files);
  const auto index = Scan();
  const StoredFile file = *index->FindOwn("epyc")->own;
  files.Write("own/epyc/model.json", "other");
  const auto bytes = ReadStored(file);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().kind, ErrorKind::kUnavailable);
}

TEST_F(ModelTreeTest, AMissingRootIsAnErrorThatNamesIt) {
  ModelTree missing(files.Path("nowhere"));
  const auto index = missing.Scan();
  ASSERT_FALSE(index);
  EXPECT_THAT(index.error().message, HasSubstr("nowhere"));
}

TEST(ModelName, IsASafeDirectory) {
  for (const char* name : {"a", "epyc-9654_v2.1"}) EXPECT_TRUE(IsModelName(name)) << name;
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a b", "\xc3\xa4", "a\n"})
    EXPECT_FALSE(IsModelName(name)) << name;
  EXPECT_FALSE(IsModelName(std::string(129, 'a')));
  EXPECT_EQ(
      NoModelName("a b\n"),
      R"("a b\n" is not a model name; use 1 to 128 letters (a-z, A-Z), digits, '.', '_' and '-', and no '.' in front)");
}

}  // namespace
}  // namespace kepler::modelserver
