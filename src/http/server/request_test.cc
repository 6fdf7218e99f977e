#include "http/server/request.h"

#include <gtest/gtest.h>

#include "http/server/message.h"

namespace kepler::http::server {
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

/// "none" if the parameter is missing, "error" for a malformed query.
std::string Value(std::string_view query, std::string_view name) {
  const auto value = FindParameter(query, name);
  return value ? value->value_or("none") : "error";
}

TEST(FindParameter, Value_IsDecoded) {
  EXPECT_EQ(Value("a=1&name=x%2Fy+z%26%3d%00&b", "name"), std::string("x/y z&=\0", 8));
  EXPECT_EQ(Value("na%6De=x", "name"), "x");
  EXPECT_EQ(Value("a+b=c%2Bd", "a b"), "c+d");
  EXPECT_EQ(Value("a=b=c", "a"), "b=c");
}

TEST(FindParameter, EmptyAndMissing_AreDifferent) {
  EXPECT_EQ(Value("a&b=", "a"), "");
  EXPECT_EQ(Value("a&b=", "b"), "");
  for (const auto* query : {"", "&", "&&=", "b=a", "aa=1", "A=1"}) EXPECT_EQ(Value(query, "a"), "none") << query;
}

TEST(FindParameter, SameNameTwice_GivesTheFirst) { EXPECT_EQ(Value("a=1&a=2", "a"), "1"); }

TEST(FindParameter, MalformedOrTruncated_IsAnErrorWhereverItIs) {
  for (const auto* query : {"a=%", "a=1&b=%4", "%zz=1&a=1", "a=1&b=%4z", "a=%+1", "a=% 41"})
    EXPECT_EQ(Value(query, "a"), "error") << query;
  const auto value = FindParameter("a=1&b=50%\n", "a");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().message,
            "cannot decode the query parameter \"b=50%\\x0a\": % must be followed by two hexadecimal digits; write a "
            "percent sign as %25");
}

}  // namespace
}  // namespace kepler::http::server
