#include "http/client/redirection.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::http::client {
namespace {

std::string From(bool tls, const std::string& location, unsigned status = 302) {
  return DescribeRedirection({.tls = tls, .host = "h"}, {.status = status, .body = "", .location = location});
}

TEST(DescribeRedirection, SaysWhichUrlToSet) {
  for (const bool tls : {false, true}) {
    EXPECT_EQ(From(tls, "https://other/b.json?key=s3cret#x"),
              "the server redirects to https://other/b.json; redirections are not followed, set that URL");
    EXPECT_EQ(From(tls, "/b.json"), "the server redirects to /b.json; redirections are not followed, set that URL");
  }
  EXPECT_EQ(From(false, "http://other/"),
            "the server redirects to http://other/; redirections are not followed, set that URL");
}

TEST(DescribeRedirection, AsksOnlyWhereTlsWouldBeLost) {
  EXPECT_EQ(From(true, "HTTP://other/"),
            "the server redirects to HTTP://other/; redirections are not followed, set that URL if http instead of "
            "https is acceptable");
}

TEST(DescribeRedirection, UrlsThatCannotBeSet_AreNotProposed) {
  EXPECT_EQ(From(true, "file:///etc/passwd"),
            "the server redirects to file:///etc/passwd; redirections are not followed");
  EXPECT_EQ(From(true, "https://me:s3cret@h/b.json"),
            "the server redirects to a URL with a password; redirections are not followed, and a URL with a password "
            "is not supported");
}

TEST(DescribeRedirection, OtherAnswers_AreNone) {
  EXPECT_EQ(From(true, "https://other/", 201), "");
  EXPECT_EQ(From(true, "", 304), "");
}

}  // namespace
}  // namespace kepler::http::client
