#include "apps/kepler/push_wiring.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

namespace kepler::agent {
namespace {

TEST(MakeOtlp, InvalidUrlOfTheEnvironment_IsAnErrorWithTheNameOfTheVariable) {
  Config config;
  config.otlp.enabled = true;
  for (const char* name : {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}) {
    ::setenv(name, "ftp://a", 1);
    const auto made = MakeOtlp(config, {}, {});
    ::unsetenv(name);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message,
              std::string("environment variable ") + name + ": must begin with https:// or http://");
  }
}

}  // namespace
}  // namespace kepler::agent
