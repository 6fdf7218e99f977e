#include "workload/user_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "workload/patient_limits.h"

namespace kepler::workload {
namespace {

class UserNamesTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { proc_.Write("1/root/etc/passwd", text); }
  void Refresh() {
    now_ += UserNames::kPeriod;
    names_.Refresh(now_);
  }
  testing::FakeTree proc_;
  testing::FakeClock clock_;
  UserNames names_{proc_.root(), clock_, kPatient};
  BootTime now_{};
};

TEST_F(UserNamesTest, FirstLineOfAUid_HasTheName) {
  Write("root:x:0:0::/:/bin/sh\ntoor:x:0:0::/:/bin/sh\nalice:x:1000:1000::/:/bin/sh\n");
  EXPECT_EQ(names_.Find(1000), "") << "not read yet";
  Refresh();
  EXPECT_EQ(names_.Find(0), "root");
  EXPECT_EQ(names_.Find(1000), "alice");
  EXPECT_EQ(names_.Find(1001), "");
}

TEST_F(UserNamesTest, ChangedFile_IsReadAgainOnceAMinute) {
  Write("alice:x:1000:\n");
  Refresh();
  Write("alice:x:1000:\nbob:x:1001:\n");
  names_.Refresh(now_ + UserNames::kPeriod - Nanoseconds(1));
  EXPECT_EQ(names_.Find(1001), "");
  Refresh();
  EXPECT_EQ(names_.Find(1001), "bob");
  Write("bob:x:1001:\n");
  Refresh();
  EXPECT_EQ(names_.Find(1000), "");
}

TEST_F(UserNamesTest, FileThatAppearsLaterOrIsGone_NamesComeAndStay) {
  Refresh();
  EXPECT_EQ(names_.Find(1000), "");
  Write("alice:x:1000:\n");
  Refresh();
  EXPECT_EQ(names_.Find(1000), "alice");
  proc_.Remove("1");
  Refresh();
  EXPECT_EQ(names_.Find(1000), "alice");
}

TEST_F(UserNamesTest, HostileName_IsALabelText) {
  Write("a\x1b[31m\xff:x:1:\n" + std::string(10'000, 'b') + ":x:2:\n");
  Refresh();
  EXPECT_EQ(names_.Find(1), "a\uFFFD[31m\uFFFD");
  EXPECT_LE(names_.Find(2).size(), 4'096u);
}

TEST_F(UserNamesTest, FileOfTenMegabytes_IsNotRead) {
  Write("alice:x:1000:\n");
  Refresh();
  std::string text;
  for (int uid = 0; text.size() < 10'000'000; ++uid) text += fmt::format("user{}:x:{}:0::/:/bin/sh\n", uid, uid);
  Write(text);
  Refresh();
  EXPECT_EQ(names_.Find(1000), "alice");
  EXPECT_EQ(names_.Find(7), "");
}

/// The root of another process may have any link.
TEST_F(UserNamesTest, LinkOutOfTheRoot_IsNotFollowed) {
  Write("alice:x:1000:\n");
  Refresh();
  proc_.Write("elsewhere", "mallory:x:1000:\n");
  proc_.Remove("1/root/etc/passwd");
  proc_.Symlink("1/root/etc/passwd", proc_.Path("elsewhere"));
  Refresh();
  EXPECT_EQ(names_.Find(1000), "alice");
}

TEST_F(UserNamesTest, FailedRead_IsTriedAgain) {
  proc_.MakeDir("1/root/etc/passwd");
  Refresh();
  EXPECT_EQ(names_.Find(1000), "");
  proc_.Remove("1/root/etc/passwd");
  Write("alice:x:1000:\n");
  Refresh();
  EXPECT_EQ(names_.Find(1000), "alice");
}

TEST_F(UserNamesTest, ManyUsers_AreAllKnown) {
  std::string text;
  for (int uid = 0; uid < 100'000; ++uid) text += fmt::format("user{}:x:{}:0::/:/bin/sh\n", uid, uid);
  Write(text);
  Refresh();
  EXPECT_EQ(names_.Find(99'999), "user99999");
}

}  // namespace
}  // namespace kepler::workload
