#include "settings/addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace kepler::settings {
namespace {

using Pair = std::pair<const char*, const char*>;

void ExpectConflict(bool expected, const Pair& pair) {
  EXPECT_EQ(ListenConflict(pair.first, pair.second), expected) << pair.first << " " << pair.second;
  EXPECT_EQ(ListenConflict(pair.second, pair.first), expected) << pair.second << " " << pair.first;
}

TEST(ListenConflict, SameAddress_HoweverWritten) {
  for (const Pair& pair : {Pair{":1", ":1"},
                           {"127.0.0.1:80", "127.0.0.1:080"},
                           {"[::1]:1", "[0:0::1]:1"},
                           {"[FE80::1%eth0]:1", "[fe80:0::1%eth0]:1"},
                           {"Localhost:1", "localhost:1"}})
    ExpectConflict(true, pair);
}

TEST(ListenConflict, EveryHost_TakesThePortFromEachOne) {
  for (const Pair& pair : {Pair{":1", "127.0.0.1:1"},
                           {":1", "[::1]:1"},
                           {":1", "localhost:1"},
                           {":1", "0.0.0.0:1"},
                           {"[::]:1", "127.0.0.1:1"},
                           {"[::]:1", "0.0.0.0:1"},
                           {"0.0.0.0:1", "localhost:1"},
                           {"0.0.0.0:1", "127.0.0.1:1"}})
    ExpectConflict(true, pair);
}

TEST(ListenConflict, OthersHostOrPort_IsNone) {
  for (const Pair& pair : {Pair{":1", ":2"},
                           {"127.0.0.1:1", "127.0.0.2:1"},
                           {"127.0.0.1:1", "[::1]:1"},
                           {"0.0.0.0:1", "[::1]:1"},
                           {"[fe80::1%eth0]:1", "[fe80::1%eth1]:1"},
                           {"a:1", "b:1"},
                           {"localhost:1", "127.0.0.1:1"}})
    ExpectConflict(false, pair);
}

TEST(CheckListenAddress, GoodOnes_Pass) {
  for (const char* address :
       {":28282", "0.0.0.0:1", "localhost:65535", "[::1]:80", "[::]:80", "[fe80::1%eth0]:80", "a-b.c_d:9"})
    EXPECT_TRUE(CheckListenAddress(address)) << address;
}

TEST(CheckListenAddress, BadOnes_AreNamedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "port is missing"},
      {"28282", "port is missing"},
      {"host", "port is missing"},
      {":", "port \"\""},
      {":0", "from 1 to 65535"},
      {":65536", "from 1 to 65535"},
      {":http", "from 1 to 65535"},
      {":-1", "from 1 to 65535"},
      {":+1", "from 1 to 65535"},
      {"::1:80", "needs brackets"},
      {"[::1]", "port is missing"},
      {"[::1", "\"]\" is missing"},
      {"[1.2.3.4]:1", "not an IPv6"},
      {"[]:1", "not an IPv6"},
      {"a b:1", "not a host name"},
      {"http://x:1", "without a scheme"},
      {"http://u:hunter2@:1", "(not shown)"},
  };
  for (const auto& [address, reason] : cases) {
    const Status status = CheckListenAddress(address);
    ASSERT_FALSE(status) << address;
    EXPECT_THAT(status.error().message, ::testing::HasSubstr(reason)) << address;
  }
}

TEST(CheckEndpoint, GoodOnes_Pass) {
  for (const char* url :
       {"http://localhost:9400", "https://dcgm.gpu/metrics", "HTTP://h", "http://[::1]:9400/x", "http://[::1]"})
    EXPECT_TRUE(CheckEndpoint(url)) << url;
}

TEST(CheckEndpoint, BadOnes_AreRejected) {
  for (const char* url :
       {"", "localhost:9400", "ftp://h", "http://", "http:///x", "http://u:p@h", "http://h?x", "http://h#x",
        "http://h\\x", "http://h:0", "http://h:x", "http://h:70000", "http://a:1:2", "http://[x]"})
    EXPECT_FALSE(CheckEndpoint(url)) << url;
}

}  // namespace
}  // namespace kepler::settings
