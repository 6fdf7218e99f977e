#include "export/prometheus/negotiate.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::prometheus {
namespace {

constexpr auto kText = Format::kText004;
constexpr auto kOpenMetrics = Format::kOpenMetrics100;
constexpr auto kProtobuf = Format::kProtobuf;

TEST(NegotiateFormat, NothingAsked_Text) {
  EXPECT_EQ(NegotiateFormat(""), kText);
  EXPECT_EQ(NegotiateFormat("*/*"), kText);
  EXPECT_EQ(NegotiateFormat("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), kText);
}

TEST(NegotiateFormat, PrometheusServers_GetOpenMetrics) {
  // 2.42
  EXPECT_EQ(
      NegotiateFormat("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
      kOpenMetrics);
  // 3.x
  EXPECT_EQ(
      NegotiateFormat("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                      "application/openmetrics-text;version=0.0.1;q=0.5,"
                      "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
      kOpenMetrics);
}

TEST(NegotiateFormat, HighestWeight_Wins) {
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text;q=0.3,text/plain;q=0.4"), kText);
  EXPECT_EQ(NegotiateFormat("text/plain;q=0.3, application/openmetrics-text;q=0.4"), kOpenMetrics);
  EXPECT_EQ(NegotiateFormat("application/vnd.google.protobuf;q=1,application/openmetrics-text;q=0.5,text/plain;q=0.2"),
            kOpenMetrics);
}

TEST(NegotiateFormat, Protobuf_OnlyAsDelimitedFamilies) {
  // Prometheus 3.16 with created timestamps.
  EXPECT_EQ(NegotiateFormat("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
                            "encoding=delimited;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=1.0.0;"
                            "escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
            kProtobuf);
  const std::string family = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily";
  for (const char* encoding : {"", ";encoding=delimited", "; Encoding=\"delimited\"; escaping=values"})
    EXPECT_EQ(NegotiateFormat(family + encoding), kProtobuf) << encoding;
  for (const char* encoding : {";encoding=text", ";encoding=compact-text", ";q=0"})
    EXPECT_EQ(NegotiateFormat(family + encoding), kText) << encoding;
  EXPECT_EQ(NegotiateFormat("application/vnd.google.protobuf;proto=some.Other;encoding=delimited"), kText);
  EXPECT_EQ(NegotiateFormat(family + ";q=0.3,application/openmetrics-text;q=0.4"), kOpenMetrics);
  EXPECT_EQ(NegotiateFormat(family + ";q=0.4,application/openmetrics-text;q=0.3"), kProtobuf);
}

TEST(NegotiateFormat, SameWeight_FirstExactWins) {
  EXPECT_EQ(NegotiateFormat("text/plain,application/openmetrics-text"), kText);
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text,text/plain"), kOpenMetrics);
  EXPECT_EQ(NegotiateFormat("*/*,application/openmetrics-text"), kOpenMetrics);
}

TEST(NegotiateFormat, WeightZero_Refused) {
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text;q=0"), kText);
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text;q=0.000,text/plain;q=0.1"), kText);
}

TEST(NegotiateFormat, Versions_OnlyKnownOnes) {
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text"), kOpenMetrics);
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text; version=0.0.1"), kOpenMetrics);
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text; version=2.0.0"), kText);
  EXPECT_EQ(NegotiateFormat("Application/OpenMetrics-Text ; Version=\"1.0.0\" ; charset=utf-8"), kOpenMetrics);
}

TEST(NegotiateFormat, Malformed_Text) {
  for (const char* accept : {",", ";", "a;b;c", "application/openmetrics-text;q=", "application/openmetrics-text;q=nan",
                             "application/openmetrics-text;q=2", "application/openmetrics-text;q=-1",
                             "application/openmetrics-text;q=0.5x", "application", "\xFF\x00;q"})
    EXPECT_EQ(NegotiateFormat(accept), kText) << accept;
}

TEST(NegotiateFormat, OneMalformedOffer_OthersCount) {
  EXPECT_EQ(NegotiateFormat("text/plain;q=x,application/openmetrics-text;q=0.1"), kOpenMetrics);
}

TEST(ContentType, Exact) {
  EXPECT_EQ(ContentType(kText), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(ContentType(kOpenMetrics), "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(ContentType(kProtobuf),
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited");
}

TEST(NegotiateEncoding, Gzip_OnlyWhereOffered) {
  for (const char* accept : {"gzip", "gzip, deflate, br", "GZIP;q=0.5", "x-gzip", "deflate;q=1, gzip;q=0.1", "*",
                             "identity;q=0, *;q=0.5", "gzip;q=0.5, identity;q=0.5", "br, gzip;q=1.0, identity;q=0"})
    EXPECT_EQ(NegotiateEncoding(accept), Encoding::kGzip) << accept;
}

TEST(NegotiateEncoding, Identity_Otherwise) {
  for (const char* accept : {"", "identity", "gzip;q=0", "gzip;q=0, *", "*;q=0", "deflate", "identity;q=0", "zgzip",
                             "gzip;q=0.2, identity", "gzip;q=oops", ",,;"})
    EXPECT_EQ(NegotiateEncoding(accept), Encoding::kIdentity) << accept;
}

}  // namespace
}  // namespace kepler::prometheus
