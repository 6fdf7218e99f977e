#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "lab/files/files.h"
#include "testing/fake_tree.h"
#include "testing/fifo.h"

namespace kepler::lab::files {
namespace {

TEST(ReadSecret, PipeOrFile_HasOneLine) {
  testing::FakeTree tree;
  testing::MakeFifo(tree.Path("pipe"));
  std::jthread writer([&] { std::ofstream(tree.Path("pipe")) << "secret\n"; });
  EXPECT_EQ(ReadSecret(tree.Path("pipe")), "secret");
  tree.Write("secret", "hunter2\nlogin: me\n");
  EXPECT_EQ(ReadSecret(tree.Path("secret")).error().message,
            tree.Path("secret") + ": contains more than one line; the password or token must be the only one");
}

}  // namespace
}  // namespace kepler::lab::files
