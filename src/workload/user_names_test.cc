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
    now_ += PasswdFile::kPeriod;
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

TEST_F(UserNamesTest, ChangedFile_NamesChange) {
  Write("alice:x:1000:\n");
  Refresh();
  Write("bob:x:1001:\n");
  Refresh();
  EXPECT_EQ(names_.Find(1000), "");
  EXPECT_EQ(names_.Find(1001), "bob");
  proc_.Remove("1");
  Refresh();
  EXPECT_EQ(names_.Find(1001), "bob") << "the names of the last read";
}

TEST_F(UserNamesTest, HostileName_IsALabelText) {
  Write("a\x1b[31m\xff:x:1:\n" + std::string(10'000, 'b') + ":x:2:\n");
  Refresh();
  EXPECT_EQ(names_.Find(1), "a\uFFFD[31m\uFFFD");
  EXPECT_LE(names_.Find(2).size(), 4'096u);
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
