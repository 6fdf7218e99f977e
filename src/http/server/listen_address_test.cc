#include "http/server/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kepler::http::server {
namespace {

using ::testing::HasSubstr;

TEST(Listen, EveryInterface_IsOneSocket) {
  const auto fd = Listen(":0");
  ASSERT_TRUE(fd) << fd.error().message;
  EXPECT_THAT(LocalAddress(fd->get()), ::testing::AnyOf(HasSubstr("[::]:"), HasSubstr("0.0.0.0:")));
}

TEST(Listen, WhatOnlyThisMachineReaches_IsKnownByHowItIsWritten) {
  for (const auto* address :
       {"127.0.0.1:1", "127.9.8.7:1", "[::1]:1", "localhost:1", "LocalHost:1", "[::ffff:127.0.0.1]:1"})
    EXPECT_TRUE(NamesLoopback(address)) << address;
  for (const auto* address :
       {":1", "0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1", "localhost.example:1", "127.0.0.1", ""})
    EXPECT_FALSE(NamesLoopback(address)) << address;
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

TEST(CheckAddress, PortOfAnotherSocket_IsNoError_OfOurOwnItIs) {
  const auto listening = Listen("127.0.0.1:0");
  ASSERT_TRUE(listening);
  const auto address = LocalAddress(listening->get());
  const auto taken = CheckAddress(address);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_FALSE(taken->valid());
  const auto bound = CheckAddress("127.0.0.1:0");
  ASSERT_TRUE(bound && bound->valid());
  const auto again = LocalAddress(bound->get());
  EXPECT_TRUE(Listen(again)) << "the check must not keep an agent from its port";
  EXPECT_THAT(CheckAddress(again, std::vector<OwnAddress>{{"the first", bound->get()}}).error().message,
              HasSubstr("this program already listens there for the first"));
  EXPECT_THAT(CheckAddress("192.0.2.1:1").error().message, HasSubstr("no interface of this machine"));
}

/// Returns the error for `address` (with the port of `first` instead of '*') while the test listens on `first`.
std::string ErrorNextTo(const std::string& first, std::string address) {
  const auto fd = Listen(first);
  if (!fd) return fd.error().message;
  const auto bound = LocalAddress(fd->get());
  address.replace(address.find('*'), 1, bound.substr(bound.rfind(':') + 1));
  const auto second = Listen(address, std::vector<OwnAddress>{{"the first", fd->get()}});
  return second ? "no error" : second.error().message;
}

using Pair = std::pair<const char*, const char*>;

void ExpectInTheWay(const Pair& pair) {
  EXPECT_THAT(ErrorNextTo(pair.first, pair.second),
              HasSubstr(": this program already listens there for the first; remove one of the two"))
      << pair.first << " " << pair.second;
}

TEST(Listen, PortOfOurOwn_NamesTheAddressThatHasIt) {
  for (const Pair& pair : {Pair{"127.0.0.1:0", "localhost:*"},
                           {"localhost:0", "127.0.0.1:*"},
                           {"127.0.0.1:0", "0.0.0.0:*"},
                           {"0.0.0.0:0", "127.0.0.1:*"},
                           {":0", "127.0.0.1:*"},
                           {"127.0.0.1:0", ":*"}})
    ExpectInTheWay(pair);
}

TEST(Listen, PortOfOurOwnInIpv6_NamesTheAddressThatHasItToo) {
  if (!Listen("[::1]:0")) GTEST_SKIP() << "this machine has no IPv6";
  for (const Pair& pair : {Pair{"[::1]:0", "[0::1]:*"},
                           {"[::]:0", "[::1]:*"},
                           {"[::1]:0", ":*"},
                           {"0.0.0.0:0", "[::]:*"},
                           {"0.0.0.0:0", "[::ffff:127.0.0.1]:*"},
                           {"127.0.0.1:0", "[::ffff:127.0.0.1]:*"}})
    ExpectInTheWay(pair);
}

TEST(Listen, PortOfAnotherProcessOnAnotherHost_IsNotTakenForOurs) {
  const auto theirs = Listen("127.0.0.1:0");
  ASSERT_TRUE(theirs);
  const auto address = LocalAddress(theirs->get());
  const auto ours = Listen("127.0.0.2" + address.substr(address.rfind(':')));
  ASSERT_TRUE(ours) << ours.error().message;
  const auto second = Listen(address, std::vector<OwnAddress>{{"ours", ours->get()}});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another process uses this port"));
}

TEST(Listen, ForeignAddress_SaysSo) {
  const auto fd = Listen("192.0.2.1:0");  // TEST-NET-1: no host has it
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

TEST(IsLoopback, OnlyWhatStaysOnTheMachine) {
  const auto loopback = [](const char* address) {
    const auto fd = Listen(address);
    EXPECT_TRUE(fd) << fd.error().message;
    return fd && NamesLoopback(LocalAddress(fd->get()));
  };
  for (const auto* address : {"127.0.0.1:0", "127.1.2.3:0", "localhost:0"}) EXPECT_TRUE(loopback(address)) << address;
  for (const auto* address : {":0", "0.0.0.0:0"}) EXPECT_FALSE(loopback(address)) << address;
  EXPECT_FALSE(NamesLoopback(LocalAddress(-1)));
  if (!Listen("[::1]:0")) GTEST_SKIP() << "this machine has no IPv6";
  for (const auto* address : {"[::1]:0", "[::ffff:127.0.0.1]:0"}) EXPECT_TRUE(loopback(address)) << address;
  EXPECT_FALSE(loopback("[::]:0"));
}

TEST(LocalAddress, NoSocket_IsEmpty) { EXPECT_EQ(LocalAddress(-1), ""); }

}  // namespace
}  // namespace kepler::http::server
