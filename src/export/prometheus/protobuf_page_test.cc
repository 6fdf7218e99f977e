// The protobuf page, decoded and compared with the text page of the same snapshot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include "base/text.h"
#include "export/prometheus/render_test_util.h"
#include "export/prometheus/sample_writer.h"

namespace kepler::prometheus {
namespace {

using protozero::pbf_reader;
using ::testing::ElementsAre;

struct Metric {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = -1;
  bool counter = false;
  WallTime created{};  // {}: none
};
struct DecodedFamily {
  std::string help;
  std::string unit;
  int32_t type = -1;
  std::vector<Metric> metrics;
};

WallTime DecodeTime(pbf_reader time) {
  std::chrono::seconds seconds{0};
  Nanoseconds nanos{0};
  while (time.next()) {
    if (time.tag() == 1)
      seconds = std::chrono::seconds(time.get_int64());
    else if (time.tag() == 2)
      nanos = Nanoseconds(time.get_int32());
  }
  return WallTime(seconds + nanos);
}

Metric DecodeMetric(pbf_reader in) {
  Metric metric;
  while (in.next()) {
    const auto field = in.tag();  // 0 once the field is read, in debug builds
    pbf_reader part = in.get_message();
    if (field == 1) {
      auto& [name, value] = metric.labels.emplace_back();
      while (part.next()) {
        std::string& text = part.tag() == 1 ? name : value;
        text = part.get_string();
      }
      continue;
    }
    metric.counter = field == 3;
    while (part.next()) {
      if (part.tag() == 1)
        metric.value = part.get_double();
      else if (part.tag() == 3)
        metric.created = DecodeTime(part.get_message());
    }
  }
  return metric;
}

std::map<std::string, DecodedFamily> Decode(const std::string& bytes) {
  std::map<std::string, DecodedFamily> families;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    const auto size = static_cast<size_t>(protozero::decode_varint(&at, end));
    if (size > static_cast<size_t>(end - at)) throw std::runtime_error("cut");
    pbf_reader in(at, size);
    at += size;
    std::string name;
    DecodedFamily family;
    while (in.next()) {
      if (in.tag() == 1)
        name = in.get_string();
      else if (in.tag() == 2)
        family.help = in.get_string();
      else if (in.tag() == 3)
        family.type = in.get_enum();
      else if (in.tag() == 4)
        family.metrics.push_back(DecodeMetric(in.get_message()));
      else if (in.tag() == 5)
        family.unit = in.get_string();
      else
        ADD_FAILURE() << "field " << in.tag();
    }
    EXPECT_TRUE(families.emplace(name, std::move(family)).second) << name << " twice";
  }
  return families;
}

std::map<std::string, DecodedFamily> DecodedPage(const snapshot::Snapshot& s, const RenderOptions& options = Options(),
                                                 const Extras& extras = {}) {
  return Decode(WholeText(RenderPage(s, options, extras, Format::kProtobuf)));
}

/// The decoded families as lines of text 0.0.4, in the order of the families.
std::vector<std::string> TextLines(const std::map<std::string, DecodedFamily>& families) {
  std::vector<std::string> lines;
  for (const auto& [name, family] : families) {
    lines.push_back("# HELP " + name + " " + family.help);
    lines.push_back("# TYPE " + name + (family.type == 0 ? " counter" : " gauge"));
    for (const Metric& metric : family.metrics) {
      EXPECT_EQ(metric.counter, family.type == 0) << name;
      std::string line = name;
      char separator = '{';
      for (const auto& [label, value] : metric.labels) {
        line.append(1, separator).append(label).append("=\"");
        AppendLabelValue(line, value);
        line += '"';
        separator = ',';
      }
      char number[kNumberRoom];
      line += (metric.labels.empty() ? " " : "} ") + std::string(number, WriteNumber(number, metric.value));
      lines.push_back(line);
    }
  }
  return lines;
}

/// Values as doubles: text shows 7000000000 where the shortest text of a double is 7e+09.
std::vector<std::string> WithDoubles(std::vector<std::string> lines) {
  for (std::string& line : lines) {
    if (line[0] == '#') continue;
    const size_t at = line.rfind(' ') + 1;
    char number[kNumberRoom];
    const auto value = ParseNumber<double>(std::string_view(line).substr(at));
    if (value) line.replace(at, std::string::npos, std::string(number, WriteNumber(number, *value)));
    EXPECT_TRUE(value) << line;
  }
  return lines;
}

TEST(ProtobufPage, EveryFamilyLabelAndValue_AreThoseOfTheText) {
  auto s = Full();
  s.processes.identity[0] = std::make_shared<const snapshot::ProcessIdentity>(
      testing::Process(42, "a\"b\\\n\xFF", "", std::string(200, 'x')));
  s.pods.identity[0] = std::make_shared<const snapshot::PodIdentity>(snapshot::PodIdentity{
      "p1", "shop", "default", std::make_shared<const snapshot::LabelList>(snapshot::LabelList{{"label_a", "b"}})});
  const status::SelfStatus self;
  const status::HttpStatus http;
  const Extras extras{.self = &self, .http = &http};
  RenderOptions kubernetes = Options();
  kubernetes.selection.labels = LabelSet::kKubernetes;
  for (const RenderOptions& options :
       {Options(), Options(kNode), RenderOptions{}, WithNames(NameSet::kV07), WithNames(NameSet::kBoth), kubernetes}) {
    std::vector<std::string> text = Lines(Text(s, options, extras));
    std::vector<std::string> decoded = TextLines(DecodedPage(s, options, extras));
    EXPECT_GT(decoded.size(), 100u);
    // Labels of pods come before the zone in text; their order does not matter.
    for (auto* lines : {&text, &decoded})
      std::erase_if(*lines, [](const std::string& line) { return line.find("label_a=") != std::string::npos; });
    EXPECT_EQ(decoded, WithDoubles(text));
  }
  const Metric pod = DecodedPage(s).at("kepler_pod_cpu_joules_total").metrics.at(0);
  EXPECT_THAT(pod.labels, ::testing::Contains(std::pair<std::string, std::string>("label_a", "b")));
  EXPECT_THAT(pod.labels, ::testing::Contains(std::pair<std::string, std::string>("zone", "package")));
}

TEST(ProtobufPage, Units_AreThoseOfTheNames) {
  const auto page = DecodedPage(Full());
  EXPECT_EQ(page.at("kepler_process_cpu_joules_total").unit, "joules");
  EXPECT_EQ(page.at("kepler_build_info").unit, "");
}

TEST(ProtobufPage, EveryCounter_HasItsStart) {
  auto s = Full();
  s.started = BootTime(std::chrono::seconds(50));
  s.begun = BootTime(std::chrono::seconds(60));
  s.node[0].begin = BootTime(std::chrono::seconds(51));
  s.processes.begin = {BootTime(std::chrono::milliseconds(55'250)), BootTime(std::chrono::seconds(52))};
  const auto page = DecodedPage(s);
  for (const auto& [name, family] : page)
    for (const Metric& metric : family.metrics) EXPECT_EQ(metric.created != WallTime{}, family.type == 0) << name;
  const auto starts = [&](const std::string& name) {
    std::vector<Nanoseconds> since;
    for (const Metric& metric : page.at(name).metrics) since.push_back(s.taken_at - metric.created);
    return since;
  };
  using std::chrono::milliseconds;
  EXPECT_THAT(starts("kepler_process_cpu_seconds_total"), ElementsAre(milliseconds(4750), milliseconds(8000)));
  EXPECT_THAT(starts("kepler_process_cpu_joules_total"),
              ElementsAre(milliseconds(4750), milliseconds(4750), milliseconds(8000), milliseconds(8000)));
  EXPECT_THAT(starts("kepler_node_cpu_joules_total"), ElementsAre(milliseconds(9000), milliseconds(10'000)));
  EXPECT_THAT(starts("kepler_node_cpu_seconds_total"), ElementsAre(milliseconds(10'000)));
}

TEST(ProtobufPage, CountersOfTheKernel_StartWithTheMachine) {
  auto s = Full();
  s.started = BootTime(std::chrono::seconds(50));
  status::SelfStatus self;
  self.network_receive_bytes = 1000;
  const auto page = DecodedPage(s, Options(), {.self = &self});
  EXPECT_EQ(s.taken_at - page.at("process_network_receive_bytes_total").metrics.at(0).created,
            std::chrono::seconds(60) - Nanoseconds(1));
  EXPECT_EQ(s.taken_at - page.at("process_cpu_seconds_total").metrics.at(0).created, std::chrono::seconds(10));
}

TEST(ProtobufPage, LargeNumbers_AreTheNearestDoubles) {
  auto s = Full();
  for (int64_t odd = 1; odd < 400; odd += 2) {
    s.node[0].total = Energy::Microjoules(9'100'000'000'000'001 + odd * 8'123'457);
    s.taken_at = WallTime(Nanoseconds(1'795'701'234'000'000'000 + odd * 123'456'789));
    char text[kNumberRoom];
    const auto page = DecodedPage(s, Options(kNode));
    EXPECT_EQ(page.at("kepler_node_cpu_joules_total").metrics.at(0).value,
              ParseNumber<double>({text, WriteNumber(text, s.node[0].total)}));
    EXPECT_EQ(page.at("kepler_snapshot_timestamp_seconds").metrics.at(0).value,
              ParseNumber<double>({text, WriteNumber(text, s.taken_at.time_since_epoch())}));
  }
}

TEST(ProtobufPage, StartBeforeTheEpoch_IsValid) {
  auto s = Full();
  s.taken_at = WallTime(std::chrono::milliseconds(9500));
  s.begun = BootTime(std::chrono::seconds(11));
  const auto page = DecodedPage(s);
  EXPECT_EQ(page.at("kepler_node_cpu_joules_total").metrics.at(0).created, WallTime(std::chrono::milliseconds(-1500)));
}

RC_GTEST_PROP(ProtobufPage, AnyLabelValue_IsValidUtf8AndThatOfTheText, (const std::string& comm)) {
  auto s = testing::EmptySnapshot({"package"});
  testing::AddRow(s.processes, testing::Process(1, comm), {Energy::Joules(1)});
  const auto page = DecodedPage(s, {.node_name = comm});
  const auto& labels = page.at("kepler_process_cpu_joules_total").metrics.at(0).labels;
  const std::string valid = SanitizeUtf8(comm, std::string::npos);
  RC_ASSERT(labels.at(0).first == "comm");
  RC_ASSERT(labels.at(0).second == valid);
}

TEST(ProtobufPage, ManyRows_PiecesLikeText) {
  const auto s = testing::BusySnapshot({"package", "dram"}, 2'000);
  const Page page = RenderPage(s, Options(), {}, Format::kProtobuf);
  EXPECT_GT(page.pieces.size(), 3u);
  EXPECT_EQ(Decode(WholeText(page)).at("kepler_process_cpu_joules_total").metrics.size(), 4'000u);
}

TEST(ProtobufPage, CutShort_IsSeen) {
  const std::string whole = WholeText(RenderPage(Full(), Options(), {}, Format::kProtobuf));
  EXPECT_ANY_THROW(Decode(whole.substr(0, whole.size() - 1)));
}

}  // namespace
}  // namespace kepler::prometheus
