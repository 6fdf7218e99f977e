#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>

#include "lab/files/files.h"
#include "testing/fake_tree.h"
#include "testing/fifo.h"

namespace kepler::lab::files {
namespace {

using ::testing::HasSubstr;

TEST(ReadSecret, Line_IsTakenWithItsBlanksAndWithoutItsEnd) {
  testing::FakeTree tree;
  for (const char* text : {" se cret ", " se cret \n", " se cret \r\n"}) {
    tree.Write("secret", text);
    EXPECT_EQ(ReadSecret(tree.Path("secret")), " se cret ");
  }
}

TEST(ReadSecret, NoLineOrMoreThanOne_IsRefusedWithoutQuotingIt) {
  testing::FakeTree tree;
  for (const char* text : {"", "\n", " \r\n"}) {
    tree.Write("secret", text);
    ASSERT_FALSE(ReadSecret(tree.Path("secret"))) << text;
    EXPECT_EQ(ReadSecret(tree.Path("secret")).error().message, tree.Path("secret") + ": it is empty");
  }
  tree.Write("secret", "hunter2\nlogin: me\n");
  ASSERT_FALSE(ReadSecret(tree.Path("secret")));
  EXPECT_THAT(ReadSecret(tree.Path("secret")).error().message, HasSubstr("more than one line"));
  EXPECT_THAT(ReadSecret(tree.Path("secret")).error().message, ::testing::Not(HasSubstr("hunter2")));
  EXPECT_EQ(ReadSecret(tree.Path("none")).error().kind, ErrorKind::kNotFound);
}

TEST(ReadSecret, Pipe_IsReadOnce) {
  testing::FakeTree tree;
  testing::MakeFifo(tree.Path("pipe"));
  std::jthread writer([&] { std::ofstream(tree.Path("pipe")) << "secret\n"; });
  EXPECT_EQ(ReadSecret(tree.Path("pipe")), "secret");
}

}  // namespace
}  // namespace kepler::lab::files
