#include "base/small_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/fake_tree.h"

namespace kepler {
namespace {

TEST(ReadSmallFile, File_IsItsText) {
  kepler::testing::FakeTree tree;
  const std::string text(100'000, 'x');
  tree.Write("a", text);
  EXPECT_EQ(ReadSmallFile(tree.Path("a")).value_or(""), text);
}

TEST(ReadSmallFile, MissingHugeOrSpecial_SaysWhy) {
  kepler::testing::FakeTree tree;
  tree.Write("huge", std::string((1 << 20) + 1, 'x'));
  ASSERT_EQ(::mkfifo(tree.Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadSmallFile(tree.Path("absent")).error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(ReadSmallFile(tree.Path("huge")).error().message, ::testing::HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(ReadSmallFile(tree.Path("pipe")).error().message, ::testing::HasSubstr("it is a pipe"));
  EXPECT_THAT(ReadSmallFile(tree.root()).error().message, ::testing::HasSubstr("Is a directory"));
}

TEST(StampOf, RewriteReplaceAndRemove_AreSeen) {
  kepler::testing::FakeTree tree;
  tree.Write("a", "one");
  const auto before = StampOf(tree.Path("a"));
  EXPECT_EQ(StampOf(tree.Path("a")), before);
  tree.Write("a", "longer");
  const auto rewritten = StampOf(tree.Path("a"));
  EXPECT_NE(rewritten, before);
  tree.Remove("a");
  EXPECT_EQ(StampOf(tree.Path("a")), FileStamp{});
}

TEST(StampOf, SwappedLink_IsSeen) {
  kepler::testing::FakeTree tree;
  tree.Write("v1", "same");
  tree.Write("v2", "same");
  tree.Symlink("current", "v1");
  const auto before = StampOf(tree.Path("current"));
  tree.Remove("current");
  tree.Symlink("current", "v2");
  EXPECT_NE(StampOf(tree.Path("current")), before);
}

}  // namespace
}  // namespace kepler
