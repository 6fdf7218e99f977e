#include <gtest/gtest.h>

#include <vector>

#include "http/server/message.h"

namespace kepler::http::server {
namespace {

TEST(RenderHead, Answer_IsTheExactText) {
  const std::vector<std::pair<std::string, std::string>> extra = {{"X-Frame-Options", "deny"}};
  const Response response{.status = 200,
                          .content_type = "text/html",
                          .content_encoding = "gzip",
                          .body = std::make_shared<const std::string>("12345"),
                          .headers = {{"X-One", "1"}}};
  EXPECT_EQ(RenderHead(response, {.keep_alive = true, .http10 = false, .now = 784111777, .extra = extra}),
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-One: 1\r\nX-Frame-Options: deny\r\n\r\n");
}

TEST(RenderHead, Persistence_IsSaidWhereItIsNotTheDefault) {
  const Response response = PlainAnswer(404);
  const auto says = [&](bool keep, bool http10) {
    const auto head = RenderHead(response, {.keep_alive = keep, .http10 = http10, .now = 0, .extra = {}});
    if (head.contains("Connection: close\r\n")) return "close";
    return head.contains("Connection: keep-alive\r\n") ? "keep-alive" : "nothing";
  };
  EXPECT_STREQ(says(true, false), "nothing");
  EXPECT_STREQ(says(false, false), "close");
  EXPECT_STREQ(says(true, true), "keep-alive");
  EXPECT_STREQ(says(false, true), "close");
}

TEST(RenderHead, Unavailable_SaysWhenToRetry) {
  EXPECT_TRUE(RenderHead(Response{.status = 503}, {}).contains("\r\nRetry-After: 1\r\n"));
  EXPECT_FALSE(RenderHead(Response{.status = 500}, {}).contains("Retry-After"));
}

TEST(RenderHead, NoBody_SaysZero) {
  EXPECT_TRUE(RenderHead(Response{}, {}).contains("Content-Length: 0\r\n"));
  EXPECT_FALSE(RenderHead(Response{.status = 204}, {}).contains("Content-Length"));
}

TEST(PlainAnswer, Text_DefaultsToTheStatus) {
  EXPECT_EQ(*PlainAnswer(429).body, "Too Many Requests\n");
  EXPECT_EQ(*PlainAnswer(400, "why").body, "why\n");
  EXPECT_EQ(StatusText(299), "Unknown");
}

}  // namespace
}  // namespace kepler::http::server
