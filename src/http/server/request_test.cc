#include "http/server/request.h"

#include <gtest/gtest.h>

#include "http/server/message.h"

namespace kepler::http {
namespace {

TEST(Headers, Name_IsFoundInAnyCase) {
  Headers headers;
  headers.Add("X-Model", "a");
  EXPECT_EQ(headers.Get("x-mODEL"), "a");
  for (const auto* other : {"X-Mode", "X-Models", "", "X"}) EXPECT_EQ(headers.Get(other), "") << other;
}

TEST(Headers, LinesOfOneName_AreOneList) {
  Headers headers;
  headers.Add("Accept", "a/b");
  headers.Add("Host", "h");
  headers.Add("accept", "");
  headers.Add("ACCEPT", "c/d");
  EXPECT_EQ(headers.Get("Accept"), "a/b, , c/d");
}

TEST(Headers, OfARequest_AreWholeWithoutThePassword) {
  const auto head = ParseRequestHead(
      "GET / HTTP/1.1\r\nHost: h\r\nX-Y:  two words \r\nX-Empty:\r\nauthorization: Basic YTpi\r\n\r\n");
  ASSERT_TRUE(head) << head.error().reason;
  EXPECT_EQ(head->authorization, "Basic YTpi");
  const Headers& headers = head->request.headers;
  EXPECT_EQ(headers.Get("Host"), "h");
  EXPECT_EQ(headers.Get("X-Y"), "two words");
  EXPECT_EQ(headers.Get("X-Empty"), "");
  EXPECT_EQ(headers.Get("Authorization"), "");
}

}  // namespace
}  // namespace kepler::http
