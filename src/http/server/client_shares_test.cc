#include "http/server/client_shares.h"

#include <gtest/gtest.h>

#include "http/server/test_addresses.h"

namespace kepler::http {
namespace {

using testing::Client;

TEST(ClientShares, OneWithMostGivesWay) {
  ClientShares shares;
  EXPECT_FALSE(shares.MoreThan(Client(1)));
  for (int i = 0; i < 3; ++i) shares.Add(Client(1));
  shares.Add(Client(2));
  EXPECT_EQ(shares.MoreThan(Client(2)), Client(1));
  EXPECT_EQ(shares.MoreThan(Client(3)), Client(1));
}

TEST(ClientShares, NobodyGivesWayToOneThatHasAsMany) {
  ClientShares shares;
  shares.Add(Client(1));
  EXPECT_FALSE(shares.MoreThan(Client(1)));
  EXPECT_FALSE(shares.MoreThan(Client(2))) << "then that one would have most";
  shares.Add(Client(1));
  EXPECT_EQ(shares.MoreThan(Client(2)), Client(1));
  shares.Add(Client(2));
  EXPECT_FALSE(shares.MoreThan(Client(2)));
}

TEST(ClientShares, ClientsThatAreGone_AreForgotten) {
  ClientShares shares;
  for (int i = 0; i < 2; ++i) shares.Add(Client(1));
  for (int i = 0; i < 2; ++i) shares.Remove(Client(1));
  EXPECT_EQ(shares.size(), 0u);
  EXPECT_FALSE(shares.MoreThan(Client(2)));
}

}  // namespace
}  // namespace kepler::http
