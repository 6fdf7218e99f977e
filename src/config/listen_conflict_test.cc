#include "config/listen_conflict.h"

#include <gtest/gtest.h>

#include <utility>

namespace kepler::config {
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

}  // namespace
}  // namespace kepler::config
