#include "export/web/live_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "export/series/family.h"
#include "export/web/page_assets.h"
#include "testing/snapshot_builder.h"

namespace kepler::web {
namespace {

using snapshot::Level;
using ::testing::HasSubstr;
using ::testing::Not;

std::string SectionOf(const snapshot::Snapshot& snapshot, api::Query query = {}, uint32_t gates = series::kAllLevels) {
  query.limit = kPageRows;
  return LiveSection({.snapshot = snapshot, .age_seconds = 2, .gates = gates, .query = std::move(query)});
}

TEST(LiveSection, ZonesAndRows) {
  auto s = testing::EmptySnapshot({"package", "platform", "package"});
  s.zones[1].domain = status::Domain::kPlatform;
  s.zones[2].domain = status::Domain::kIdleCpu;
  s.node[0].power = Power::Watts(12.34);
  s.node[0].active_power = Power::Watts(10);
  s.node[0].idle_power = Power::Watts(2.34);
  s.node[0].total = Energy::Microjoules(1'500'001);
  testing::AddRow(s.processes, testing::Process(7, "make"), {Energy::Joules(3)}, {1.25}, std::chrono::seconds(9));
  testing::AddRow(s.processes, testing::Process(8, "old"), {}, {}, {}, snapshot::State::kTerminated);
  const std::string html = SectionOf(s);
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">package</th><td>12.3</td><td>10.0</td><td>2.34</td><td>1.50</td>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">platform</th><td>0.00</td><td>–</td><td>–</td>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">make (7)</th><td>1.25</td><td>3.00</td><td>9.0</td>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">old (8)</th><td>ended</td>"));
  EXPECT_THAT(html, HasSubstr("2023-11-14 22:13:20 UTC</time>, <span id=\"age\">2</span> s old"));
}

TEST(LiveSection, LinksKeepTheSearch_AndTheLevelIsMarked) {
  const std::string html =
      SectionOf(testing::EmptySnapshot({"package"}), {.level = Level::kPod, .sort = api::Sort::kCpu, .search = "a b"});
  EXPECT_THAT(html, HasSubstr("data-query=\"level=pod&amp;sort=cpu&amp;search=a%20b&amp;limit=20\""));
  EXPECT_THAT(html, HasSubstr("<a href=\"?level=pod&amp;sort=cpu&amp;search=a%20b\" aria-current=\"page\">pod</a>"));
  EXPECT_THAT(html, HasSubstr("<a href=\"?level=vm&amp;sort=cpu&amp;search=a%20b\">vm</a>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" aria-sort=\"descending\"><a"));
  EXPECT_THAT(html, HasSubstr("type=\"search\" maxlength=\"64\" value=\"a b\">"));
}

TEST(LiveSection, HostileNamesAreText) {
  auto s = testing::EmptySnapshot({"<zone>"});
  const std::string hostile = "\"><script>alert(1)</script>'\x1b\xff";
  testing::AddRow(s.processes, testing::Process(1, hostile, "", hostile));
  testing::AddRow(s.containers, snapshot::ContainerIdentity{hostile, hostile, hostile, hostile});
  testing::AddRow(s.pods, snapshot::PodIdentity{.id = hostile, .name = hostile, .name_space = hostile});
  for (const Level level : api::AllLevels()) {
    const std::string html = SectionOf(s, {.level = level, .search = hostile, .under = "'\"><b>"});
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, Not(HasSubstr("<zone")));
    EXPECT_THAT(html, Not(HasSubstr("<b>")));
    EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  }
  EXPECT_THAT(SectionOf(s), HasSubstr("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;"));
}

TEST(LiveSection, SourcesOfZones_AndAFakeMeterSaysSo) {
  auto s = testing::EmptySnapshot({"package", "dram", "platform"});
  const std::string note = "The fake meter is in use";
  EXPECT_THAT(SectionOf(s), AllOf(HasSubstr(note), HasSubstr("<td>simulated</td>")));
  for (auto& zone : s.zones) zone.source = "rapl";
  s.zones[2].source = "model";
  EXPECT_THAT(SectionOf(s), AllOf(Not(HasSubstr(note)), HasSubstr(">measured</td>"), HasSubstr(">estimated</td>"),
                                  Not(HasSubstr("simulated"))));
}

TEST(LiveSection, SaysHowManyRowsThereAreAndMatch) {
  auto s = testing::EmptySnapshot({"package"});
  const auto count = [&](api::Query query = {}) {
    const std::string html = SectionOf(s, std::move(query));
    const auto begin = html.rfind("<p>", html.find("id=\"count\""));
    return html.substr(begin, html.find(". Energy", begin) - begin);
  };
  EXPECT_EQ(count(), "<p>Processes: <span id=\"count\">none</span>");
  EXPECT_EQ(count({.level = Level::kVm}), "<p>VMs: <span id=\"count\">none</span>");
  for (int pid = 1; pid <= 20; ++pid) testing::AddRow(s.processes, testing::Process(pid, pid == 7 ? "make" : "sh"));
  EXPECT_EQ(count(), "<p>Processes: <span id=\"count\">20</span>");
  EXPECT_EQ(count({.search = "make"}), "<p>Processes: <span id=\"count\">20, 1 match</span>");
  EXPECT_EQ(count({.search = "vim"}), "<p>Processes: <span id=\"count\">20, none match</span>");
  for (int pid = 21; pid <= 40; ++pid) testing::AddRow(s.processes, testing::Process(pid, "cc"));
  EXPECT_EQ(count(), "<p>Processes: <span id=\"count\">40, the first 20 are listed</span>");
  for (int pid = 41; pid <= 45; ++pid) testing::AddRow(s.processes, testing::Process(pid, "cc"));
  EXPECT_EQ(count({.search = "cc"}), "<p>Processes: <span id=\"count\">45, 25 match, the first 20 are listed</span>");
}

TEST(LiveSection, WithoutKubernetes_SaysWhatNamesNeed) {
  auto s = testing::EmptySnapshot({"package"});
  const std::string hint = "Set kube.enabled";
  EXPECT_THAT(SectionOf(s, {.level = Level::kPod}), HasSubstr(hint));
  EXPECT_THAT(SectionOf(s, {.level = Level::kContainer}), Not(HasSubstr(hint)));
  s.pod_informer.emplace();
  EXPECT_THAT(SectionOf(s, {.level = Level::kPod}), Not(HasSubstr(hint)));
}

TEST(LiveSection, StaleFigures_NoWatts) {
  auto s = testing::EmptySnapshot({"package"});
  testing::AddRow(s.processes, testing::Process(7, "make"), {}, {1.25});
  const std::string html =
      LiveSection({.snapshot = s, .stale = true, .gates = series::kProcess, .query = {.limit = 5}, .problem = "<x>"});
  EXPECT_THAT(html, HasSubstr("The last tick is too old"));
  EXPECT_THAT(html, HasSubstr("make (7)</th><td>–</td>"));
  EXPECT_THAT(html, HasSubstr("<p class=\"problem\">&lt;x&gt;</p>"));
}

TEST(LiveSection, OnlyLevelsOfTheMetrics) {
  const auto s = testing::EmptySnapshot({"package"});
  EXPECT_THAT(SectionOf(s, {}, series::kProcess), Not(HasSubstr("level=pod")));
  EXPECT_THAT(SectionOf(s, {}, series::kNode),
              AllOf(HasSubstr("data-query=\"&amp;limit=20\""), Not(HasSubstr("Top workloads"))));
  EXPECT_THAT(SectionOf(testing::EmptySnapshot({})), Not(HasSubstr("Top workloads")));
}

TEST(PageAssets, NothingThatInjectsOrLoadsFromOutside) {
  for (const auto text : {PageScript(), PageStyle()}) {
    for (const char* bad :
         {"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "http:", "https:", "url("})
      EXPECT_THAT(std::string(text), Not(HasSubstr(bad)));
  }
  EXPECT_EQ(PageHeaders().front().first, "Content-Security-Policy");
}

}  // namespace
}  // namespace kepler::web
