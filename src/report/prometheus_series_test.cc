#include "report/prometheus_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kepler::report {
namespace {

using recording::Labels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PrometheusSeries, Selector) {
  const std::vector<std::string> zones = {"package", "a.b"}, matchers = {R"(job="kepler")"};
  EXPECT_EQ(
      SelectorOf(By::kNode, zones, {}),
      R"({__name__=~"kepler_node_cpu_joules_total|kepler_node_platform_joules_total|kepler_start_timestamp_seconds",zone=~"|package|a\\.b"})");
  EXPECT_THAT(SelectorOf(By::kProject, zones, {}),
              HasSubstr(R"(|kepler_vm_cpu_joules_total|kepler_vm_info",zone=~"|package|a\\.b",level=~"|vm"})"));
  EXPECT_THAT(SelectorOf(By::kPod, zones, matchers),
              HasSubstr(R"(|kepler_pod_cpu_joules_total",zone=~"|package|a\\.b",level=~"|pod",job="kepler"})"));
}

TEST(PrometheusSeries, LabelThatTheServerRenamed_IsTheAgents) {
  const Labels labels = {{"exported_namespace", "shop"}, {"namespace", "kepler"}, {"node_name", "n1"},
                         {"owner_kind", "Job"},          {"owner_name", "x"},     {"zone", "package"}};
  const auto series = EnergySeriesOf(By::kOwner, "kepler_owner_cpu_joules_total", labels);
  ASSERT_TRUE(series);
  EXPECT_THAT(series->texts, ElementsAre(std::pair("namespace", "shop"), std::pair("owner_kind", "Job"),
                                         std::pair("owner_name", "x")));
  EXPECT_TRUE(IsOfTarget(By::kOwner, labels, {{"namespace", "kepler"}}));
  EXPECT_FALSE(IsOfTarget(By::kOwner, labels, {{"instance", "n1:28282"}}));
  EXPECT_THAT(TargetOf({{"exported_zone", "package"}, {"job", "k"}, {"node_name", "n"}, {"path", "x"}}),
              ElementsAre(std::pair("job", "k")));
}

TEST(PrometheusSeries, UserOfTheNode_IsNotThatOfTheTarget) {
  const Labels labels = {
      {"exported_user", "alice"}, {"node_name", "n1"}, {"uid", "1000"}, {"user", "x"}, {"zone", "package"}};
  const auto series = EnergySeriesOf(By::kUser, "kepler_user_cpu_joules_total", labels);
  ASSERT_TRUE(series);
  EXPECT_THAT(series->texts, ElementsAre(std::pair("uid", "1000"), std::pair("user", "alice")));
}

TEST(PrometheusSeries, NamesOfPods_AreNotThoseOfTheTarget) {
  const Labels target = {{"job", "kepler"}, {"namespace", "kepler"}, {"pod", "kepler-x2c4"}};
  const auto names = [&](Labels labels) {
    labels.insert(labels.end(), {{"node_name", "n1"}, {"pod_id", "id"}, {"zone", "package"}});
    auto series = *EnergySeriesOf(By::kPod, "kepler_pod_cpu_joules_total", labels);
    AddPodNames(labels, target, series);
    std::string all;
    for (const auto& [name, value] : series.texts) all += name + "=" + value + " ";
    return all;
  };
  EXPECT_EQ(names({{"namespace", "shop"}, {"pod", "web"}}), "pod_id=id pod_name=web pod_namespace=shop ");
  EXPECT_EQ(
      names({{"exported_namespace", "shop"}, {"exported_pod", "web"}, {"namespace", "kepler"}, {"pod", "kepler-x2c4"}}),
      "pod_id=id pod_name=web pod_namespace=shop ");
  EXPECT_EQ(names({{"namespace", "kepler"}, {"pod", "kepler-x2c4"}}), "pod_id=id ");
  EXPECT_EQ(names({{"namespace", "kepler"}, {"pod", "kepler-x2c4"}, {"pod_name", "web"}, {"pod_namespace", "shop"}}),
            "pod_id=id pod_name=web pod_namespace=shop ");
}

}  // namespace
}  // namespace kepler::report
