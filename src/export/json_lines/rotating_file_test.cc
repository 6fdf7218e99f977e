#include "export/json_lines/rotating_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "base/small_file.h"
#include "testing/fake_tree.h"

namespace kepler::json_lines {
namespace {

using ::testing::HasSubstr;

class RotatingFileTest : public ::testing::Test {
 protected:
  std::string Read(const std::string& name) { return ReadSmallFile(tree_.Path(name)).value_or("(none)"); }

  testing::FakeTree tree_;
};

TEST_F(RotatingFileTest, AFullFileIsMoved_AndOnlySoManyAreKept) {
  RotatingFile file(tree_.Path("log"), {.max_bytes = 10, .max_files = 3});
  for (const char* block : {"1111\n", "2222\n", "3333\n", "4444\n", "5555\n", "6666\n", "7777\n"})
    ASSERT_TRUE(file.Append(block));
  EXPECT_EQ(Read("log"), "7777\n");
  EXPECT_EQ(Read("log.1"), "5555\n6666\n");
  EXPECT_EQ(Read("log.2"), "3333\n4444\n");
  EXPECT_EQ(Read("log.3"), "(none)");
}

TEST_F(RotatingFileTest, OneFile_BeginsAgain) {
  RotatingFile file(tree_.Path("log"), {.max_bytes = 6, .max_files = 1});
  ASSERT_TRUE(file.Append("1111\n"));
  ASSERT_TRUE(file.Append("2222\n"));
  EXPECT_EQ(Read("log"), "2222\n");
  EXPECT_EQ(Read("log.1"), "(none)");
}

TEST_F(RotatingFileTest, ABlockThatIsLargerThanAFileIsWritten) {
  RotatingFile file(tree_.Path("log"), {.max_bytes = 3, .max_files = 2});
  ASSERT_TRUE(file.Append("1111\n"));
  ASSERT_TRUE(file.Append("2222\n"));
  EXPECT_EQ(Read("log"), "2222\n");
  EXPECT_EQ(Read("log.1"), "1111\n");
}

TEST_F(RotatingFileTest, AnExistingFileIsContinued) {
  tree_.Write("log", "old\n");
  RotatingFile file(tree_.Path("log"), {.max_bytes = 100, .max_files = 2});
  ASSERT_TRUE(file.Append("new\n"));
  EXPECT_EQ(Read("log"), "old\nnew\n");
}

TEST_F(RotatingFileTest, ALineThatACrashCut_GetsAnEnd) {
  tree_.Write("log", "old\n{\"cut");
  RotatingFile file(tree_.Path("log"), {.max_bytes = 13, .max_files = 2});
  ASSERT_TRUE(file.Append("1\n"));
  EXPECT_EQ(Read("log"), "old\n{\"cut\n1\n");
  ASSERT_TRUE(file.Append("2\n"));
  EXPECT_EQ(Read("log"), "2\n") << "the added byte counts";
}

TEST_F(RotatingFileTest, AFileThatSomebodyMovedIsMadeAgain) {
  RotatingFile file(tree_.Path("log"), {});
  ASSERT_TRUE(file.Append("1\n"));
  std::filesystem::rename(tree_.Path("log"), tree_.Path("moved"));
  ASSERT_TRUE(file.Append("2\n"));
  EXPECT_EQ(Read("log"), "2\n");
  EXPECT_EQ(Read("moved"), "1\n");
}

TEST_F(RotatingFileTest, AFileThatSomebodyCutIsContinuedFromThere) {
  RotatingFile file(tree_.Path("log"), {.max_bytes = 12, .max_files = 2});
  ASSERT_TRUE(file.Append("1111\n"));
  ASSERT_TRUE(file.Append("2222\n"));
  std::filesystem::resize_file(tree_.Path("log"), 0);  // as copytruncate of logrotate
  ASSERT_TRUE(file.Append("3333\n"));
  EXPECT_EQ(Read("log"), "3333\n");
  EXPECT_EQ(Read("log.1"), "(none)") << "it is not full any more";
}

TEST_F(RotatingFileTest, NoDirectory_ALink_ADevice_AreErrors) {
  EXPECT_EQ(RotatingFile(tree_.Path("no/log"), {}).Append("x").error().kind, ErrorKind::kNotFound);
  tree_.Write("target", "");
  tree_.Symlink("link", tree_.Path("target"));
  EXPECT_FALSE(RotatingFile(tree_.Path("link"), {}).Append("x"));
  EXPECT_EQ(Read("target"), "");
  EXPECT_THAT(RotatingFile("/dev/null", {}).Append("x").error().message, HasSubstr("is not a regular file"));
}

TEST_F(RotatingFileTest, TheCheck_RefusesWhatNoWaitRepairs) {
  const auto error = [](const std::string& path) {
    const Status usable = CheckPath(path, {.max_files = 3});
    return usable ? Error{} : usable.error();
  };
  tree_.Write("log", "");
  tree_.Symlink("link", tree_.Path("log"));
  EXPECT_EQ(error(tree_.Path("log")).message, "");
  EXPECT_EQ(error(tree_.Path("new")).message, "");
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("new")));
  EXPECT_EQ(error(tree_.root()).message, tree_.root() + " is a directory; name a file in it");
  EXPECT_EQ(error(tree_.Path("new/")).message, tree_.Path("new/") + " ends with a slash; name a file");
  EXPECT_EQ(error(tree_.Path("link")).message, tree_.Path("link") + " is a link; name the file itself");
  EXPECT_EQ(error("/dev/null").message, "/dev/null is not a regular file");
  for (const std::string& path : {std::string("log"), tree_.Path("log/a"), tree_.Path("link"), tree_.root()})
    EXPECT_EQ(error(path).kind, ErrorKind::kInvalid) << path;
  EXPECT_EQ(error(tree_.Path("no/log")).kind, ErrorKind::kNotFound);
  constexpr size_t kMaxName = 255;
  EXPECT_EQ(error(tree_.Path(std::string(kMaxName - 2, 'a'))).message, "");
  EXPECT_EQ(error(tree_.Path(std::string(kMaxName - 1, 'a'))).kind, ErrorKind::kInvalid) << "no place for .2";
}

/// RLIMIT_FSIZE fails a write in the middle of a block, as a full disk does.
TEST_F(RotatingFileTest, ABlockThatDoesNotFitLeavesNoPart_AndTheNextIsTried) {
  RotatingFile file(tree_.Path("log"), {});
  ASSERT_TRUE(file.Append("first\n"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status failed = file.Append("second\n");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr(tree_.Path("log")));
  EXPECT_EQ(Read("log"), "first\n");
  ASSERT_TRUE(file.Append("third\n"));
  EXPECT_EQ(Read("log"), "first\nthird\n");
}

}  // namespace
}  // namespace kepler::json_lines
