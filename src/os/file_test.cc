#include "os/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

TEST(ReadFileAt, SmallFile_WholeTextThroughTheDirectory) {
  testing::FakeTree tree;
  tree.Write("d/f", "hello\n");
  const auto dir = OpenDir(tree.Path("d"));
  ASSERT_TRUE(dir) << dir.error().message;
  ReadBuffer buffer;
  EXPECT_EQ(*ReadFileAt(dir->get(), "f", buffer), "hello\n");
}

TEST(ReadFileAt, LargerThanTheBuffer_GrowsAndReadsAll) {
  testing::FakeTree tree;
  const std::string text(300'001, 'x');
  tree.Write("f", text);
  ReadBuffer buffer;
  EXPECT_EQ(*ReadFileAt(AT_FDCWD, tree.Path("f").c_str(), buffer), text);
  const char* const memory = buffer.data();
  EXPECT_EQ(*ReadFileAt(AT_FDCWD, tree.Path("f").c_str(), buffer), text);
  EXPECT_EQ(buffer.data(), memory) << "no allocation once it has its size";
}

TEST(ReadFileAt, Empty_IsEmptyText) {
  testing::FakeTree tree;
  tree.Write("f", "");
  ReadBuffer buffer;
  EXPECT_EQ(*ReadFileAt(AT_FDCWD, tree.Path("f").c_str(), buffer), "");
}

TEST(ReadFileAt, ExactlyTheLimit_IsRead_OneMoreByteIsMalformed) {
  testing::FakeTree tree;
  tree.Write("most", std::string(kMaxFileBytes, 'x'));
  tree.Write("more", std::string(kMaxFileBytes + 1, 'x'));
  ReadBuffer buffer;
  EXPECT_EQ(ReadFileAt(AT_FDCWD, tree.Path("most").c_str(), buffer)->size(), kMaxFileBytes);
  EXPECT_EQ(ReadFileAt(AT_FDCWD, tree.Path("more").c_str(), buffer).error().kind, ErrorKind::kMalformed);
}

TEST(ReadAttribute, IsAtMostAPageLong) {
  testing::FakeTree tree;
  tree.Write("most", std::string(kMaxAttributeBytes, 'x'));
  tree.Write("more", std::string(kMaxAttributeBytes + 1, 'x'));
  ReadBuffer buffer;
  EXPECT_EQ(ReadAttribute(tree.Path("most"), buffer)->size(), kMaxAttributeBytes);
  EXPECT_EQ(ReadAttribute(tree.Path("more"), buffer).error().kind, ErrorKind::kMalformed);
}

TEST(ReadNumber, EmptyFile_IsSaidToBeEmpty) {
  testing::FakeTree tree;
  tree.Write("n", "\n");
  ReadBuffer buffer;
  EXPECT_EQ(ReadNumber<int>(tree.Path("n"), buffer).error().message, "read " + tree.Path("n") + ": the file is empty");
}

TEST(ReadFileAt, MissingOrDirectory_ErrorSaysWhatAndWhy) {
  testing::FakeTree tree;
  ReadBuffer buffer;
  const auto missing = ReadFileAt(AT_FDCWD, tree.Path("no").c_str(), buffer);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(missing.error().message.find(tree.Path("no")), std::string::npos);
  EXPECT_EQ(ReadFileAt(AT_FDCWD, tree.root().c_str(), buffer).error().kind, ErrorKind::kIo);
}

TEST(ReadFileAt, Fifo_DoesNotWait) {
  testing::FakeTree tree;
  ASSERT_EQ(::mkfifo(tree.Path("fifo").c_str(), 0600), 0);
  ReadBuffer buffer;
  EXPECT_EQ(*ReadFileAt(AT_FDCWD, tree.Path("fifo").c_str(), buffer), "");
}

TEST(ReadRecordAt, WholeRecord_AlsoWhereTheBufferIsTooSmallAtFirst) {
  testing::FakeTree tree;
  const std::string text(10'000, 'x');
  tree.Write("record", text);
  ReadBuffer buffer;
  buffer.Grow(16);
  EXPECT_EQ(*ReadRecordAt(AT_FDCWD, tree.Path("record").c_str(), buffer), text);
  ReadBuffer other;
  const auto cgroup = ReadRecordAt(AT_FDCWD, "/proc/self/cgroup", buffer);
  ASSERT_TRUE(cgroup);
  EXPECT_EQ(*cgroup, *ReadFileAt(AT_FDCWD, "/proc/self/cgroup", other));
}

TEST(ReadLinkAt, Target_AlsoALongOne) {
  testing::FakeTree tree;
  const std::string target = "/" + std::string(4000, 't');
  tree.Symlink("l", target);
  ReadBuffer buffer;
  buffer.Grow(16);
  EXPECT_EQ(*ReadLinkAt(AT_FDCWD, tree.Path("l").c_str(), buffer), target);
  EXPECT_EQ(ReadLinkAt(AT_FDCWD, tree.Path("no").c_str(), buffer).error().kind, ErrorKind::kNotFound);
}

class OpenFileBeneathTest : public ::testing::Test {
 protected:
  OpenFileBeneathTest() { tree_.Write("root/run/a/f", "inside"); }
  std::string Read(std::string_view path) {
    const auto file = OpenFileBeneath(tree_.Path("root"), path);
    if (!file) return "error: " + file.error().message.substr(file.error().message.find(": ") + 2);
    ReadBuffer buffer;
    return std::string(*ReadFileAt(AT_FDCWD, ("/proc/self/fd/" + std::to_string(file->get())).c_str(), buffer));
  }
  testing::FakeTree tree_;
};

TEST_F(OpenFileBeneathTest, RealFile_IsOpened) { EXPECT_EQ(Read("run/a/f"), "inside"); }

TEST_F(OpenFileBeneathTest, RootThatIsALink_IsFollowed) {
  tree_.Symlink("link", tree_.Path("root"));
  EXPECT_TRUE(OpenFileBeneath(tree_.Path("link"), "run/a/f"));
}

TEST_F(OpenFileBeneathTest, Missing_IsNotFound) {
  EXPECT_EQ(OpenFileBeneath(tree_.Path("root"), "run/a/g").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(OpenFileBeneath(tree_.Path("root"), "run/b/f").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(OpenFileBeneath(tree_.Path("none"), "run/a/f").error().kind, ErrorKind::kNotFound);
}

TEST_F(OpenFileBeneathTest, LinkInTheWay_IsRefused) {
  tree_.Write("secret/f", "outside");
  tree_.Symlink("root/run/b", tree_.Path("secret"));
  tree_.Symlink("root/run/a/g", tree_.Path("secret/f"));
  tree_.Symlink("root/run/a/h", "f");
  EXPECT_EQ(Read("run/b/f"), "error: \"b\" is not a directory");
  EXPECT_EQ(Read("run/a/g"), "error: \"g\" is not a file");
  EXPECT_EQ(Read("run/a/h"), "error: \"h\" is not a file");
}

TEST_F(OpenFileBeneathTest, NoRegularFile_IsRefusedUnopened) {
  ASSERT_EQ(::mkfifo(tree_.Path("root/run/fifo").c_str(), 0600), 0);
  EXPECT_EQ(Read("run/fifo"), "error: \"fifo\" is not a file");
  EXPECT_EQ(Read("run/a"), "error: \"a\" is not a file");
  EXPECT_EQ(Read("run/a/f/g"), "error: \"f\" is not a directory");
}

TEST_F(OpenFileBeneathTest, WayOut_IsRefused) {
  for (const char* path : {"../root/run/a/f", "run/../run/a/f", "/run/a/f", "run//a/f", "run/a/", "", "."})
    EXPECT_TRUE(Read(path).ends_with("is not a name")) << path;
}

TEST_F(OpenFileBeneathTest, FileThatTheKernelMakesUp_IsRefused) {
  for (const char* path : {"proc/version", "proc/sys/kernel/ostype", "sys/kernel/uevent_seqnum"}) {
    if (::access(("/" + std::string(path)).c_str(), R_OK) != 0) continue;
    const auto file = OpenFileBeneath("/", path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().kind, ErrorKind::kInvalid) << file.error().message;
    EXPECT_TRUE(file.error().message.ends_with("a file of a kernel file system")) << file.error().message;
  }
  EXPECT_FALSE(OpenFileBeneath("/proc", "version"));
}

TEST_F(OpenFileBeneathTest, EachError_NamesRootAndPath) {
  tree_.Symlink("root/run/b", "a");
  for (const char* path : {"run/none/f", "run/b/f", "run/a", "run/../f", "run/a/f/g"}) {
    const auto file = OpenFileBeneath(tree_.Path("root"), path);
    ASSERT_FALSE(file) << path;
    EXPECT_TRUE(file.error().message.starts_with("open " + tree_.Path("root") + "/" + path + ": "))
        << file.error().message;
  }
}

TEST(OpenDir, FileOrMissing_IsAnError) {
  testing::FakeTree tree;
  tree.Write("f", "");
  EXPECT_FALSE(OpenDir(tree.Path("f")));
  EXPECT_EQ(OpenDir(tree.Path("no")).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace kepler::os
