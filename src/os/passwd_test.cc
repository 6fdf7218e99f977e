#include "os/passwd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::os {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Passwd, Users_InTheOrderOfTheLines) {
  EXPECT_THAT(ParsePasswd("root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/bash\n"),
              ElementsAre(PasswdUser{"root", 0}, PasswdUser{"alice", 1000}));
  EXPECT_THAT(ParsePasswd("nobody:x:4294967294:0"), ElementsAre(PasswdUser{"nobody", 4'294'967'294}));
}

TEST(Passwd, TwoUsersWithOneUid_AreBothThere) {
  EXPECT_THAT(ParsePasswd("root:x:0:\ntoor:x:0:\n"), ElementsAre(PasswdUser{"root", 0}, PasswdUser{"toor", 0}));
}

TEST(Passwd, CommentsNisEntriesAndMalformedLines_AreLeftOut) {
  EXPECT_THAT(ParsePasswd(""), IsEmpty());
  for (const char* line : {"\n\n", "a", "a:", "a:x", "a:x:", "a:x:-1:", "a:x:1 :", "a:x: 1:", "a:x:0x1:",
                           "a:x:99999999999:", "a:x:4294967295:", "a:x:4294967296:", ":x:1:", "+:x:1:", "+alice:x:1:",
                           "-bob:x:1:", "#alice:x:1:", "+@group::::::"})
    EXPECT_THAT(ParsePasswd(line), IsEmpty()) << line;
  EXPECT_THAT(ParsePasswd("a:x\nb:x:7"), ElementsAre(PasswdUser{"b", 7})) << "as far as it goes";
}

TEST(Passwd, HostileNames_AreUnchanged) {
  const std::string text("a\"b\\\x1b[31m\xff\0c:x:1:\n", 19);
  const auto users = ParsePasswd(text);
  ASSERT_EQ(users.size(), 1u);
  EXPECT_EQ(users[0].name, text.substr(0, text.find(':')));
}

}  // namespace
}  // namespace kepler::os
