#include "export/push/request_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "testing/as_nobody.h"
#include "testing/fake_tree.h"

namespace kepler::push {
namespace {

using ::testing::HasSubstr;

class RequestDirectoryTest : public ::testing::Test {
 protected:
  testing::FakeTree tree_;
  const std::string path_ = tree_.Path("queue");
  RequestDirectory directory_{path_};
};

TEST_F(RequestDirectoryTest, ASecondObject_IsRefusedUntilTheFirstIsClosed) {
  ASSERT_TRUE(directory_.Open());
  RequestDirectory second(path_);
  const auto refused = second.Open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("is in use by another agent or exporter"));
  EXPECT_FALSE(second.is_open());
  directory_.Close();
  EXPECT_TRUE(second.Open());
}

TEST_F(RequestDirectoryTest, DirectoriesThatAreNotSafe_AreRefused) {
  const auto error = [](const std::string& path) {
    const auto opened = RequestDirectory(path).Open();
    return opened ? "(no error)" : opened.error().message;
  };
  tree_.MakeDir("target");
  tree_.Symlink("link", tree_.Path("target"));
  EXPECT_THAT(error(tree_.Path("link")), HasSubstr("open " + tree_.Path("link")));
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("target/lock")));
  for (const unsigned mode : {0777U, 0720U}) {
    tree_.Chmod("target", mode);
    EXPECT_THAT(error(tree_.Path("target")), HasSubstr("other users may write to")) << mode;
  }
  tree_.Chmod("target", 0755);
  EXPECT_EQ(error(tree_.Path("target")), "(no error)");
  tree_.Write("file", "");
  EXPECT_THAT(error(tree_.Path("file")), HasSubstr("Not a directory"));
  EXPECT_THAT(error(tree_.Path("no/parent")), HasSubstr("No such file or directory"));
  std::filesystem::remove(tree_.Path("target/lock"));
  tree_.Symlink("target/lock", tree_.Path("made"));
  EXPECT_THAT(error(tree_.Path("target")), HasSubstr("/lock"));
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("made")));
}

TEST_F(RequestDirectoryTest, ADirectoryOfAnotherUser_IsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  tree_.Chmod("", 0755);
  tree_.MakeDir("queue");
  tree_.Chmod("queue", 0755);
  const std::string error = testing::AsNobody([&] {
    const auto opened = RequestDirectory(path_).Open();
    return opened ? "(no error)" : opened.error().message;
  });
  EXPECT_THAT(error, HasSubstr("other users may write to"));
}

}  // namespace
}  // namespace kepler::push
