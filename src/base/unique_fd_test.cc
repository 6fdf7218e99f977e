#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace kepler {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) != -1; }

TEST(UniqueFd, MoveAssignOntoAnOwner_ClosesTheOld) {
  UniqueFd a(open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd b(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int old = a.get();
  const int kept = b.get();
  a = std::move(b);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_TRUE(IsOpen(kept));
  EXPECT_EQ(a.get(), kept);
}

TEST(UniqueFd, Destroyed_Closes) {
  int fd = -1;
  {
    const UniqueFd owner(open("/dev/null", O_RDONLY | O_CLOEXEC));
    fd = owner.get();
    EXPECT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(UniqueFd, Released_StaysOpen) {
  UniqueFd owner(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int fd = owner.Release();
  EXPECT_FALSE(owner.valid());
  EXPECT_TRUE(IsOpen(fd));
  close(fd);
}

}  // namespace
}  // namespace kepler
