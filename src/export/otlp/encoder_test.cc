#include "export/otlp/encoder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <isa-l/igzip_lib.h>

#include "export/otlp/decoded_test_util.h"
#include "testing/snapshot_builder.h"

namespace kepler::otlp {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Plain bytes of a gzip text.
std::string Inflate(const std::string& gzip) {
  std::string plain(size_t{8} << 20, '\0');
  inflate_state state{};
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(gzip.data()));
  state.avail_in = static_cast<uint32_t>(gzip.size());
  state.next_out = reinterpret_cast<uint8_t*>(plain.data());
  state.avail_out = static_cast<uint32_t>(plain.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH) << "the checksum was verified";
  plain.resize(plain.size() - state.avail_out);
  return plain;
}

class EncoderTest : public ::testing::Test {
 protected:
  EncoderTest() {
    s_->begun = BootTime(seconds(1000));
    s_->started = BootTime(seconds(900));
  }
  std::vector<push::Request> Encode(EncoderOptions options = {.compression = Compression::kNone}) {
    if (options.resource.empty()) options.resource = {{"host.name", "n1"}, {"service.name", "kepler"}};
    options.selection.build.version = "1.2";
    Encoder encoder(std::move(options), [this] { return reading_; });
    std::vector<push::Request> requests;
    encoder.Encode([&](push::Request request) { requests.push_back(std::move(request)); });
    encoder.Encode([&](const push::Request&) { ADD_FAILURE() << "the same snapshot a second time"; });
    return requests;
  }
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const push::Request& request : Encode()) {
      const auto more = LinesOf(*request.body);
      EXPECT_EQ(request.points, more.size());
      lines.insert(lines.end(), more.begin(), more.end());
    }
    return lines;
  }

  std::shared_ptr<snapshot::Snapshot> s_ =
      std::make_shared<snapshot::Snapshot>(testing::EmptySnapshot({"package", "dram"}));
  series::Reading reading_{.snapshot = s_};
};

TEST_F(EncoderTest, NoSnapshot_NoRequest) {
  reading_.snapshot = nullptr;
  EXPECT_THAT(Encode(), IsEmpty());
}

TEST_F(EncoderTest, NodeEnergy_IsHardwareWithExactJoulesAndStart) {
  s_->node[0].total = Energy::Microjoules(4'000'000'000'000'001);
  s_->node[1].begin = BootTime(seconds(950));
  s_->node[1].power = Power::Watts(2.5);
  const auto lines = Lines();
  EXPECT_THAT(lines, Contains("hw.energy[J] sum {path=aggregated-package hw.id=package "
                              "hw.type=cpu} "
                              "4000000000.000001 1699999900000000000..1700000000000000000"));
  EXPECT_THAT(lines, Contains("hw.energy[J] sum {path=aggregated-dram hw.id=dram hw.type=memory} 0 "
                              "1699999950000000000..1700000000000000000"));
  EXPECT_THAT(lines, Contains("hw.power[W] gauge {path=aggregated-dram "
                              "hw.id=dram hw.type=memory} 2.5 "
                              "0..1700000000000000000"));
}

TEST_F(EncoderTest, Delta_IsTheGrowthSinceTheRequestBefore) {
  Encoder encoder({.compression = Compression::kNone, .temporality = Temporality::kDelta}, [this] { return reading_; });
  std::vector<std::string> lines;
  const auto encode = [&] {
    lines.clear();
    encoder.Encode([&](const push::Request& request) {
      const auto more = LinesOf(*request.body, 1);
      lines.insert(lines.end(), more.begin(), more.end());
    });
  };
  const std::string package = "hw.energy[J] sum {path=aggregated-package hw.id=package hw.type=cpu} ";
  s_->node[0].total = Energy::Microjoules(4'000'000'000'000'001);
  encode();
  EXPECT_THAT(lines, Contains(package + "4000000000.000001 1699999900000000000..1700000000000000000"));
  s_->sequence = 2;
  s_->taken_at += seconds(5);
  s_->node[0].total += Energy::Microjoules(3);
  s_->node[0].power = Power::Watts(2.5);
  encode();
  EXPECT_THAT(lines, Contains(package + "3e-06 1700000000000000000..1700000005000000000"));
  EXPECT_THAT(lines, Contains("hw.power[W] gauge {path=aggregated-package hw.id=package hw.type=cpu} 2.5 "
                              "0..1700000005000000000"));
}

/// A departed row never returns with the same begin. So a total that is sent again shows that it was forgotten, and the
/// names of ended jobs need no memory for good.
TEST_F(EncoderTest, Delta_NamespaceThatDeparted_IsForgotten) {
  Encoder encoder({.compression = Compression::kNone, .temporality = Temporality::kDelta}, [this] { return reading_; });
  s_->pod_informer.emplace();
  std::vector<std::string> lines;
  const auto encode = [&] {
    lines.clear();
    s_->sequence += 1;
    s_->taken_at += seconds(5);
    encoder.Encode([&](const push::Request& request) {
      const auto more = LinesOf(*request.body, 1);
      lines.insert(lines.end(), more.begin(), more.end());
    });
  };
  const auto has_shop = [](const std::string& joules) -> ::testing::Matcher<const std::vector<std::string>&> {
    return Contains(AllOf(HasSubstr("{k8s.namespace.name=shop "), HasSubstr("zone=package} " + joules + " ")));
  };
  const snapshot::RollUp shop{
      2, {std::make_shared<const snapshot::OwnerIdentity>("shop")}, {Energy::Joules(3), {}}, {{}}};
  s_->namespaces = shop;
  encode();
  EXPECT_THAT(lines, has_shop("3"));
  encode();
  EXPECT_THAT(lines, has_shop("0"));
  s_->namespaces = {};
  encode();
  s_->namespaces = shop;
  encode();
  EXPECT_THAT(lines, has_shop("3"));
}

TEST_F(EncoderTest, TextsThatAreNotUtf8_AreRepaired) {
  s_->zones[0].name = "pack\xFF";
  const auto requests = Encode({.resource = {{"team\xFE", "shop\xFD"}}, .compression = Compression::kNone});
  ASSERT_EQ(requests.size(), 1U);
  const std::string& body = *requests[0].body;
  for (const char* text : {"team\uFFFD", "shop\uFFFD", "pack\uFFFD"}) EXPECT_THAT(body, HasSubstr(text));
  for (const char* text : {"team\xFE", "shop\xFD", "pack\xFF"}) EXPECT_THAT(body, Not(HasSubstr(text)));
}

TEST_F(EncoderTest, Host_HasItsOwnMetrics) {
  s_->zones[1] = {.name = "platform", .path = "acpi", .source = "acpi", .domain = status::Domain::kPlatform};
  s_->node[1].total = Energy::Joules(7);
  EXPECT_THAT(Lines(), Contains(HasSubstr("hw.host.energy[J] sum {path=acpi hw.id=platform} 7 ")));
}

TEST_F(EncoderTest, Workloads_HaveConventionalAttributesAndOneStreamAcrossTheirEnd) {
  using snapshot::State;
  testing::AddRow(s_->processes, testing::Process(42, "sh", "/bin/sh", "c1"), {Energy::Microjoules(1)}, {0.5},
                  seconds(9), State::kTerminated);
  testing::AddRow(s_->containers, snapshot::ContainerIdentity{"c1", "web", "containerd", "p1"}, {}, {}, seconds(3));
  testing::AddRow(s_->pods, snapshot::PodIdentity{.id = "p1",
                                                  .name = "shop",
                                                  .name_space = "default",
                                                  .labels = std::make_shared<const snapshot::LabelList>(
                                                      snapshot::LabelList{{"label_tier", "front"}})});
  s_->processes.begin = {BootTime(seconds(990))};
  const auto lines = Lines();
  const std::string process =
      "process.executable.name=sh container.id=c1 "
      "process.executable.path=/bin/sh process.pid=42 type=container";
  const std::string times = " 1699999990000000000..1700000000000000000";
  EXPECT_THAT(lines,
              Contains("kepler_process_cpu_joules[J] sum {" + process + " zone=package} 0.000001" + times).Times(0))
      << "doubles are shown in short form";
  EXPECT_THAT(lines, Contains("kepler_process_cpu_joules[J] sum {" + process + " zone=package} 1e-06" + times));
  EXPECT_THAT(lines, Contains("process.cpu.time[s] sum {" + process + "} 9" + times));
  EXPECT_THAT(lines, Contains(HasSubstr("container.cpu.time[s] sum {container.id=c1 "
                                        "container.name=web k8s.pod.uid=p1 "
                                        "container.runtime.name=containerd} 3 ")));
  EXPECT_THAT(lines, Contains(HasSubstr("kepler_pod_cpu_joules[J] sum {k8s.pod.uid=p1 k8s.pod.name=shop "
                                        "k8s.namespace.name=default label_tier=front zone=dram} 0 ")));
  EXPECT_THAT(lines, Not(Contains(AllOf(HasSubstr("cpu"), HasSubstr("state=")))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("kepler_process_state_info[] gauge"), HasSubstr("state=terminated"))));
}

TEST_F(EncoderTest, Namespaces_HaveTheConventionalAttribute) {
  s_->pod_informer.emplace();
  s_->namespaces = {2, {std::make_shared<const snapshot::OwnerIdentity>("shop")}, {Energy::Joules(3), Energy{}}, {{}}};
  EXPECT_THAT(Lines(), Contains(AllOf(HasSubstr("[J] sum {k8s.namespace.name=shop "), HasSubstr("zone=package} 3 "))));
}

TEST_F(EncoderTest, AgentMetrics_KeepTheirNamesAndIntegers) {
  s_->pipeline.ticks = 12;
  const auto lines = Lines();
  EXPECT_THAT(lines, Contains(HasSubstr("kepler_ticks[] sum {} 12 ")));
  EXPECT_THAT(lines, Contains(HasSubstr("kepler_source_up[] gauge {source=procfs} 1 ")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("exposed_series"))));
}

TEST_F(EncoderTest, Stale_HasNoWatts) {
  reading_.stale = true;
  EXPECT_THAT(Lines(), Not(Contains(HasSubstr("[W]"))));
}

TEST_F(EncoderTest, WallClockBeforeTheStart_StartIsNotAfterTheSample) {
  s_->node[0].begin = BootTime(seconds(2000));
  EXPECT_THAT(Lines(), Contains(HasSubstr("hw.id=package hw.type=cpu} 0 "
                                          "1700000000000000000..1700000000000000000")));
}

TEST_F(EncoderTest, ResourceAndScope_AreInEachMessage) {
  const auto requests = Encode();
  ASSERT_EQ(requests.size(), 1U);
  for (const WireMessage& message : WireMessage(*requests[0].body).All(1)) {
    EXPECT_EQ(AttributesOf(message.One(1), 1), "host.name=n1 service.name=kepler");
    EXPECT_EQ(message.One(2).One(1).Text(1), "kepler");
    EXPECT_EQ(message.One(2).One(1).Text(2), "1.2");
  }
}

TEST_F(EncoderTest, LargeNode_RequestsAreBoundedAndLoseNothing) {
  *s_ = testing::BusySnapshot({"package", "core", "dram"}, 10'000);
  const auto plain = Encode();
  const auto packed = Encode({.compression = Compression::kGzip});
  ASSERT_GT(plain.size(), 1U);
  ASSERT_EQ(plain.size(), packed.size());
  std::set<std::string> unique;
  uint64_t points = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_LE(plain[i].body->size(), RequestBuilder::kMaxBytes);
    EXPECT_LT(packed[i].body->size(), plain[i].body->size() / 4);
    EXPECT_EQ(Inflate(*packed[i].body), *plain[i].body);
    points += plain[i].points;
    for (const std::string& line : LinesOf(*plain[i].body)) unique.insert(line);
  }
  EXPECT_EQ(unique.size(), points);
  const uint64_t all = series::CountSamples(*s_, {.state_label = false}, {});
  EXPECT_EQ(points, all - 3) << "without kepler_exposed_series and the two errors of /metrics";
}

}  // namespace
}  // namespace kepler::otlp
