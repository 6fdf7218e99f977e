// What Complete() fills and warns about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "apps/kepler/config_test_util.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Complete, ZeroPeriods_BecomeTheDefault) {
  ConfigDraft draft("");
  draft.config.informer_poll_interval = Duration{0};
  draft.config.redfish_http_timeout = Duration{0};
  Complete(draft, draft.config, "host");
  EXPECT_EQ(draft.config.informer_poll_interval, std::chrono::seconds(15));
  EXPECT_EQ(draft.config.redfish_http_timeout, std::chrono::seconds(5));
}

TEST(Complete, InformerSettingsWithoutKube_AreNamed) {
  ConfigDraft draft("");
  draft.GiveByFile("kube.podInformer.mode", 3);
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(), IsEmpty()) << "the default may be written down";
  draft.config.informer_mode = InformerMode::kApiserver;
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(), ElementsAre(HasSubstr("kube.podInformer.mode: has no effect without kube.enabled")));
}

TEST(Complete, MsrSettingsWithoutMsr_AreNamed) {
  ConfigDraft draft("");
  draft.GiveByFile("rapl.msr.force", 3);
  draft.config.rapl.msr_force = true;
  draft.config.rapl.msr_enabled = true;
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(), IsEmpty());
  draft.config.rapl.msr_enabled = false;
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(), ElementsAre(HasSubstr("rapl.msr.force: has no effect without rapl.msr.enabled")));
}

TEST(Complete, SettingsThatMakeExactTotalsInexact_AreNamed) {
  ConfigDraft draft("");
  draft.config.terminated_retention = std::chrono::seconds(30);
  draft.config.limits = {.max_processes = 100, .min_watts = 1};
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(), IsEmpty());
  draft.config.exact_totals = true;
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(),
              ElementsAre(HasSubstr("monitor.terminatedRetention: ended workloads are listed for less than a minute"),
                          HasSubstr("limits.maxProcesses: totals of processes are not exact"),
                          HasSubstr("limits.minWatts: totals of processes are not exact")));
}

TEST(Complete, BaselineWithAnIntervalThatTeachesNothing_IsNamed) {
  ConfigDraft draft("");
  draft.config.split.idle = pipeline::IdlePolicy::kBaseline;
  draft.config.freshness.interval = std::chrono::minutes(5);
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(), IsEmpty());
  draft.config.freshness.interval += std::chrono::nanoseconds(1);
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.warnings(), ElementsAre(HasSubstr("monitor.interval above 5m")));
}

TEST(Complete, NodeNames_FallBackInTurn) {
  ConfigDraft draft("");
  draft.config.redfish_enabled = true;
  Complete(draft, draft.config, "host");
  EXPECT_EQ(draft.config.node_name, "host");
  EXPECT_EQ(draft.config.redfish_node_name, "host");
}

TEST(Complete, GivenNodeNames_AreKept) {
  ConfigDraft draft("");
  draft.config.node_name = "node";
  draft.config.redfish_enabled = true;
  Complete(draft, draft.config, "host");
  EXPECT_EQ(draft.config.node_name, "node");
  EXPECT_EQ(draft.config.redfish_node_name, "node");
}

TEST(Complete, DeprecatedKeys_SetTheMetersAndWarn) {
  ConfigDraft draft;
  draft.config.force_hwmon = true;
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.config.preferred_meters, ElementsAre(Meter::kHwmon));
  EXPECT_THAT(draft.warnings(), ElementsAre("experimental.hwmon.forceEnabled: deprecated; set cpu.preferredMeters to "
                                            "[hwmon] instead"));
}

TEST(Complete, FakeMeter_WinsOverForcedHwmon) {
  ConfigDraft draft;
  draft.config.force_hwmon = true;
  draft.config.fake_meter = true;
  Complete(draft, draft.config, "host");
  EXPECT_THAT(draft.config.preferred_meters, ElementsAre(Meter::kFake));
  EXPECT_EQ(draft.warnings().size(), 2U);
}

}  // namespace
}  // namespace kepler::agent
