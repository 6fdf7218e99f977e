#include "export/otlp/grpc_sender.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "export/push/delivery.h"
#include "testing/fake_clock.h"

namespace kepler::otlp {
namespace {

using namespace std::chrono_literals;
using http::grpc::Code;

/// The delay before the next attempt; nothing: the request is dropped.
std::optional<Nanoseconds> Retry(Code code, std::optional<Nanoseconds> delay = std::nullopt) {
  auto policy = push::DeliveryOptions::DefaultRetry();
  policy.jitter = 0;
  http::client::ClientRequest request;
  request.may_repeat = true;
  return policy.Next(request, ToAnswer({.code = code, .retry_delay = delay}), 1, 0, {});
}

TEST(GrpcSender, CodesOfTheSpecification_AreRetried) {
  for (const Code code : {Code::kCancelled, Code::kDeadlineExceeded, Code::kAborted, Code::kOutOfRange,
                          Code::kUnavailable, Code::kDataLoss})
    EXPECT_EQ(Retry(code), 1s) << ToString(code);
  for (const Code code : {Code::kUnknown, Code::kInvalidArgument, Code::kNotFound, Code::kAlreadyExists,
                          Code::kPermissionDenied, Code::kFailedPrecondition, Code::kUnimplemented, Code::kInternal,
                          Code::kUnauthenticated, Code::kResourceExhausted})
    EXPECT_EQ(Retry(code), std::nullopt) << ToString(code);
}

TEST(GrpcSender, RetryInfo_DelaysTheRetry) {
  for (const Code code : {Code::kResourceExhausted, Code::kUnavailable, Code::kCancelled, Code::kDataLoss})
    EXPECT_EQ(Retry(code, 6500ms), 7s) << ToString(code);
  EXPECT_EQ(Retry(Code::kResourceExhausted, 0s), 1s);
  EXPECT_EQ(Retry(Code::kInvalidArgument, 6500ms), std::nullopt);
}

TEST(GrpcSender, AnswerNamesTheCode) {
  EXPECT_EQ(ToAnswer({.code = Code::kUnavailable, .text = "no backend"})->body, "UNAVAILABLE: no backend");
  EXPECT_EQ(ToAnswer({.code = Code::kInternal})->body, "INTERNAL");
  EXPECT_TRUE(ToAnswer({.code = Code::kOk})->ok());
  EXPECT_EQ(ToAnswer({.code = Code::kDeadlineExceeded, .text = "slow"}).error().message, "DEADLINE_EXCEEDED: slow");
}

TEST(GrpcSender, DeadlineThatTheServerReports_EndsNoRequest) {
  kepler::testing::FakeClock clock;
  push::Target target{.exporter = "otlp",
                      .peer = {.tls = false, .host = "127.0.0.1", .port = 1},
                      .request = {.target = std::string(kGrpcPath)}};
  target.send = [](const auto&, const auto&, const auto&, const auto&) {
    return ToAnswer({.code = Code::kDeadlineExceeded});
  };
  push::Delivery delivery(std::move(target), {.queue = {.max_bytes = 100}}, clock);
  delivery.Add({.body = std::make_shared<const std::string>("one"), .points = 7});
  for (int i = 0; i < 20; ++i) {
    delivery.Attempt({});
    clock.Advance(10min);
  }
  const status::PushStatus status = delivery.status();
  EXPECT_EQ(status.queued_requests, 1U);
  EXPECT_EQ(status.dropped_points[static_cast<size_t>(status::PushDrop::kRefused)], 0U);
  EXPECT_EQ(status.failures[static_cast<size_t>(status::PushFailure::kTimeout)], 20U);
}

}  // namespace
}  // namespace kepler::otlp
