#include "export/push/request_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "base/small_file.h"
#include "export/push/request_test_util.h"
#include "testing/as_nobody.h"
#include "testing/fake_tree.h"

namespace kepler::push {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RequestDirectoryTest : public ::testing::Test {
 protected:
  /// Opens the directory as a new process would; its requests as "NUMBER:POINTS:BYTES".
  std::vector<std::string> Reopen() {
    directory_.Close();
    auto stored = directory_.Open();
    EXPECT_TRUE(stored) << stored.error().message;
    std::vector<std::string> shown;
    if (!stored) return shown;
    for (const auto& request : stored->requests)
      shown.push_back(fmt::format("{}:{}:{}", request.number, request.points, request.bytes));
    broken_ = std::move(stored->broken);
    return shown;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }
  std::string Read(uint64_t number) {
    const auto read = directory_.Read(number);
    return read ? *read->body : read.error().message;
  }
  std::string File(uint64_t number) { return "queue/" + FileName(number); }
  std::string Content(uint64_t number) { return ReadSmallFile(tree_.Path(File(number))).value_or("(none)"); }

  testing::FakeTree tree_;
  const std::string path_ = tree_.Path("queue");
  RequestDirectory directory_{path_, "otlp gzip"};
  std::vector<BrokenFile> broken_;
};

TEST_F(RequestDirectoryTest, RequestsOutliveTheObject_InTheirOrder) {
  EXPECT_THAT(Reopen(), IsEmpty());
  ASSERT_TRUE(directory_.Write(10, Body(std::string("\0b", 2), 7)));
  ASSERT_TRUE(directory_.Write(9, Body("a", 5)));
  ASSERT_TRUE(directory_.Write(11, Body("", 0)));
  EXPECT_THAT(Reopen(), ElementsAre("9:5:1", "10:7:2", "11:0:0"));
  EXPECT_EQ(Read(9), "a");
  EXPECT_EQ(Read(10), std::string("\0b", 2));
  EXPECT_EQ(Read(11), "");
  ASSERT_TRUE(directory_.Remove(9));
  EXPECT_THAT(Reopen(), ElementsAre("10:7:2", "11:0:0"));
  EXPECT_THAT(broken_, IsEmpty());
}

TEST_F(RequestDirectoryTest, OnlyThisUserMayReadIt) {
  EXPECT_THAT(Reopen(), IsEmpty());
  ASSERT_TRUE(directory_.Write(1, Body("a")));
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  ASSERT_EQ(::stat(tree_.Path(File(1)).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(RequestDirectoryTest, ASecondObject_IsRefusedUntilTheFirstIsClosed) {
  EXPECT_THAT(Reopen(), IsEmpty());
  RequestDirectory second(path_, "otlp gzip");
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
    const auto opened = RequestDirectory(path, "otlp").Open();
    return opened ? "(no error)" : opened.error().message;
  };
  tree_.MakeDir("target");
  tree_.Symlink("link", tree_.Path("target"));
  EXPECT_THAT(error(tree_.Path("link")), HasSubstr("open " + tree_.Path("link")));
  EXPECT_THAT(error(tree_.Path("link/")), HasSubstr("open " + tree_.Path("link"))) << "the slash follows no link";
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("target/lock")));
  for (const unsigned mode : {0777U, 0720U}) {
    tree_.Chmod("target", mode);
    const std::string path = tree_.Path("target");
    EXPECT_EQ(error(path), fmt::format("{0} has mode {1:04o}, so other users may write to it; run chmod go-w {0}, or "
                                       "name a new directory in it",
                                       path, mode));
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
    const auto opened = RequestDirectory(path_, "otlp").Open();
    return opened ? "(no error)" : opened.error().message;
  });
  EXPECT_EQ(error, fmt::format("{0} is owned by user 0, but this process runs as user 65534; run it as user 0, run "
                               "chown 65534 {0}, or name a new directory in it",
                               path_));
}

TEST_F(RequestDirectoryTest, TheCheck_RefusesWhatNoWaitRepairs) {
  const auto kind = [](const std::string& path) {
    const Status usable = CheckDirectory(path);
    return usable ? std::nullopt : std::optional(usable.error().kind);
  };
  tree_.MakeDir("target");
  tree_.Chmod("target", 0755);
  tree_.Symlink("link", tree_.Path("target"));
  tree_.Write("file", "");
  EXPECT_EQ(kind(tree_.Path("target")), std::nullopt);
  EXPECT_EQ(kind(path_ + "/"), std::nullopt) << "is created at the start";
  for (const std::string& path :
       {std::string("queue"), tree_.Path("link"), tree_.Path("link/"), tree_.Path("file"), tree_.Path("file/queue")})
    EXPECT_EQ(kind(path), ErrorKind::kInvalid) << path;
  EXPECT_EQ(kind(tree_.Path("no/parent")), ErrorKind::kNotFound);
  tree_.Chmod("target", 0770);
  EXPECT_EQ(kind(tree_.Path("target")), ErrorKind::kInvalid);
  EXPECT_TRUE(std::filesystem::is_empty(tree_.Path("target")));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(RequestDirectoryTest, DamagedFiles_AreReportedAndRemoved) {
  EXPECT_THAT(Reopen(), IsEmpty());
  for (uint64_t number = 1; number <= 5; ++number) ASSERT_TRUE(directory_.Write(number, Body("body", number)));
  const std::string content = Content(1);
  tree_.Write(File(1), "");
  tree_.Write(File(2), "something else");
  tree_.Write(File(3), Content(3).substr(0, content.size() - 1));
  tree_.Write(File(4), Content(4) + "x");
  EXPECT_THAT(Reopen(), ElementsAre("5:5:4"));
  std::vector<std::string> shown;
  for (const auto& file : broken_)
    shown.push_back(fmt::format("{}:{} {}", file.number, file.points, file.error.message));
  EXPECT_THAT(shown,
              ElementsAre("1:0 " + tree_.Path(File(1)) + ": not a queued request", HasSubstr("2:0 "),
                          ::testing::EndsWith("3 bytes instead of 4"), ::testing::EndsWith("5 bytes instead of 4")));
  EXPECT_EQ(broken_[2].points, 3U) << "its header is whole";
  EXPECT_THAT(Names(), UnorderedElementsAre("lock", FileName(5)));
}

TEST_F(RequestDirectoryTest, ADamagedBody_IsFoundWhenItIsRead) {
  EXPECT_THAT(Reopen(), IsEmpty());
  ASSERT_TRUE(directory_.Write(1, Body("body")));
  std::string content = Content(1);
  content.back() = 'Y';
  tree_.Write(File(1), content);
  EXPECT_THAT(Reopen(), ElementsAre("1:1:4"));
  const auto read = directory_.Read(1);
  ASSERT_FALSE(read);
  EXPECT_TRUE(IsUseless(read.error()));
  EXPECT_EQ(read.error().message, tree_.Path(File(1)) + ": the checksum is wrong");
}

TEST_F(RequestDirectoryTest, AnotherEncoding_IsNotSent) {
  RequestDirectory before(path_, "otlp");
  ASSERT_TRUE(before.Open());
  ASSERT_TRUE(before.Write(1, Body("plain", 30)));
  before.Close();
  EXPECT_THAT(Reopen(), IsEmpty());
  ASSERT_EQ(broken_.size(), 1U);
  EXPECT_EQ(broken_[0].points, 30U);
  EXPECT_THAT(broken_[0].error.message, HasSubstr(R"(the encoding is "otlp", not "otlp gzip")"));
  EXPECT_THAT(Names(), ElementsAre("lock"));
}

TEST_F(RequestDirectoryTest, ForeignFilesAndLinks_StayAndAreNotRead) {
  EXPECT_THAT(Reopen(), IsEmpty());
  ASSERT_TRUE(directory_.Write(1, Body("body")));
  tree_.Write("elsewhere", Content(1));
  tree_.Symlink(File(2), tree_.Path("elsewhere"));
  tree_.MakeDir(File(3));
  tree_.Write("queue/notes.txt", "mine");
  tree_.Write("queue/a.tmp", "mine");
  tree_.Write("queue/" + FileName(4) + ".tmp", "of an interrupted write");
  EXPECT_THAT(Reopen(), ElementsAre("1:1:4"));
  EXPECT_EQ(broken_.size(), 2U);
  EXPECT_FALSE(IsUseless(broken_[0].error)) << broken_[0].error.message;
  EXPECT_THAT(Names(), UnorderedElementsAre("lock", FileName(1), FileName(2), FileName(3), "notes.txt", "a.tmp"));
}

/// RLIMIT_FSIZE fails a write in the middle of a body, as a full disk does.
TEST_F(RequestDirectoryTest, AFullDisk_LeavesNoPart) {
  EXPECT_THAT(Reopen(), IsEmpty());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status failed = directory_.Write(1, Body(std::string(200, 'b')));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr(path_));
  EXPECT_THAT(Names(), ElementsAre("lock"));
  EXPECT_TRUE(directory_.Write(1, Body(std::string(200, 'b'))));
}

TEST_F(RequestDirectoryTest, RemovedFilesAndNumbersThatEnd_AreErrors) {
  EXPECT_THAT(Reopen(), IsEmpty());
  EXPECT_EQ(directory_.Read(1).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(directory_.Remove(1).error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(directory_.Write(kMaxFileNumber, Body("x")));
  EXPECT_EQ(directory_.Write(kMaxFileNumber + 1, Body("x")).error().kind, ErrorKind::kInvalid);
  std::filesystem::remove_all(path_);
  EXPECT_EQ(directory_.Write(1, Body("x")).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace kepler::push
