#include "export/prometheus/sample_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "base/text.h"
#include "export/prometheus/render_test_util.h"
#include "export/prometheus/sink.h"

namespace kepler::prometheus {

using namespace series;

namespace {

std::string Escaped(std::string_view value) {
  std::string out;
  AppendLabelValue(out, value);
  return out;
}

TEST(AppendLabelValue, Plain_Unchanged) {
  EXPECT_EQ(Escaped("/usr/bin/foo bar"), "/usr/bin/foo bar");
  EXPECT_EQ(Escaped(""), "");
  EXPECT_EQ(Escaped("naïve 日本"), "naïve 日本");
}

TEST(AppendLabelValue, Special_Escaped) {
  EXPECT_EQ(Escaped("a\\b\"c\nd\té"), R"(a\\b\"c\nd)"
                                      "\té");
}

TEST(AppendLabelValue, SpecialAnywhere_Found) {
  for (size_t size = 1; size <= 24; ++size) {
    for (size_t at = 0; at < size; ++at) {
      for (const char special : {'"', '\\', '\n', '\xFF'}) {
        std::string value(size, 'a');
        value[at] = special;
        EXPECT_NE(Escaped(value), value) << int{special} << " at " << at << " of " << size;
      }
    }
  }
}

TEST(AppendLabelValue, InvalidUtf8_Replaced) {
  EXPECT_EQ(Escaped("a\xFF\"\xE6\x97"), "a\xEF\xBF\xBD\\\"\xEF\xBF\xBD\xEF\xBF\xBD");
}

RC_GTEST_PROP(AppendLabelValue, AnyBytes_StayInsideTheQuotes, (const std::string& bytes)) {
  const std::string text = Escaped(bytes);
  RC_ASSERT(IsValidUtf8(text));
  std::string unescaped;
  for (size_t i = 0; i < text.size(); ++i) {
    RC_ASSERT(text[i] != '"' && text[i] != '\n');
    if (text[i] != '\\') {
      unescaped += text[i];
      continue;
    }
    ++i;
    RC_ASSERT(i < text.size());
    unescaped += text[i] == 'n' ? '\n' : text[i];
  }
  RC_ASSERT(unescaped == SanitizeUtf8(bytes, SIZE_MAX));
}

constexpr std::array<std::string_view, 2> kLabels = {"node_name", "zone"};
constexpr std::array<std::string_view, 1> kOnlyNode = {"node_name"};
constexpr Family kJoules = {"a_joules_total", "Help", kLabels, nullptr, "joules"};
constexpr Family kBare = {"b", "Other", kOnlyNode, nullptr};

std::string Written(Format format, std::string_view node_name, const Family& family,
                    std::initializer_list<std::string_view> values) {
  GzipSink sink;
  TextBuffer buffer(sink);
  SampleWriter writer(format, node_name, buffer);
  writer.Begin(family);
  writer.Add(values, uint64_t{1});
  writer.Add(values, uint64_t{2});
  writer.End();
  buffer.Flush();
  return WholeText(std::move(sink).Finish());
}

TEST(SampleWriter, Text_HeaderOnce) {
  EXPECT_EQ(Written(Format::kText004, "n\"1", kJoules, {"core"}),
            "# HELP a_joules_total Help\n# TYPE a_joules_total counter\n"
            "a_joules_total{node_name=\"n\\\"1\",zone=\"core\"} 1\n"
            "a_joules_total{node_name=\"n\\\"1\",zone=\"core\"} 2\n");
}

TEST(SampleWriter, OpenMetrics_BaseNameUnitAndEnd) {
  EXPECT_EQ(Written(Format::kOpenMetrics100, "n", kJoules, {"core"}),
            "# HELP a_joules Help\n# TYPE a_joules counter\n# UNIT a_joules joules\n"
            "a_joules_total{node_name=\"n\",zone=\"core\"} 1\n"
            "a_joules_total{node_name=\"n\",zone=\"core\"} 2\n# EOF\n");
}

TEST(SampleWriter, NoNodeName_NoLabel) {
  EXPECT_EQ(Written(Format::kText004, "", kBare, {}), "# HELP b Other\n# TYPE b gauge\nb 1\nb 2\n");
  EXPECT_EQ(Written(Format::kText004, "", kJoules, {"core"}).substr(57),
            "a_joules_total{zone=\"core\"} 1\na_joules_total{zone=\"core\"} 2\n");
}

TEST(SampleWriter, ZonesAndFurtherLabels_AllAreShown) {
  static constexpr std::array<std::string_view, 3> kPodZone = {"node_name", "pod_id", "zone"};
  constexpr Family kPods = {"p_joules_total", "Help", kPodZone, nullptr, "joules"};
  GzipSink sink;
  TextBuffer buffer(sink);
  SampleWriter writer(Format::kText004, "n", buffer);
  writer.Begin(kPods);
  const snapshot::LabelList further = {{"label_a", "x\"y"}, {"label_b", ""}};
  const std::array<std::string_view, 1> values = {"p1"};
  const std::array<ZoneLabel, 2> zones = {{{.index = 1, .name = "dram"}, {.index = 0, .name = "core"}}};
  const std::array<Energy, 2> cells = {Energy::Joules(1), Energy::Joules(2)};
  writer.AddZones({.values = values, .further = &further}, zones, std::span<const Energy>(cells), BootTime{});
  buffer.Flush();
  const std::string text = WholeText(std::move(sink).Finish());
  EXPECT_EQ(text.substr(text.rfind("counter\n") + 8),
            "p_joules_total{node_name=\"n\",pod_id=\"p1\",label_a=\"x\\\"y\",label_b=\"\",zone=\"dram\"} 2\n"
            "p_joules_total{node_name=\"n\",pod_id=\"p1\",label_a=\"x\\\"y\",label_b=\"\",zone=\"core\"} 1\n");
}

TEST(SampleWriter, NodeNameIsTheLastLabel_ComesBehindTheValues) {
  static constexpr std::array<std::string_view, 2> kKindNode = {"kind", "node_name"};
  constexpr Family kKinds = {"k", "Help", kKindNode, nullptr};
  EXPECT_EQ(Written(Format::kText004, "n", kKinds, {"task"}).substr(29),
            "k{kind=\"task\",node_name=\"n\"} 1\nk{kind=\"task\",node_name=\"n\"} 2\n");
}

TEST(SampleWriter, LargerThanAPiece_AllOfIt) {
  const std::string huge(200'000, 'x');
  const std::string text = Written(Format::kText004, "", kJoules, {huge});
  EXPECT_EQ(text.size(), std::string_view("# HELP a_joules_total Help\n# TYPE a_joules_total counter\n").size() +
                             2 * (huge.size() + std::string_view("a_joules_total{zone=\"\"} 1\n").size()));
}

}  // namespace
}  // namespace kepler::prometheus
