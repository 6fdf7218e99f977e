// What a page leaves out: levels, watts of zones that are not fresh, collectors that are off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/prometheus/render_test_util.h"

namespace kepler::prometheus {
namespace {

using kepler::testing::AddRow;
using kepler::testing::EmptySnapshot;
using kepler::testing::Process;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RenderSelection, Levels_OnlyWhatIsAskedFor) {
  const auto s = Full();
  const std::map<uint32_t, std::string> prefixes = {{kProcess, "kepler_process_"},
                                                    {kContainer, "kepler_container_"},
                                                    {kVm, "kepler_vm_"},
                                                    {kPod, "kepler_pod_"},
                                                    {kNode, "kepler_node_cpu_active_"}};
  for (const auto& [asked, ignored] : prefixes) {
    const std::string text = Text(s, Options(asked));
    for (const auto& [level, prefix] : prefixes)
      EXPECT_EQ(text.find("\n" + prefix) != std::string::npos, level == asked) << prefix << " with " << asked;
    EXPECT_THAT(text, HasSubstr("kepler_build_info{"));
    EXPECT_THAT(text, HasSubstr("kepler_node_cpu_info{"));
  }
  const std::string pods = Text(s, Options(kPod));
  EXPECT_THAT(pods, HasSubstr("kepler_node_cpu_unlisted_joules_total{level=\"pod\""));
  EXPECT_THAT(pods, Not(HasSubstr("level=\"process\"")));
  EXPECT_THAT(pods, Not(HasSubstr("level=\"node\"")));
}

TEST(RenderSelection, Stale_NoWattsAtAnyLevel) {
  const std::string text = Text(Full(), Options(), {.stale = true});
  EXPECT_THAT(text, Not(HasSubstr("_watts{")));
  EXPECT_THAT(text, HasSubstr("kepler_process_cpu_joules_total{"));
  EXPECT_THAT(text, HasSubstr("kepler_snapshot_timestamp_seconds{"));
}

TEST(RenderSelection, ZoneNotFresh_JoulesStayWattsLeftOut) {
  auto s = Full();
  s.estimates.clear();  // the watts of their error are no power
  const std::string text = Text(s);
  for (const auto& line : Lines(text)) {
    const bool watts = line.find("_watts{") != std::string::npos;
    EXPECT_FALSE(watts && line.find("zone=\"dram\"") != std::string::npos) << line;
  }
  EXPECT_EQ(SamplesOf(text, "kepler_node_cpu_joules_total").size(), 2u);
}

TEST(RenderSelection, ZoneThatIsNoCpus_IsInNoFamilyOfTheCpu) {
  auto s = EmptySnapshot({"package", "platform"});
  s.zones[1].domain = status::Domain::kPlatform;
  AddRow(s.processes, Process(1, "a"), {Energy::Joules(1), Energy::Joules(2)}, {1, 2});
  const std::string text = Text(s, Options());
  EXPECT_THAT(text, HasSubstr("zone=\"package\"} 1\n"));
  size_t lines = 0;
  for (size_t at = text.find("zone=\"platform\""); at != std::string::npos;
       at = text.find("zone=\"platform\"", at + 1)) {
    const size_t begin = text.rfind('\n', at) + 1;
    EXPECT_EQ(text.substr(begin, text.find('{', begin) - begin).find("_cpu_"), std::string::npos);
    ++lines;
  }
  EXPECT_EQ(lines, 11u) << "joules and watts, its meter, its domains twice, and six differences that are 0";
  EXPECT_THAT(text, HasSubstr("kepler_node_platform_watts{node_name=\"n1\",path=\"aggregated-platform\""));
}

TEST(RenderSelection, Estimates_SayByWhichModelAndCountAsOne) {
  const std::string text = Text(Full());
  EXPECT_THAT(text, HasSubstr("kepler_model_info{features=\"BPFOnly\",machine=\"amd_epyc_7r13\",mae_watts=\"1.5\","
                              "mape=\"4.25\",match=\"same_processor\",name=\"mine\",node_name=\"n1\",scope=\"load\","
                              "source=\"/m/model.json\","
                              "trainer=\"linear\",zone=\"dram\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kepler_workload_model_info{features=\"BPFOnly\",machine=\"amd_epyc_7r13\","
                              "mae_watts=\"1.5\",mape=\"4.25\",match=\"same_processor\",name=\"mine\",node_name=\"n1\","
                              "source=\"/m/model.json\",trainer=\"linear\",zone=\"dram\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kepler_model_error_known{node_name=\"n1\",zone=\"dram\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("kepler_model_error_ratio{basis=\"other_machines\",node_name=\"n1\",zone=\"dram\"} 0.0425\n"));
  EXPECT_THAT(text,
              HasSubstr("kepler_model_error_watts{basis=\"other_machines\",node_name=\"n1\",zone=\"dram\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("kepler_model_predictions_total{node_name=\"n1\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("kepler_model_prediction_seconds_total{node_name=\"n1\"} 0.00002\n"));
  EXPECT_THAT(text, HasSubstr("kepler_models{node_name=\"n1\"} 2\n"));
  EXPECT_THAT(Text(EmptySnapshot({"package"})), Not(HasSubstr("kepler_model")));
}

TEST(RenderSelection, Node_ShowsWhatModelsSeeOfIt) {
  const std::string text = Text(Full());
  EXPECT_THAT(text, HasSubstr("kepler_node_cpu_seconds_total{node_name=\"n1\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_softirqs_total{node_name=\"n1\",type=\"net_rx\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_cpu_steal_seconds_total{node_name=\"n1\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_cpus{node_name=\"n1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_context_switches_total{node_name=\"n1\"} 11\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_page_faults_total{node_name=\"n1\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_memory_used_bytes{node_name=\"n1\"} 4096\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_cpu_instructions_total{node_name=\"n1\"} 7000\n"));
  const std::string unknown = Text(EmptySnapshot({"package"}));
  EXPECT_THAT(unknown, Not(HasSubstr("kepler_node_softirqs_total{")));
  EXPECT_THAT(unknown, Not(HasSubstr("kepler_node_page_faults_total{")));
  EXPECT_THAT(unknown, Not(HasSubstr("kepler_node_cpu_cycles_total{")));
}

TEST(RenderSelection, ZonesOfOneName_AreOneDifference) {
  auto s = EmptySnapshot({"gpu", "gpu"});
  s.zones[1] = {"gpu", "g", "nvml", status::Domain::kGpu};
  s.conservation_error[snapshot::kLevels] = {Energy::Microjoules(1), Energy::Microjoules(2)};
  const std::string text = Text(s, Options());
  const std::string line = "kepler_conservation_error_joules{level=\"node\",node_name=\"n1\",zone=\"gpu\"}";
  EXPECT_THAT(text, HasSubstr(line + " 0.000003\n"));
  EXPECT_EQ(text.find(line), text.rfind(line));
}

TEST(RenderSelection, NoFreshZone_NoWattsHeaders) {
  auto s = Full();
  s.node[0].fresh = false;
  s.estimates.clear();
  EXPECT_THAT(Text(s), Not(HasSubstr("_watts{")));
}

TEST(RenderSelection, NoMeter_StillAnExposition) {
  auto s = EmptySnapshot({});
  AddRow(s.processes, Process(1, "init"), {}, {}, std::chrono::seconds(1));
  const std::string text = Text(s);
  EXPECT_THAT(text, HasSubstr("kepler_process_cpu_seconds_total{"));
  EXPECT_THAT(text, Not(HasSubstr("joules_total")));
}

TEST(RenderSelection, HttpServer_OnlyWhereThereIsOne) {
  EXPECT_THAT(Text(Full()), Not(HasSubstr("kepler_http_")));
  EXPECT_THAT(Text(Full()), Not(HasSubstr("kepler_config_")));
  const status::HttpStatus http{
      .connections = 1,
      .connections_refused = 2,
      .connections_evicted = 8,
      .requests = 3,
      .requests_denied =
          {.backoff = 4, .busy = 9, .no_credentials = 10, .overload = 13, .password = 11, .rate_limit = 12},
      .timeouts = 5,
      .accept_errors = 6,
      .handshake_errors = 7,
      .reload_successful = false,
      .reload_success = WallTime(std::chrono::seconds(1'700'000'000)),
      .certificate_expiry = WallTime(std::chrono::seconds(1'800'000'000))};
  const auto lines = Lines(Text(Full(), Options(), {.http = &http}));
  for (const char* line :
       {R"(kepler_http_connections_total{node_name="n1"} 1)",
        R"(kepler_http_connections_refused_total{node_name="n1"} 2)",
        R"(kepler_http_connections_evicted_total{node_name="n1"} 8)", R"(kepler_http_requests_total{node_name="n1"} 3)",
        R"(kepler_http_requests_denied_total{node_name="n1",reason="backoff"} 4)",
        R"(kepler_http_requests_denied_total{node_name="n1",reason="busy"} 9)",
        R"(kepler_http_requests_denied_total{node_name="n1",reason="no_credentials"} 10)",
        R"(kepler_http_requests_denied_total{node_name="n1",reason="overload"} 13)",
        R"(kepler_http_requests_denied_total{node_name="n1",reason="password"} 11)",
        R"(kepler_http_requests_denied_total{node_name="n1",reason="rate_limit"} 12)",
        R"(kepler_http_timeouts_total{node_name="n1"} 5)", R"(kepler_config_last_reload_successful{node_name="n1"} 0)",
        R"(kepler_config_last_reload_success_timestamp_seconds{node_name="n1"} 1700000000)",
        R"(kepler_http_tls_certificate_expiry_timestamp_seconds{node_name="n1"} 1800000000)",
        R"(kepler_http_accept_errors_total{node_name="n1"} 6)",
        R"(kepler_http_handshake_errors_total{node_name="n1"} 7)"})
    EXPECT_THAT(lines, Contains(line));
}

TEST(RenderSelection, LogLinesDropped_AreShown) {
  EXPECT_THAT(Lines(Text(Full(), Options(), {.log_lines_dropped = 5})),
              Contains(R"(kepler_log_lines_dropped_total{node_name="n1"} 5)"));
}

TEST(RenderSelection, ProcessCollector_OnlyWhenOn) {
  const status::SelfStatus self{.cpu = std::chrono::milliseconds(2500),
                                .open_fds = 9,
                                .max_fds = 1024,
                                .virtual_memory_bytes = 3,
                                .virtual_memory_max_bytes = UINT64_MAX,
                                .resident_memory_bytes = 12'345'678,
                                .start_time = WallTime(std::chrono::milliseconds(1'700'000'000'500))};
  EXPECT_THAT(Text(Full()), Not(HasSubstr("\nprocess_")));
  const auto lines = Lines(Text(Full(), Options(kNode), {.self = &self}));
  for (const char* line : {"process_cpu_seconds_total 2.5", "process_open_fds 9", "process_max_fds 1024",
                           "process_virtual_memory_bytes 3", "process_virtual_memory_max_bytes 18446744073709551615",
                           "process_resident_memory_bytes 12345678", "process_start_time_seconds 1700000000.5"})
    EXPECT_THAT(lines, Contains(line));
  EXPECT_THAT(lines, Not(Contains(::testing::StartsWith("process_network"))));
}

TEST(Render, IdleZone_HasFamiliesOfItsOwn) {
  auto s = Full();
  s.zones[1] = s.zones[0];
  s.zones[1].domain = status::Domain::kIdleCpu;
  for (const auto payers : {snapshot::IdlePayers::kByUse, snapshot::IdlePayers::kByRequest}) {
    s.idle_payers = payers;
    const auto families = FamiliesIn(Text(s));
    const bool by_use = payers == snapshot::IdlePayers::kByUse;
    EXPECT_EQ(families.contains("kepler_process_cpu_idle_joules_total"), by_use);
    EXPECT_EQ(families.contains("kepler_vm_cpu_idle_joules_total"), by_use);
    EXPECT_TRUE(families.contains("kepler_container_cpu_idle_joules_total"));
    EXPECT_TRUE(families.contains("kepler_pod_cpu_idle_joules_total"));
    EXPECT_EQ(SamplesOf(Text(s), "kepler_node_cpu_idle_unlisted_joules_total").size(), by_use ? 20U : 8U);
    EXPECT_EQ(SamplesOf(Text(s), "kepler_container_cpu_joules_total").size(), s.containers.rows());
    EXPECT_EQ(SamplesOf(Text(s), "kepler_node_energy_source_info").size(), 1U);
  }
}

}  // namespace
}  // namespace kepler::prometheus
