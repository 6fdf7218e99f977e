#include "http/client/retry.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::http::client {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{784111772s};  // 1994-11-06 08:49:32 UTC

Result<Answer> Answered(unsigned status, std::string retry_after = "") {
  return Answer{.status = status, .body = {}, .retry_after = std::move(retry_after)};
}

std::optional<Nanoseconds> Next(const Result<Answer>& outcome, unsigned failures = 1) {
  return RetryPolicy{}.Next(ClientRequest{.target = "/"}, outcome, failures, 0.5, kNow);
}

TEST(RetryPolicy, DelayDoublesUpToTheMaximum) {
  const RetryPolicy policy{.first_delay = 1s, .max_delay = 5s};
  unsigned failures = 0;
  for (const Nanoseconds delay : {1s, 2s, 4s, 5s, 5s}) EXPECT_EQ(policy.Delay(++failures, 0.9), delay);
  EXPECT_EQ(policy.Delay(4'000'000'000, 0), 5s);
  EXPECT_EQ((RetryPolicy{.first_delay = 10s, .max_delay = 1s}.Delay(1, 0)), 1s);
}

TEST(RetryPolicy, JitterIsAFractionOfTheDelay) {
  const RetryPolicy policy{.first_delay = 4s, .jitter = 0.25};
  EXPECT_EQ(policy.Delay(1, 0), 3s);
  EXPECT_EQ(policy.Delay(1, 0.5), 4s);
  EXPECT_EQ(policy.Delay(1, 1), 5s);
}

TEST(RetryPolicy, AnswersThatMayBeBetterNextTime_AreRetried) {
  for (const unsigned status : {408U, 429U, 502U, 503U, 504U}) EXPECT_EQ(Next(Answered(status)), 500ms) << status;
  for (const unsigned status : {200U, 204U, 301U, 400U, 401U, 404U, 413U, 500U, 501U, 505U})
    EXPECT_EQ(Next(Answered(status)), std::nullopt) << status;
}

TEST(RetryPolicy, BrokenConnectionsAreRetried_ErrorsThatStayAreNot) {
  for (const ErrorKind kind : {ErrorKind::kTimeout, ErrorKind::kUnavailable}) EXPECT_EQ(Next(Fail(kind, "x")), 500ms);
  for (const ErrorKind kind : {ErrorKind::kPermission, ErrorKind::kInvalid, ErrorKind::kMalformed})
    EXPECT_EQ(Next(Fail(kind, "x")), std::nullopt);
}

TEST(RetryPolicy, WhatCannotBeRepeated_IsNotRetried) {
  ClientRequest request{.method = Method::kPost, .target = "/"};
  const auto next = [&request] { return RetryPolicy{}.Next(request, Answered(503), 1, 0.5, kNow); };
  EXPECT_EQ(next(), std::nullopt) << "it may have been done";
  request.may_repeat = true;
  EXPECT_EQ(next(), 500ms);
  request.body = StreamedBody{.next = [] { return Result<std::string_view>(""); }};
  EXPECT_EQ(next(), std::nullopt) << "the body is gone";
  request = {.method = Method::kPut, .target = "/"};
  EXPECT_EQ(next(), 500ms);
}

TEST(RetryPolicy, RetriesAreCounted) {
  EXPECT_EQ(Next(Answered(503), 4), 4s);
  EXPECT_EQ(Next(Answered(503), 5), std::nullopt);
  EXPECT_EQ((RetryPolicy{.retries = 0}.Next(ClientRequest{.target = "/"}, Answered(503), 1, 0, kNow)), std::nullopt);
}

TEST(RetryPolicy, RetryAfterIsHonoured_WithinTheLimit) {
  EXPECT_EQ(Next(Answered(503, "7")), 7s);
  EXPECT_EQ(Next(Answered(429, "Sun, 06 Nov 1994 08:49:37 GMT")), 5s);
  EXPECT_EQ(Next(Answered(429, "0")), 500ms) << "at least the delay";
  EXPECT_EQ(Next(Answered(429, "86400")), 60s);
  EXPECT_EQ(Next(Answered(429, "soon")), 500ms);
  EXPECT_EQ(Next(Answered(502, "7")), 500ms) << "only 429 and 503 have one";
}

TEST(ParseRetryAfter, SecondsAndDates) {
  EXPECT_EQ(ParseRetryAfter("120", kNow), 120s);
  EXPECT_EQ(ParseRetryAfter("0", kNow), 0s);
  EXPECT_EQ(ParseRetryAfter("99999999999999999999", kNow), Nanoseconds(1'000'000'000s));
  for (const char* date :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(ParseRetryAfter(date, kNow), 5s) << date;
    EXPECT_EQ(ParseRetryAfter(date, kNow + 10s), 0s) << date;
  }
  for (const char* text :
       {"", "-1", "1.5", "soon", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 GMT+1", "inf", "nan", "1s"})
    EXPECT_EQ(ParseRetryAfter(text, kNow), std::nullopt) << text;
}

}  // namespace
}  // namespace kepler::http::client
