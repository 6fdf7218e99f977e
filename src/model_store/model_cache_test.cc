#include "model_store/model_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "os/dirents.h"
#include "testing/fake_tree.h"
#include "testing/fifo.h"

namespace kepler::model_store {
namespace {

using ::testing::SizeIs;

Result<std::string> Loaded(const ModelCache& cache, std::string_view key) {
  TextBudget budget;
  KEPLER_TRY(const IncomingText text, cache.Load(key, budget));
  return std::string(text.text());
}

TEST(ModelCache, GivesBackWhatWasSavedLast) {
  const kepler::testing::FakeTree tree;
  const ModelCache cache(tree.Path("kept/models"));
  EXPECT_EQ(Loaded(cache, "http://h/a").error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(cache.Save("http://h/a", "one"));
  ASSERT_TRUE(cache.Save("http://h/b", "other"));
  ASSERT_TRUE(cache.Save("http://h/a", "two"));
  EXPECT_EQ(Loaded(cache, "http://h/a"), "two");
  EXPECT_EQ(Loaded(cache, "http://h/b"), "other");
  EXPECT_THAT(*os::ListDir(tree.Path("kept/models")), SizeIs(2)) << "what was replaced is gone";
}

TEST(ModelCache, ChangedFile_IsNotBelieved) {
  kepler::testing::FakeTree tree;
  const ModelCache cache(tree.Path("kept"));
  ASSERT_TRUE(cache.Save("http://h/a", "one"));
  tree.Write("kept/" + os::ListDir(tree.Path("kept"))->front(), "on");
  EXPECT_EQ(Loaded(cache, "http://h/a").error().kind, ErrorKind::kMalformed);
  ASSERT_TRUE(cache.Save("http://h/a", "one"));
  EXPECT_EQ(Loaded(cache, "http://h/a"), "one");
}

TEST(ModelCache, OfSeveral_TheNewestThatIsWhole) {
  kepler::testing::FakeTree tree;
  const ModelCache cache(tree.Path("kept"));
  const auto name_of = [&](const std::string& text) {
    EXPECT_TRUE(cache.Save("http://h/a", text));
    return "kept/" + os::ListDir(tree.Path("kept"))->front();
  };
  const auto at = [&](const std::string& name, std::string_view text, int second) {
    tree.Write(name, text);
    std::filesystem::last_write_time(tree.Path(name),
                                     std::filesystem::file_time_type(std::chrono::seconds(1'000'000 + second)));
  };
  const std::string one = name_of("one");
  const std::string two = name_of("two");
  const std::string three = name_of("three");
  at(one, "one", 2);
  at(two, "two", 1);
  at(three, "three", 3);
  EXPECT_EQ(Loaded(cache, "http://h/a"), "three") << "the last by name, too";
  at(three, "thre", 3);
  EXPECT_EQ(Loaded(cache, "http://h/a"), "one");
  at(one, "on", 2);
  EXPECT_EQ(Loaded(cache, "http://h/a"), "two");
  at(two, "tw", 1);
  EXPECT_EQ(Loaded(cache, "http://h/a").error().kind, ErrorKind::kMalformed);
}

TEST(ModelCache, OtherKeys_AreRemoved_NothingElse) {
  kepler::testing::FakeTree tree;
  const ModelCache cache(tree.Path("kept"));
  for (const char* key : {"http://h/a", "http://h/b"}) ASSERT_TRUE(cache.Save(key, key));
  tree.Write("kept/" + std::string(32, '0') + "-new", "left behind");
  const std::vector<std::string> foreign = {"notes.txt", std::string(32, '0') + ".json",
                                            std::string(32, '0') + '-' + std::string(63, '0') + ".json",
                                            std::string(32, 'x') + '-' + std::string(64, '0') + ".json"};
  for (const std::string& name : foreign) tree.Write("kept/" + name, "somebody's");
  EXPECT_THAT(*os::ListDir(tree.Path("kept")), SizeIs(3 + foreign.size()));
  cache.KeepOnly(std::vector<std::string>{"http://h/b", "http://h/c"});
  EXPECT_THAT(*os::ListDir(tree.Path("kept")), SizeIs(1 + foreign.size()));
  EXPECT_EQ(Loaded(cache, "http://h/b"), "http://h/b");
  EXPECT_EQ(Loaded(cache, "http://h/a").error().kind, ErrorKind::kNotFound);
  ModelCache(tree.Path("not there")).KeepOnly({});
}

TEST(ModelCache, PipesAndDevices_AreRefusedAndReplaced) {
  kepler::testing::FakeTree tree;
  const ModelCache cache(tree.Path("kept"));
  ASSERT_TRUE(cache.Save("http://h/a", "one"));
  const std::string name = "kept/" + os::ListDir(tree.Path("kept"))->front();
  tree.Remove(name);
  tree.Symlink(name, "/dev/zero");
  EXPECT_EQ(Loaded(cache, "http://h/a").error().kind, ErrorKind::kInvalid);
  tree.Remove(name);
  kepler::testing::MakeFifo(tree.Path(name));
  EXPECT_EQ(Loaded(cache, "http://h/a").error().kind, ErrorKind::kInvalid);
  const std::string unfinished = tree.Path(name.substr(0, name.rfind('-')) + "-new");
  kepler::testing::MakeFifo(unfinished);
  const UniqueFd reader(::open(unfinished.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // a writer does not wait
  EXPECT_TRUE(cache.Save("http://h/a", "two"));
  EXPECT_EQ(Loaded(cache, "http://h/a"), "two");
  EXPECT_THAT(*os::ListDir(tree.Path("kept")), SizeIs(1));
}

TEST(ModelCache, WhereNothingCanBeWritten_SaysSo) {
  kepler::testing::FakeTree tree;
  tree.Write("file", "");
  const ModelCache cache(tree.Path("file/models"));
  EXPECT_FALSE(cache.Save("http://h/a", "one"));
  const ModelCache none("");
  EXPECT_TRUE(none.Save("http://h/a", "one"));
  EXPECT_EQ(Loaded(none, "http://h/a").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace kepler::model_store
