#include "http/server/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::http {
namespace {

using ::testing::HasSubstr;

TEST(Listen, EveryInterface_IsOneSocket) {
  const auto fd = Listen(":0");
  ASSERT_TRUE(fd) << fd.error().message;
  EXPECT_THAT(LocalAddress(fd->get()), ::testing::AnyOf(HasSubstr("[::]:"), HasSubstr("0.0.0.0:")));
}

TEST(Listen, PortInUse_NamesAddressAndWhatToDo) {
  const auto first = Listen("127.0.0.1:0");
  ASSERT_TRUE(first);
  const auto address = LocalAddress(first->get());
  const auto second = Listen(address);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(address));
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
  EXPECT_THAT(second.error().message, HasSubstr("stop it"));
}

TEST(Listen, ForeignAddress_SaysSo) {
  const auto fd = Listen("192.0.2.1:0");  // TEST-NET-1: nobody's
  ASSERT_FALSE(fd);
  EXPECT_THAT(fd.error().message, HasSubstr("no interface of this machine"));
}

TEST(Listen, NoAddress_IsInvalidAndNamed) {
  for (const auto* bad : {"28282", "host:", "::1:80", "[::1", "127.0.0.1:99999x", "127.0.0.1:no-such-service"}) {
    const auto fd = Listen(bad);
    ASSERT_FALSE(fd) << bad;
    EXPECT_EQ(fd.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(fd.error().message, HasSubstr(bad));
  }
}

TEST(LocalAddress, NoSocket_IsEmpty) { EXPECT_EQ(LocalAddress(-1), ""); }

}  // namespace
}  // namespace kepler::http
