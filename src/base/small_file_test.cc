#include "base/small_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "testing/as_nobody.h"
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

TEST(ReadSecretFile, Line_IsTakenWithItsBlanksAndWithoutItsEnd) {
  kepler::testing::FakeTree tree;
  for (const char* text : {" se cret ", " se cret \n", " se cret \r\n"}) {
    tree.Write("secret", text);
    EXPECT_EQ(ReadSecretFile(tree.Path("secret")), " se cret ");
  }
}

TEST(ReadSecretFile, NoLineOrMoreThanOne_IsRefusedWithoutQuotingIt) {
  kepler::testing::FakeTree tree;
  for (const char* text : {"", "\n", " \r\n"}) {
    tree.Write("secret", text);
    ASSERT_FALSE(ReadSecretFile(tree.Path("secret"))) << text;
    EXPECT_EQ(ReadSecretFile(tree.Path("secret")).error().message,
              tree.Path("secret") + ": contains no password or token");
  }
  tree.Write("secret", "hunter2\nlogin: me\n");
  ASSERT_FALSE(ReadSecretFile(tree.Path("secret")));
  EXPECT_THAT(ReadSecretFile(tree.Path("secret")).error().message, ::testing::HasSubstr("more than one line"));
  EXPECT_THAT(ReadSecretFile(tree.Path("secret")).error().message, ::testing::Not(::testing::HasSubstr("hunter2")));
  EXPECT_EQ(ReadSecretFile(tree.Path("none")).error().kind, ErrorKind::kNotFound);
}

TEST(ReadSmallFile, ByPieces_WhoTakesThemMayEndIt) {
  kepler::testing::FakeTree tree;
  tree.Write("a", std::string(100'000, 'x'));
  std::string taken;
  const auto take = [&](std::string_view piece) -> Status {
    taken += piece;
    return taken.size() < 10'000 ? Status() : Fail(ErrorKind::kUnavailable, "enough");
  };
  const Status read = ReadSmallFile(tree.Path("a"), 100'000, take);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "enough");
  EXPECT_LT(taken.size(), 20'000u);
  EXPECT_TRUE(ReadSmallFile(tree.Path("a"), 100'000, [](std::string_view) { return Status(); }));
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

TEST(WriteAll, Text_IsInTheFile) {
  kepler::testing::FakeTree tree;
  tree.Write("a", "");
  const std::string text(100'000, 'x');
  const UniqueFd file(::open(tree.Path("a").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(WriteAll(file.get(), "a", text + "y"));
  ASSERT_TRUE(WriteAll(file.get(), "a", ""));
  EXPECT_EQ(ReadSmallFile(tree.Path("a")).value_or(""), text + "y");
}

/// The kernel takes as much as fits, and has no error to say then.
TEST(WriteAll, PartOnly_IsAnErrorThatNamesTheFile) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  const UniqueFd out(ends[0]), in(ends[1]);
  const Status written = WriteAll(in.get(), "the pipe", std::string(4 << 20, 'x'));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, ::testing::HasSubstr("write the pipe: "));
}

TEST(ReplaceFile, OldFileLinkOrLeftover_GivesWay) {
  kepler::testing::FakeTree tree;
  tree.Write("other", "untouched");
  tree.Write("a", "old");
  tree.Write("a.tmp", "of a killed program");
  ASSERT_TRUE(ReplaceFile(tree.Path("a"), tree.Path("a.tmp"), "new"));
  EXPECT_EQ(ReadSmallFile(tree.Path("a")).value_or(""), "new");
  EXPECT_FALSE(ReadSmallFile(tree.Path("a.tmp")));
  tree.Symlink("link", "other");
  tree.Symlink("link.tmp", "other");
  ASSERT_TRUE(ReplaceFile(tree.Path("link"), tree.Path("link.tmp"), "new"));
  EXPECT_EQ(ReadSmallFile(tree.Path("link")).value_or(""), "new");
  EXPECT_EQ(ReadSmallFile(tree.Path("other")).value_or(""), "untouched");
}

TEST(ReplaceFile, ModeAndOwner_StayAsTheyWere) {
  kepler::testing::FakeTree tree;
  struct stat info{};
  ASSERT_TRUE(ReplaceFile(tree.Path("a"), tree.Path("a.tmp"), "new"));
  ASSERT_EQ(::stat(tree.Path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0133u, 0u) << "at most 0644";
  for (const mode_t mode : {0600u, 0666u, 0400u}) {
    ASSERT_EQ(::chmod(tree.Path("a").c_str(), mode), 0);
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown(tree.Path("a").c_str(), 1234, 2345), 0);
    }
    ASSERT_TRUE(ReplaceFile(tree.Path("a"), tree.Path("a.tmp"), "newer"));
    ASSERT_EQ(::stat(tree.Path("a").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777u, mode);
    EXPECT_EQ(info.st_uid, ::geteuid() == 0 ? 1234u : ::geteuid());
    EXPECT_EQ(info.st_gid, ::geteuid() == 0 ? 2345u : ::getegid());
  }
}

/// Group 0 could read 0640. The group of the new file must not.
TEST(ReplaceFile, GroupThatCannotBeKept_GivesNoRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of another owner";
  kepler::testing::FakeTree tree;
  ASSERT_EQ(::chmod(tree.root().c_str(), 0777), 0);
  for (const auto& [before, after] : {std::pair(0660u, 0600u), std::pair(0664u, 0644u), std::pair(0640u, 0600u)}) {
    tree.Write("a", "old");
    ASSERT_EQ(::chown(tree.Path("a").c_str(), 0, 0), 0);
    ASSERT_EQ(::chmod(tree.Path("a").c_str(), before), 0);
    const auto replace = [&] { return ReplaceFile(tree.Path("a"), tree.Path("a.tmp"), "new") ? "ok" : "failed"; };
    EXPECT_THAT(kepler::testing::AsNobody(replace), ::testing::StartsWith("ok"));
    struct stat info{};
    ASSERT_EQ(::stat(tree.Path("a").c_str(), &info), 0);
    EXPECT_NE(info.st_uid, 0u);
    EXPECT_EQ(info.st_mode & 07777u, after);
    tree.Remove("a");
  }
}

TEST(ReplaceFile, Failure_LeavesTheOldFile) {
  kepler::testing::FakeTree tree;
  tree.Write("a/b", "in the way");
  const Status written = ReplaceFile(tree.Path("a"), tree.Path("a.tmp"), "new");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, ::testing::HasSubstr("write " + tree.Path("a")));
  EXPECT_EQ(ReadSmallFile(tree.Path("a/b")).value_or(""), "in the way");
  EXPECT_FALSE(ReadSmallFile(tree.Path("a.tmp")));
}

}  // namespace
}  // namespace kepler
