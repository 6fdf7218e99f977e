#include "report/command/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/small_file.h"
#include "base/unique_fd.h"
#include "testing/fake_tree.h"

namespace kepler::report::command {
namespace {

constexpr char kText[] = "report\n";

TEST(ReportFile, OpenFile_IsContinued) {
  testing::FakeTree tree;
  tree.Write("log", "first line\n");
  const UniqueFd file(::open(tree.Path("log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  for (const char* const directory : {"/dev/fd", "/proc/self/fd"}) {
    const std::string path = fmt::format("{}/{}", directory, file.get());
    ASSERT_TRUE(CheckReportPath(path));
    ASSERT_TRUE(WriteReport(path, stderr, kText));
  }
  EXPECT_EQ(ReadSmallFile(tree.Path("log")), "first line\nreport\nreport\n");
}

TEST(ReportFile, FileThatIsOpenForReadingOrNotOpen_IsAnError) {
  testing::FakeTree tree;
  tree.Write("log", "first line\n");
  const UniqueFd file(::open(tree.Path("log").c_str(), O_RDONLY | O_CLOEXEC));
  for (const std::string& path : {fmt::format("/dev/fd/{}", file.get()), std::string("/dev/fd/99999")}) {
    EXPECT_FALSE(CheckReportPath(path)) << path;
    EXPECT_FALSE(WriteReport(path, stderr, kText)) << path;
  }
  EXPECT_EQ(ReadSmallFile(tree.Path("log")), "first line\n");
}

TEST(ReportFile, LinkInADirectoryOfEverybody_IsNotFollowed) {
  testing::FakeTree tree;
  tree.Write("target", "old\n");
  const std::string link = fmt::format("/dev/shm/kepler-test-{}", ::getpid());
  std::filesystem::create_symlink(tree.Path("target"), link);
  EXPECT_EQ(CheckReportPath(link).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(WriteReport(link, stderr, kText).error().kind, ErrorKind::kInvalid);
  std::filesystem::remove(link);
  EXPECT_EQ(ReadSmallFile(tree.Path("target")), "old\n");
}

}  // namespace
}  // namespace kepler::report::command
