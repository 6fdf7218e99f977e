#include "http/server/client_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server/test_addresses.h"

namespace kepler::http::server {
namespace {

using testing::Client;
using ::testing::ElementsAre;

/// A /64 of 2001:db8:NETWORK::/48.
ClientAddress ClientV6(unsigned char network, unsigned number) {
  return {.prefix = {0x20, 0x01, 0x0d, 0xb8, 0, network, static_cast<unsigned char>(number >> 8),
                     static_cast<unsigned char>(number)},
          .v6 = true};
}

TEST(ClientShares, OneWithMostGivesWay) {
  ClientShares shares;
  EXPECT_FALSE(shares.MoreThan(Client(1)));
  for (int i = 0; i < 3; ++i) shares.Add(Client(1));
  shares.Add(Client(2));
  for (const size_t newcomer : {2u, 3u}) {
    const auto crowd = shares.MoreThan(Client(newcomer));
    ASSERT_TRUE(crowd);
    EXPECT_THAT(crowd->clients, ElementsAre(Client(1)));
    EXPECT_EQ(crowd->connections, 3u);
  }
}

TEST(ClientShares, NobodyGivesWayToOneThatHasAsMany) {
  ClientShares shares;
  shares.Add(Client(1));
  EXPECT_FALSE(shares.MoreThan(Client(1)));
  EXPECT_FALSE(shares.MoreThan(Client(2))) << "then that one would have most";
  EXPECT_FALSE(shares.MoreThan(ClientV6(1, 1))) << "of another network";
  shares.Add(Client(1));
  EXPECT_TRUE(shares.MoreThan(Client(2)));
  shares.Add(Client(2));
  EXPECT_FALSE(shares.MoreThan(Client(2)));
}

TEST(ClientShares, ManyClientsOfOneNetworkAreTheCrowd_NotAClientWithTwo) {
  ClientShares shares;
  for (unsigned slow = 0; slow < 1'022; ++slow) shares.Add(ClientV6(1, slow));
  for (int i = 0; i < 2; ++i) shares.Add(ClientV6(2, 1));
  const auto crowd = shares.MoreThan(ClientV6(3, 1));
  ASSERT_TRUE(crowd);
  EXPECT_EQ(crowd->connections, 1'022u);
  EXPECT_EQ(crowd->clients.size(), 1'022u);
  EXPECT_EQ(NetworkOf(crowd->clients.back()), NetworkOf(ClientV6(1, 1)));
  EXPECT_TRUE(shares.MoreThan(ClientV6(2, 2))) << "a network with a few";
  EXPECT_FALSE(shares.MoreThan(ClientV6(1, 2'000))) << "one more of that network, where each client has one";
}

TEST(ClientShares, CrowdOfANetwork_IsItsClientsWithMost) {
  ClientShares shares;
  for (const size_t client : {1u, 2u, 2u, 3u, 3u}) shares.Add(Client(client));
  EXPECT_THAT(shares.MoreThan(ClientV6(1, 1))->clients, ElementsAre(Client(2), Client(3)));
  for (int i = 0; i < 4; ++i) shares.Add(Client(2));
  EXPECT_THAT(shares.MoreThan(ClientV6(1, 1))->clients, ElementsAre(Client(2)));
  EXPECT_THAT(shares.MoreThan(Client(1))->clients, ElementsAre(Client(2))) << "a neighbour that has fewer";
}

TEST(ClientShares, ClientsThatAreGone_AreForgotten) {
  ClientShares shares;
  for (int i = 0; i < 2; ++i) shares.Add(Client(1));
  shares.Add(Client(2));
  shares.Remove(Client(2));
  EXPECT_THAT(shares.MoreThan(Client(3))->clients, ElementsAre(Client(1)));
  for (int i = 0; i < 2; ++i) shares.Remove(Client(1));
  EXPECT_EQ(shares.size(), 0u);
  EXPECT_FALSE(shares.MoreThan(Client(2)));
}

}  // namespace
}  // namespace kepler::http::server
