#include "model_store/model_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/dirents.h"
#include "testing/fake_tree.h"

namespace kepler::model_store {
namespace {

using ::testing::SizeIs;

TEST(ModelCache, GivesBackWhatWasSavedLast) {
  const kepler::testing::FakeTree tree;
  const ModelCache cache(tree.Path("kept/models"));
  EXPECT_EQ(cache.Load("http://h/a").error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(cache.Save("http://h/a", "one"));
  ASSERT_TRUE(cache.Save("http://h/b", "other"));
  ASSERT_TRUE(cache.Save("http://h/a", "two"));
  EXPECT_EQ(cache.Load("http://h/a"), "two");
  EXPECT_EQ(cache.Load("http://h/b"), "other");
  EXPECT_THAT(*os::ListDir(tree.Path("kept/models")), SizeIs(2)) << "what was replaced is gone";
}

TEST(ModelCache, ChangedFile_IsNotBelieved) {
  kepler::testing::FakeTree tree;
  const ModelCache cache(tree.Path("kept"));
  ASSERT_TRUE(cache.Save("http://h/a", "one"));
  tree.Write("kept/" + os::ListDir(tree.Path("kept"))->front(), "on");
  EXPECT_EQ(cache.Load("http://h/a").error().kind, ErrorKind::kMalformed);
  ASSERT_TRUE(cache.Save("http://h/a", "one"));
  EXPECT_EQ(cache.Load("http://h/a"), "one");
}

TEST(ModelCache, WhereNothingCanBeWritten_SaysSo) {
  kepler::testing::FakeTree tree;
  tree.Write("file", "");
  const ModelCache cache(tree.Path("file/models"));
  EXPECT_FALSE(cache.Save("http://h/a", "one"));
  const ModelCache none("");
  EXPECT_TRUE(none.Save("http://h/a", "one"));
  EXPECT_EQ(none.Load("http://h/a").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace kepler::model_store
