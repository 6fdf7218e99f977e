#include "workload/passwd_file.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "workload/patient_limits.h"

namespace kepler::workload {
namespace {

class PasswdFileTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { proc_.Write("1/root/etc/passwd", text); }
  std::optional<std::string> Read(Nanoseconds after = PasswdFile::kPeriod) {
    now_ += after;
    reader_.BeginScan();
    const auto text = file_.ReadChanged(reader_, now_);
    return text ? std::optional(std::string(*text)) : std::nullopt;
  }
  testing::FakeTree proc_;
  testing::FakeClock clock_;
  DeadlineReader reader_{clock_, kPatient};
  PasswdFile file_{proc_.root()};
  BootTime now_{};
};

TEST_F(PasswdFileTest, ChangedText_IsReturnedOnceAMinute) {
  Write("alice:x:1000:\n");
  EXPECT_EQ(Read(), "alice:x:1000:\n");
  EXPECT_EQ(Read(), std::nullopt) << "unchanged";
  Write("bob:x:1001:\n");
  EXPECT_EQ(Read(PasswdFile::kPeriod - Nanoseconds(1)), std::nullopt);
  EXPECT_EQ(Read(Nanoseconds(1)), "bob:x:1001:\n");
  Write("");
  EXPECT_EQ(Read(), "");
}

TEST_F(PasswdFileTest, FileThatAppearsLaterOrIsGone_HasNotChangedMeanwhile) {
  EXPECT_EQ(Read(), std::nullopt) << "the file of the agent's image is not read";
  Write("alice:x:1000:\n");
  EXPECT_EQ(Read(), "alice:x:1000:\n");
  proc_.Remove("1");
  EXPECT_EQ(Read(), std::nullopt);
  Write("alice:x:1000:\n");
  EXPECT_EQ(Read(), std::nullopt);
}

TEST_F(PasswdFileTest, TruncatedText_IsReturned) {
  Write("alice:x:1000:\nbob:x:1");
  EXPECT_EQ(Read(), "alice:x:1000:\nbob:x:1");
}

TEST_F(PasswdFileTest, FileOfTenMegabytes_IsNotRead) {
  Write(std::string(10'000'000, 'a'));
  EXPECT_EQ(Read(), std::nullopt);
  Write(std::string(size_t{8} << 20, 'a'));
  EXPECT_TRUE(Read());
}

/// The root of another process may have any link.
TEST_F(PasswdFileTest, LinkOutOfTheRoot_IsNotFollowed) {
  proc_.Write("elsewhere", "mallory:x:1000:\n");
  proc_.MakeDir("1/root/etc");
  proc_.Symlink("1/root/etc/passwd", proc_.Path("elsewhere"));
  EXPECT_EQ(Read(), std::nullopt);
}

TEST_F(PasswdFileTest, FailedRead_IsTriedAgain) {
  proc_.MakeDir("1/root/etc/passwd");
  EXPECT_EQ(Read(), std::nullopt);
  proc_.Remove("1/root/etc/passwd");
  Write("alice:x:1000:\n");
  EXPECT_EQ(Read(), "alice:x:1000:\n");
}

TEST(PasswdFile, ProcOfTheAgent_OwnFileIfThatOfPid1IsAbsent) {
  const testing::FakeClock clock;
  DeadlineReader reader(clock, kPatient);
  PasswdFile file("/proc");
  const auto text = file.ReadChanged(reader, clock.Now());
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->contains("root:"));
}

}  // namespace
}  // namespace kepler::workload
