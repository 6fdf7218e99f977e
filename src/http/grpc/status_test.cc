#include "http/grpc/status.h"

#include <gtest/gtest.h>

#include <string>

#include <protozero/pbf_writer.hpp>

#include "base/base64.h"

namespace kepler::http::grpc {
namespace {

using namespace std::chrono_literals;

std::string Details(const std::string& type, int64_t seconds, int32_t nanos) {
  std::string duration, info, any, status;
  protozero::pbf_writer(duration).add_int64(1, seconds);
  protozero::pbf_writer(duration).add_int32(2, nanos);
  protozero::pbf_writer(info).add_message(1, duration);
  protozero::pbf_writer(any).add_string(1, type);
  protozero::pbf_writer(any).add_message(2, info);
  protozero::pbf_writer(status).add_int32(1, 14);
  protozero::pbf_writer(status).add_string(2, "no backend");
  protozero::pbf_writer(status).add_message(3, std::string("\x0a\x01x"));  // a detail of another type
  protozero::pbf_writer(status).add_message(3, any);
  return status;
}
const std::string kRetryInfo = "type.googleapis.com/google.rpc.RetryInfo";

TEST(GrpcStatus, Codes) {
  EXPECT_EQ(ParseCode("0"), Code::kOk);
  EXPECT_EQ(ParseCode("16"), Code::kUnauthenticated);
  EXPECT_EQ(ParseCode("17"), Code::kUnknown);
  for (const std::string wrong : {"", "OK", "-1", "1 ", "99999999999"})
    EXPECT_EQ(ParseCode(wrong), std::nullopt) << wrong;
  EXPECT_EQ(ToString(Code::kOk), "OK");
  EXPECT_EQ(ToString(Code::kUnauthenticated), "UNAUTHENTICATED");
  EXPECT_EQ(CodeOfHttp(404), Code::kUnimplemented);
  EXPECT_EQ(CodeOfHttp(429), Code::kUnavailable);
  EXPECT_EQ(CodeOfHttp(500), Code::kUnknown);
}

TEST(GrpcStatus, RetryDelay) {
  EXPECT_EQ(ReadRetryDelay(EncodeBase64(Details(kRetryInfo, 2, 500'000'000))), 2500ms);
  std::string unpadded = EncodeBase64(Details(kRetryInfo, 2, 0));
  while (unpadded.ends_with('=')) unpadded.pop_back();
  EXPECT_EQ(ReadRetryDelay(unpadded), 2s);
  EXPECT_EQ(ReadRetryDelay(EncodeBase64(Details(kRetryInfo, -7, -5))), 0s);
  EXPECT_EQ(ReadRetryDelay(EncodeBase64(Details(kRetryInfo, INT64_MAX, 1))), 24h);
}

TEST(GrpcStatus, DetailsWithoutRetryInfo_HaveNoDelay) {
  EXPECT_EQ(ReadRetryDelay(""), std::nullopt);
  EXPECT_EQ(ReadRetryDelay("not Base64!"), std::nullopt);
  EXPECT_EQ(ReadRetryDelay(EncodeBase64(Details("type.googleapis.com/google.rpc.DebugInfo", 2, 0))), std::nullopt);
}

TEST(GrpcStatus, CutDetails_HaveNoDelay) {
  const std::string whole = Details(kRetryInfo, 2, 0);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(ReadRetryDelay(EncodeBase64(whole.substr(0, size))), std::nullopt) << size;
}

}  // namespace
}  // namespace kepler::http::grpc
