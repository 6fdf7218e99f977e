#include "modelserver/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/small_file.h"
#include "model/sha256.h"
#include "modelserver/model_tree.h"
#include "modelserver/store_lock.h"
#include "modelserver/store_test_util.h"
#include "modelserver/training_facts.h"

namespace kepler::modelserver {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string Model(uint32_t version, double bias = 10) {
  std::string text = testing::OwnModel("m", bias, "p");
  const std::string mark = "\"version\":1";
  return text.replace(text.find(mark), mark.size(), fmt::format("\"version\":{}", version));
}

struct PublisherTest : ::testing::Test {
  kepler::testing::FakeTree files;

  Result<Published> Upload(std::string_view json, std::string_view signature = "", std::string_view name = "m") {
    return Publish(files.root(), {.name = name, .json = json, .signature = signature});
  }
  [[nodiscard]] std::string Read(std::string_view path) const {
    return ReadSmallFile(files.Path(path)).value_or("none");
  }
  [[nodiscard]] size_t VersionsKept() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(files.Path(".versions/m")), fs::directory_iterator()));
  }
};

TEST_F(PublisherTest, AModelIsPublishedWithItsSignature) {
  const auto published = Upload(Model(1), "sig");
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ(published->version, 1U);
  EXPECT_TRUE(published->is_new);
  EXPECT_EQ(published->sha256, model::Sha256(Model(1)));
  EXPECT_EQ(Read("models/m/model.json"), Model(1));
  EXPECT_EQ(Read("models/m/model.json.sig"), "sig");
  const auto index = ModelTree(files.root()).Scan();
  ASSERT_TRUE(index);
  ASSERT_NE((*index)->FindOwn("m"), nullptr);
  EXPECT_TRUE((*index)->skipped.empty());
}

TEST_F(PublisherTest, TheTimeOfTheTrainingDataIsPublishedWithTheModel) {
  ASSERT_TRUE(Publish(files.root(), {.name = "m", .json = Model(1), .signature = {}, .trained_until = 1000.5}));
  EXPECT_EQ(TrainedUntil(files.Path("models/m")), 1000.5);
  ASSERT_TRUE(Upload(Model(1), "sig later"));
  EXPECT_EQ(TrainedUntil(files.Path("models/m")), 1000.5) << "the same version";
  ASSERT_TRUE(Upload(Model(2)));
  EXPECT_EQ(TrainedUntil(files.Path("models/m")), 0) << "nobody says";
  const auto kept = KeptVersions(files.root(), "m");
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(TrainedUntil(kept[0].directory), 1000.5);
}

TEST_F(PublisherTest, ANewerVersionReplacesBothFiles) {
  ASSERT_TRUE(Upload(Model(1), "sig"));
  ASSERT_TRUE(Upload(Model(2)));
  EXPECT_EQ(Read("models/m/model.json"), Model(2));
  EXPECT_EQ(Read("models/m/model.json.sig"), "none");
  EXPECT_EQ(VersionsKept(), 2U);
}

TEST_F(PublisherTest, AnOlderOrDifferentEqualVersionIsRefused) {
  ASSERT_TRUE(Upload(Model(3)));
  for (const auto& text : {Model(2), Model(3, 11)}) {
    const auto refused = Upload(text);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("version 3"));
  }
  const auto same = Upload(Model(3), "sig later");
  ASSERT_TRUE(same);
  EXPECT_FALSE(same->is_new);
  EXPECT_EQ(Read("models/m/model.json.sig"), "sig later");
}

TEST_F(PublisherTest, OldVersionsAreRemoved) {
  for (uint32_t version = 1; version <= kKeptVersions + 3; ++version) ASSERT_TRUE(Upload(Model(version)));
  EXPECT_EQ(VersionsKept(), kKeptVersions);
  EXPECT_EQ(Read("models/m/model.json"), Model(kKeptVersions + 3));
}

TEST_F(PublisherTest, LeftoversOfACrashDoNoHarm) {
  ASSERT_TRUE(Upload(Model(1)));
  const std::string next = fmt::format(".versions/m/v2-{}/model.json", model::Sha256(Model(2)).substr(0, 12));
  files.Write(next, "half");
  files.Symlink("models/.m", "nowhere");
  EXPECT_EQ(Read("models/m/model.json"), Model(1));
  ASSERT_TRUE(Upload(Model(2)));
  EXPECT_EQ(Read("models/m/model.json"), Model(2));
}

TEST_F(PublisherTest, ALockedModelIsNotPublished) {
  const auto lock = StoreLock::Take(files.root(), "m", "kepler-model retrain", std::chrono::milliseconds(0));
  ASSERT_TRUE(lock);
  const auto refused = Publish(files.root(), {.name = "m", .json = Model(1), .signature = {}, .patience = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(refused.error().message, HasSubstr("kepler-model retrain (process"));
  EXPECT_EQ(Read("models/m/model.json"), "none");
}

TEST_F(PublisherTest, SeveralPublishersAtOnceLeaveTheNewestVersion) {
  constexpr uint32_t kPublishers = 8;
  constexpr uint32_t kEach = 5;
  std::atomic<uint32_t> broken = 0;
  {
    std::vector<std::jthread> publishers;
    for (uint32_t at = 0; at < kPublishers; ++at)
      publishers.emplace_back([&, at] {
        for (uint32_t round = 0; round < kEach; ++round) {
          const auto published = Upload(Model(1 + at + round * kPublishers));
          if (!published && published.error().kind != ErrorKind::kUnavailable) ++broken;
        }
      });
  }
  EXPECT_EQ(broken, 0U);
  EXPECT_EQ(Read("models/m/model.json"), Model(kPublishers * kEach));
}

TEST_F(PublisherTest, AnIndexServesItsVersionAfterAPublish) {
  ASSERT_TRUE(Upload(Model(1), "sig 1"));
  const auto index = ModelTree(files.root()).Scan();
  ASSERT_TRUE(Upload(Model(2), "sig 2"));
  const StoredModel* const own = (*index)->FindOwn("m");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(ReadStored(*own->own), Model(1));
  EXPECT_EQ(ReadStored(*own->signature), "sig 1");
  files.Remove(".versions");
  EXPECT_EQ(ReadStored(*own->own).error().kind, ErrorKind::kUnavailable);
}

TEST_F(PublisherTest, AScanDuringPublishesHasTheModelWithItsSignature) {
  constexpr uint32_t kVersions = 60;
  ASSERT_TRUE(Upload(Model(1)));
  std::atomic<bool> is_done = false;
  std::jthread publisher([&] {
    for (uint32_t version = 2; version <= kVersions; ++version)
      EXPECT_TRUE(Upload(Model(version), version % 2 == 0 ? fmt::format("sig {}", version) : ""));
    is_done = true;
  });
  ModelTree tree(files.root());
  while (!is_done) {
    const auto index = tree.Scan();
    ASSERT_TRUE(index);
    const StoredModel* const own = (*index)->FindOwn("m");
    ASSERT_NE(own, nullptr) << ((*index)->skipped.empty() ? "not listed" : (*index)->skipped.front().reason);
    const uint32_t version = own->judged_archive->model.version;
    ASSERT_EQ(own->signature.has_value(), version % 2 == 0);
    ASSERT_EQ(own->signature ? own->signature->sha256 : "",
              own->signature ? model::Sha256(fmt::format("sig {}", version)) : "");
  }
}

TEST_F(PublisherTest, WrongUploadsChangeNothing) {
  for (const char* name : {"", "..", "a/b", ".hidden"}) EXPECT_FALSE(Upload(Model(1), "", name)) << name;
  for (const char* text : {"", "{}", "[1]", R"({"package":{"All_Weights":{}}})"}) EXPECT_FALSE(Upload(text)) << text;
  EXPECT_FALSE(Upload(Model(1), std::string(kMaxSignatureBytes + 1, 's')));
  EXPECT_FALSE(Upload(Model(1).substr(0, 100)));
  EXPECT_FALSE(fs::exists(files.Path("models")));
}

TEST_F(PublisherTest, ADirectoryMadeByHandIsKept) {
  files.Write("models/m/model.json", Model(1));
  const auto refused = Upload(Model(2));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not uploaded"));
  EXPECT_EQ(Read("models/m/model.json"), Model(1));
}

TEST_F(PublisherTest, AKeptVersionIsPublishedAgainWithItsSignature) {
  EXPECT_TRUE(KeptVersions(files.root(), "m").empty());
  ASSERT_TRUE(Upload(Model(2), "sig 2"));
  ASSERT_TRUE(Upload(Model(10)));
  files.Write(".versions/m/v7-abc/model.json", "half");
  files.Write(".versions/m/decisions.jsonl", "{}");
  const auto kept = KeptVersions(files.root(), "m");
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].version, 2U);
  EXPECT_EQ(kept[0].signature, "sig 2");
  EXPECT_EQ(kept[1].json, Model(10));
  EXPECT_EQ(kept[1].signature, "");
  EXPECT_FALSE(PublishAgain(files.root(), "m", kept[0], Model(9), "a test")) << "version 10 came meanwhile";
  ASSERT_TRUE(PublishAgain(files.root(), "m", kept[0], Model(10), "a test"));
  EXPECT_EQ(Read("models/m/model.json"), Model(2));
  EXPECT_EQ(Read("models/m/model.json.sig"), "sig 2");
  files.Remove("models/m");
  files.Write("models/m/model.json", Model(1));
  EXPECT_FALSE(PublishAgain(files.root(), "m", kept[0], Model(1), "a test")) << "a directory made by hand";
}

TEST_F(PublisherTest, APublisherThatHasReadAnEarlierTextIsRefused) {
  const auto replace = [&](const std::string& json, std::string_view replaced) {
    return Publish(files.root(), {.name = "m", .json = json, .signature = {}, .replaced = replaced});
  };
  EXPECT_FALSE(replace(Model(2), Model(1))) << "nothing is published";
  ASSERT_TRUE(replace(Model(2), ""));
  for (const std::string& read : {std::string(), Model(1), Model(2, 11)}) {
    const auto refused = replace(Model(9), read);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  }
  EXPECT_EQ(VersionsKept(), 1U);
  ASSERT_TRUE(replace(Model(9), Model(2)));
  EXPECT_EQ(Read("models/m/model.json"), Model(9));
}

TEST_F(PublisherTest, AKeptVersionThatWasRemovedMeanwhileIsNotPublished) {
  ASSERT_TRUE(Upload(Model(1)));
  ASSERT_TRUE(Upload(Model(2)));
  const auto kept = KeptVersions(files.root(), "m");
  ASSERT_EQ(kept.size(), 2U);
  std::filesystem::remove_all(kept[0].directory);
  const auto again = PublishAgain(files.root(), "m", kept[0], Model(2), "a test");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Read("models/m/model.json"), Model(2));
}

TEST_F(PublisherTest, TheLargestVersionIsRefused) {
  EXPECT_FALSE(Upload(Model(UINT32_MAX)));
  EXPECT_TRUE(Upload(Model(UINT32_MAX - 1)));
}

TEST_F(PublisherTest, AStoreThatCannotBeWrittenIsAnError) {
  files.Write(".versions", "a file in the way");
  EXPECT_FALSE(Upload(Model(1)));
  EXPECT_EQ(Read("models/m/model.json"), "none");
}

}  // namespace
}  // namespace kepler::modelserver
