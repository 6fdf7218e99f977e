#include "http/client/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::http::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParseUrl, PartsOfIt) {
  const auto whole = ParseUrl("https://models.example:8443/a/b.json?key=1/2");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->peer, (Peer{.tls = true, .host = "models.example", .port = 8443}));
  EXPECT_EQ(whole->target, "/a/b.json?key=1/2");
  EXPECT_EQ(ParseUrl("http://h")->peer.port, 80);
  EXPECT_EQ(ParseUrl("HTTPS://h")->peer.port, 443);
  EXPECT_EQ(ParseUrl("http://h")->target, "/");
  EXPECT_EQ(ParseUrl("http://h?q")->target, "/?q");
  EXPECT_EQ(ParseUrl("http://[::1]/x")->peer, (Peer{.tls = false, .host = "::1", .port = 80}));
  EXPECT_EQ(ParseUrl("http://[::1]:81/x")->peer.port, 81);
}

TEST(ParseUrl, WhatIsNone_IsRefused) {
  for (const char* text :
       {"", "h", "ftp://h/", "file:///etc/passwd", "https:/h", "https://", "https://:443/", "http://h:0/",
        "http://h:65536/", "http://h:x/", "http://::1/", "http://[::1/", "http://h/#part", "http://h#part",
        "http://h/a b", "http://h/\r\nX: y", "http://h/\xc3\xbc"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().kind, ErrorKind::kInvalid);
  }
}

TEST(ParseUrl, PasswordsAreRefusedAndNotRepeated) {
  for (const char* text : {"https://me:s3cret@h/", "https://s3cret@h", "https://me:s3cret@h:1?x"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message, HasSubstr("user name or password"));
    EXPECT_THAT(url.error().message, Not(HasSubstr("s3cret")));
  }
  EXPECT_TRUE(ParseUrl("https://h/a@b")) << "no password";
}

}  // namespace
}  // namespace kepler::http::client
