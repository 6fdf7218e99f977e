#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "http/server/message.h"

namespace kepler::http::server {
namespace {

TEST(FindHeadEnd, WholeHead_IsItsLength) { EXPECT_EQ(FindHeadEnd("GET / HTTP/1.1\r\n\r\nrest", 0), 18u); }

TEST(FindHeadEnd, BareLineFeeds_EndTheHeadToo) {
  EXPECT_EQ(FindHeadEnd("GET / HTTP/1.1\n\nrest", 0), 16u);
  EXPECT_EQ(FindHeadEnd("GET / HTTP/1.1\r\n\nrest", 0), 17u);
  EXPECT_EQ(FindHeadEnd("GET / HTTP/1.1\n\r\nrest", 0), 17u);
}

TEST(FindHeadEnd, Incomplete_IsNothing) {
  EXPECT_FALSE(FindHeadEnd("", 0));
  EXPECT_FALSE(FindHeadEnd("GET / HTTP/1.1\r\n\r", 0));
}

RC_GTEST_PROP(FindHeadEnd, ReadInPieces_EqualsReadAtOnce, ()) {
  const auto* const line_end = *rc::gen::element("\r\n", "\n");
  const std::string head = std::string("GET / HTTP/1.1") + line_end + "Host: a" + line_end + line_end;
  const auto cut = *rc::gen::inRange<size_t>(0, head.size());
  RC_ASSERT(!FindHeadEnd(std::string_view(head).substr(0, cut), 0));
  RC_ASSERT(FindHeadEnd(head, cut) == head.size());
}

TEST(ParseRequestHead, Scrape_IsUnderstood) {
  const auto head = ParseRequestHead(
      "GET /metrics?x=1&y=%20 HTTP/1.1\r\nHost: a:1\r\nAccept: text/plain\r\naccept: */*;q=0.1\r\n"
      "Accept-Encoding: gzip\r\nAuthorization: Basic abc\r\n\r\n");
  ASSERT_TRUE(head) << head.error().reason;
  EXPECT_EQ(head->request.method, "GET");
  EXPECT_EQ(head->request.path, "/metrics");
  EXPECT_EQ(head->request.query, "x=1&y=%20");
  EXPECT_EQ(head->request.headers.Get("Accept"), "text/plain, */*;q=0.1");
  EXPECT_EQ(head->request.headers.Get("Accept-Encoding"), "gzip");
  EXPECT_EQ(head->authorization, "Basic abc");
  EXPECT_TRUE(head->keep_alive);
  EXPECT_FALSE(head->http10);
  EXPECT_EQ(head->content_length, 0u);
}

TEST(ParseRequestHead, Targets_BecomeDecodedPaths) {
  const auto path = [](const std::string& target) {
    const auto head = ParseRequestHead("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return head ? head->request.path : "refused: " + head.error().reason;
  };
  EXPECT_EQ(path("/a%2Fb%41"), "/a/bA");
  EXPECT_EQ(path("http://host:1/metrics?q"), "/metrics");
  EXPECT_EQ(path("http://host"), "/");
  EXPECT_EQ(path("HTTP://host/metrics"), "/metrics");
  EXPECT_EQ(path("Https://host/metrics"), "/metrics");
  EXPECT_EQ(path("/a#fragment"), "/a");
  EXPECT_EQ(path("*"), "*");
  for (const auto* bad : {"metrics", "/%", "/%4", "/%zz", "/%4z", "/%z4", "host:443", "http://host?q", "ftp://host/"})
    EXPECT_TRUE(path(bad).starts_with("refused")) << bad;
}

TEST(ParseRequestHead, Persistence_FollowsVersionAndConnection) {
  const auto keeps = [](const std::string& text) {
    const auto head = ParseRequestHead(text);
    return head && head->keep_alive;
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(ParseRequestHead, Bodies_AreDescribed) {
  auto head = ParseRequestHead("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nExpect: 100-Continue\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->content_length, 12u);
  EXPECT_TRUE(head->expects_continue);
  EXPECT_EQ(head->transfer_coding, "");
  head = ParseRequestHead("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->transfer_coding, "chunked");
}

struct BadHead {
  const char* text;
  unsigned status;
};
class ParseRequestHeadRefusal : public ::testing::TestWithParam<BadHead> {};

TEST_P(ParseRequestHeadRefusal, BadHead_NamesTheStatus) {
  const auto head = ParseRequestHead(GetParam().text);
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().status, GetParam().status);
  EXPECT_FALSE(head.error().reason.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseRequestHeadRefusal,
    ::testing::Values(
        BadHead{"GARBAGE\r\n\r\n", 400}, BadHead{"", 400}, BadHead{"\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\n", 400}, BadHead{"GET / HTTP/1.1\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 2\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        BadHead{"GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n", 417},
        BadHead{"GET / HTTP/1.1\nHost: a\n\n", 400}, BadHead{"GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
        BadHead{"\n\n", 400}, BadHead{"PRI * HTTP/2.0\r\n\r\n", 505}, BadHead{"GET / FTP/1.1\r\n\r\n", 400}));

/// What is understood of `bytes` that come in pieces of `step`: the body and what is left, or the status of the
/// refusal.
std::string Understood(const RequestHead& head, std::string_view bytes, size_t step) {
  BodyParser parser(head, 1000);
  std::string input;
  for (size_t at = 0; at < bytes.size(); at += step) {
    input += bytes.substr(at, step);
    const auto whole = parser.Take(input);
    if (!whole) return std::to_string(whole.error().status);
    if (*whole) return parser.text() + "|" + input + std::string(bytes.substr(std::min(at + step, bytes.size())));
  }
  return "incomplete";
}

TEST(BodyParser, Bodies_AreTheSameInPieces) {
  const RequestHead five{.content_length = 5}, chunked{.transfer_coding = "chunked"};
  for (const size_t step : {1u, 2u, 3u, 7u, 1000u}) {
    EXPECT_EQ(Understood(five, "hello", step), "hello|");
    EXPECT_EQ(Understood(five, "helloGET", step), "hello|GET");
    EXPECT_EQ(Understood(five, "hell", step), "incomplete");
    EXPECT_EQ(Understood(chunked, "0\r\n\r\nGET", step), "|GET");
    EXPECT_EQ(Understood(chunked, "5\r\nhello\r\n1;a=b\r\n!\r\n0\r\nX: y\r\n\r\n", step), "hello!|");
    EXPECT_EQ(Understood(chunked, "5\r\nhello\r\n0\r\n", step), "incomplete");
    EXPECT_EQ(Understood(chunked, "3e9\r\n", step), "413");
    EXPECT_EQ(Understood(chunked, "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\n", step), "413");
    for (const auto* bad : {"hello\r\n", "-1\r\n\r\n", "5\r\nhelloworld\r\n", "10000000000000000\r\n",
                            "0\r\nContent-Length: 5\r\n\r\n", "5 5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n\r\n"})
      EXPECT_EQ(Understood(chunked, bad, step), "400") << bad;
  }
}

TEST(BodyParser, LengthAboveTheLimit_IsRefusedBeforeAByteHasCome) {
  std::string nothing;
  const auto refused = BodyParser({.content_length = 1001}, 1000).Take(nothing);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 413u);
}

}  // namespace
}  // namespace kepler::http::server
