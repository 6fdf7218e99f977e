#include "base/file_place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "testing/as_nobody.h"
#include "testing/fake_tree.h"

namespace kepler {
namespace {

class LookAtPlaceTest : public ::testing::Test {
 protected:
  static std::string Look(const std::string& path) {
    const auto found = LookAtPlace(path);
    if (!found) return found.error().message;
    if (!*found) return "nothing";
    return S_ISLNK((*found)->st_mode) ? "a link" : S_ISDIR((*found)->st_mode) ? "a directory" : "a file";
  }

  testing::FakeTree tree_;
};

TEST_F(LookAtPlaceTest, WhatIsThere_IsReturnedAndNothingIsMade) {
  tree_.Write("file", "");
  tree_.Symlink("link", "file");
  EXPECT_EQ(Look(tree_.Path("file")), "a file");
  EXPECT_EQ(Look(tree_.Path("link")), "a link");
  EXPECT_EQ(Look(tree_.root()), "a directory");
  EXPECT_EQ(Look(tree_.Path("new")), "nothing");
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("new")));
}

TEST_F(LookAtPlaceTest, PathsThatCannotBeUsed_AreErrors) {
  tree_.Write("file", "");
  EXPECT_EQ(Look("queue"), "\"queue\" is a relative path; write an absolute path");
  EXPECT_EQ(Look("./queue"), "\"./queue\" is a relative path; write an absolute path");
  EXPECT_EQ(Look(tree_.Path("file/a")), tree_.Path("file") + " is not a directory");
  EXPECT_EQ(Look(tree_.Path("file/a/b")), tree_.Path("file/a") + " is not a directory");
  EXPECT_EQ(Look(tree_.Path("no/a")),
            "directory " + tree_.Path("no") + " does not exist; run mkdir -p " + tree_.Path("no"));
  const std::string too_long = tree_.Path(std::string(300, 'a'));
  EXPECT_EQ(Look(too_long), too_long + " is too long for the file system; write a shorter name");
  EXPECT_EQ(LookAtPlace(too_long).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(LookAtPlace("queue").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(LookAtPlace(tree_.Path("file/a")).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(LookAtPlace(tree_.Path("no/a")).error().kind, ErrorKind::kNotFound);
}

TEST_F(LookAtPlaceTest, AParentOfAnotherUser_IsAnError) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  tree_.Chmod("", 0755);
  EXPECT_EQ(testing::AsNobody([&] { return Look(tree_.Path("new")); }),
            "write to " + tree_.root() + ": Permission denied");
}

TEST(WithoutEndSlashes, KeepsTheRoot) {
  EXPECT_EQ(WithoutEndSlashes("/a/b//"), "/a/b");
  EXPECT_EQ(WithoutEndSlashes("//"), "/");
  EXPECT_EQ(WithoutEndSlashes(""), "");
}

}  // namespace
}  // namespace kepler
