#include "http/server/client_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace kepler::http::server {
namespace {

ClientAddress V4(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text, &address.sin_addr);
  sockaddr_storage peer{};
  std::memcpy(&peer, &address, sizeof address);
  return AddressOf(peer, sizeof address);
}

ClientAddress V6(const char* text, socklen_t size = sizeof(sockaddr_in6)) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  ::inet_pton(AF_INET6, text, &address.sin6_addr);
  sockaddr_storage peer{};
  std::memcpy(&peer, &address, sizeof address);
  return AddressOf(peer, size);
}

TEST(ClientAddress, Ipv4_IsOneClientPerAddress) {
  EXPECT_EQ(V4("10.0.0.1"), V4("10.0.0.1"));
  EXPECT_NE(V4("10.0.0.1"), V4("10.0.0.2"));
  EXPECT_EQ(ToString(V4("10.0.0.1")), "10.0.0.1");
}

TEST(ClientAddress, Ipv6_IsOneClientPer64) {
  EXPECT_EQ(V6("2001:db8::1"), V6("2001:db8::ffff:1"));
  EXPECT_NE(V6("2001:db8::1"), V6("2001:db8:0:1::1"));
  EXPECT_EQ(ToString(V6("2001:db8:0:1::5")), "2001:db8:0:1::/64");
}

TEST(ClientAddress, Ipv4ThroughAnIpv6Socket_IsTheSameClient) { EXPECT_EQ(V6("::ffff:10.0.0.1"), V4("10.0.0.1")); }

TEST(ClientNetwork, IsA24OrA48OrAllOfTheLoopback) {
  EXPECT_EQ(NetworkOf(V4("10.0.0.1")), NetworkOf(V4("10.0.0.254")));
  EXPECT_NE(NetworkOf(V4("10.0.0.1")), NetworkOf(V4("10.0.1.1")));
  EXPECT_EQ(NetworkOf(V4("127.0.0.1")), NetworkOf(V4("127.255.255.254")));
  EXPECT_NE(NetworkOf(V4("127.0.0.1")), NetworkOf(V4("128.0.0.1")));
  EXPECT_EQ(NetworkOf(V6("2001:db8:0:1::1")), NetworkOf(V6("2001:db8:0:ffff::1")));
  EXPECT_NE(NetworkOf(V6("2001:db8:0:1::1")), NetworkOf(V6("2001:db8:1:1::1")));
  EXPECT_NE(NetworkOf(V6("::")), NetworkOf(V4("0.0.0.0")));
}

TEST(ClientAddress, FamiliesNeverMix) { EXPECT_NE(V6("a00:1::"), V4("10.0.0.1")); }

TEST(ClientAddress, NoUsableAddress_IsOneClientOfItsOwn) {
  EXPECT_EQ(V6("2001:db8::1", sizeof(sa_family_t)), ClientAddress{});
  EXPECT_EQ(AddressOf({}, 0), ClientAddress{});
}

}  // namespace
}  // namespace kepler::http::server
