#include "export/otlp/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace kepler::otlp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Variables = std::map<std::string, std::string, std::less<>>;

Environment Read(const Variables& variables) {
  return ReadEnvironment([&](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}
/// Name and reason of each use.
std::map<std::string, std::string> Uses(const Environment& environment) {
  std::map<std::string, std::string> uses;
  for (const auto& use : environment.uses) uses.emplace(use.name, use.reason);
  return uses;
}

TEST(ReadEnvironment, Nothing_IsNothing) {
  const Environment read = Read({});
  EXPECT_EQ(read.endpoint, std::nullopt);
  EXPECT_TRUE(read.uses.empty());
}

TEST(ReadEnvironment, AllSignals_AreUsed) {
  const Environment read =
      Read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318/"},
            {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=k"},
            {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
            {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"},
            {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"},
            {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/c.pem"},
            {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/k.pem"},
            {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
            {"OTEL_METRIC_EXPORT_INTERVAL", "15000"},
            {"OTEL_RESOURCE_ATTRIBUTES", "service.name=loses,deployment.environment.name=a%20b,host=h"},
            {"OTEL_SERVICE_NAME", "power"}});
  EXPECT_EQ(read.endpoint, "https://collector:4318/");
  EXPECT_FALSE(read.has_path);
  EXPECT_EQ(read.protocol, Protocol::kHttp);
  EXPECT_EQ(read.headers, "api-key=k");
  EXPECT_EQ(read.timeout, 2500ms);
  EXPECT_EQ(read.interval, 15s);
  EXPECT_EQ(read.compression, Compression::kNone);
  EXPECT_EQ(read.ca_file, "/ca.pem");
  EXPECT_EQ(read.cert_file, "/c.pem");
  EXPECT_EQ(read.key_file, "/k.pem");
  EXPECT_THAT(read.resource, ElementsAre(Pair("deployment.environment.name", "a b"), Pair("host", "h"),
                                         Pair("service.name", "power")));
  EXPECT_EQ(read.uses.size(), 11U);
  for (const auto& use : read.uses) EXPECT_EQ(use.reason, "") << use.name;
}

TEST(ReadEnvironment, MetricsNames_Win) {
  const Environment read = Read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318"},
                                 {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://b/own/path"},
                                 {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"},
                                 {"OTEL_EXPORTER_OTLP_TIMEOUT", "1"},
                                 {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "2"}});
  EXPECT_EQ(read.endpoint, "http://b/own/path");
  EXPECT_TRUE(read.has_path);
  EXPECT_EQ(read.protocol, Protocol::kGrpc);
  EXPECT_EQ(read.timeout, 2ms);
  EXPECT_THAT(Uses(read),
              UnorderedElementsAre(Pair("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT wins"),
                                   Pair("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", ""),
                                   Pair("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", ""),
                                   Pair("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", ""),
                                   Pair("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT wins")));
}

TEST(ReadEnvironment, InvalidAndUnsupported_AreIgnoredWithTheReason) {
  const Environment read = Read({{"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"},
                                 {"OTEL_EXPORTER_OTLP_HEADERS", "s3cret"},
                                 {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
                                 {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"},
                                 {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "both"},
                                 {"OTEL_METRIC_EXPORT_INTERVAL", "0"}});
  EXPECT_EQ(read.timeout, std::nullopt);
  EXPECT_EQ(read.protocol, std::nullopt);
  EXPECT_EQ(read.headers, std::nullopt);
  EXPECT_THAT(
      Uses(read),
      UnorderedElementsAre(
          Pair("OTEL_EXPORTER_OTLP_TIMEOUT", "it is not a number of milliseconds from 1 to one day"),
          Pair("OTEL_EXPORTER_OTLP_HEADERS", "it is not a list of headers as name=value"),
          Pair("OTEL_EXPORTER_OTLP_COMPRESSION", "it is neither gzip nor none"),
          Pair("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "it is neither grpc nor http/protobuf"),
          Pair("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "it is neither cumulative, delta nor lowmemory"),
          Pair("OTEL_METRIC_EXPORT_INTERVAL", "it is not a number of milliseconds from 1 to one day")));
}

TEST(ReadEnvironment, Temporality_IsAWordInAnyCase) {
  const auto temporality = [](const std::string& word) {
    return Read({{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", word}}).temporality;
  };
  EXPECT_EQ(temporality("Delta"), Temporality::kDelta);
  EXPECT_EQ(temporality("cumulative"), Temporality::kCumulative);
  EXPECT_EQ(temporality("lowmemory"), Temporality::kCumulative);
  EXPECT_EQ(temporality("deltas"), std::nullopt);
}

TEST(MetricsUrl, AppendsThePathOnce) {
  EXPECT_EQ(MetricsUrl("http://a:4318"), "http://a:4318/v1/metrics");
  EXPECT_EQ(MetricsUrl("http://a/x/"), "http://a/x/v1/metrics");
  EXPECT_EQ(MetricsUrl("http://a/v1/metrics"), "http://a/v1/metrics");
}

}  // namespace
}  // namespace kepler::otlp
