#include "export/push/header_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::push {
namespace {

using http::client::ClientRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(AddHeaderLines, HeadersCommentsAndLogins) {
  ClientRequest request;
  ASSERT_TRUE(
      AddHeaderLines("# tenant\r\nX-Scope-OrgID: team "
                     "a\r\n\r\nApi-Key:k:1\nauthorization: bearer t0k3n",
                     request));
  EXPECT_THAT(request.headers, ElementsAre(Pair("X-Scope-OrgID", "team a"), Pair("Api-Key", "k:1")));
  EXPECT_EQ(request.bearer_token, "t0k3n");
  ClientRequest basic;
  ASSERT_TRUE(AddHeaderLines("Authorization: Basic dXNlcjpwYTpzcw==", basic));
  EXPECT_EQ(basic.user, "user");
  EXPECT_EQ(basic.password, "pa:ss");
  ASSERT_TRUE(AddHeaderLines("", basic));
}

TEST(AddHeaderLines, Malformed_NamesTheLineWithoutItsText) {
  for (const std::string text :
       {"s3cret", ": s3cret", "Key:", "Authorization: Digest s3cret", "Authorization: Basic s3cret",
        "Authorization: Basic %%%", "A name: s3cret", "Na(me: s3cret", "Name: s3cret\x01", "Host: s3cret"}) {
    ClientRequest request;
    const Status added = AddHeaderLines("A: b\n" + text, request);
    ASSERT_FALSE(added) << text;
    EXPECT_EQ(added.error().kind, ErrorKind::kMalformed);
    EXPECT_THAT(added.error().message, HasSubstr("line 2: "));
    EXPECT_THAT(added.error().message, Not(HasSubstr("s3cret")));
  }
}

TEST(AddHeaderLines, TooMany_IsAnError) {
  std::string text;
  for (size_t i = 0; i <= kMaxHeaders; ++i) text += "A: b\n";
  ClientRequest request;
  EXPECT_FALSE(AddHeaderLines(text, request));
}

TEST(AddHeaderPairs, AreUnescaped) {
  ClientRequest request;
  ASSERT_TRUE(AddHeaderPairs("api-key = a%2Cb ,,authorization=Bearer%20t", request));
  EXPECT_THAT(request.headers, ElementsAre(Pair("api-key", "a,b")));
  EXPECT_EQ(request.bearer_token, "t");
}

TEST(AddHeaderPairs, Malformed_NamesThePair) {
  for (const std::string text : {"key", "key=%2", "key=%zz", "key=%", "=value", "key="}) {
    ClientRequest request;
    const Status added = AddHeaderPairs("a=b," + text, request);
    ASSERT_FALSE(added) << text;
    EXPECT_THAT(added.error().message, HasSubstr("pair 2: "));
  }
}

}  // namespace
}  // namespace kepler::push
