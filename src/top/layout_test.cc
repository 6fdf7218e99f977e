#include "top/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "top/layout_test_util.h"

namespace kepler::top {
namespace {

using testing::HasSubstr;
using testing::Not;

const View kPods{.now = {.level = Level::kPod}};

TEST(Layout, At40Columns) {
  EXPECT_EQ(TextOf(Layout(kPods, ThreePods(), {40, 12}, {.price = 0.3})), R"(worker-1               22:00:05Z, 2s ago
ZONE         WATTS     IDLE  LAST 35s
package      40.10    10.10  ▁▃▅▇█▇▅
dram          5.25     1.00  ▁▁▁▁▁▁█
Pods by watts, 3 of 312
   WATTS↓  JOULES NAME
   12.50   36.00k web
   12.50   36.00k a-database-with-a-ra…
   12.50   36.00k 日本 (ended)


q quit  ? help  1-5 level  w/j/c sort  …
)");
}

TEST(Layout, At80Columns) {
  EXPECT_EQ(TextOf(Layout(kPods, ThreePods(), {80, 16}, {.price = 0.3, .carbon = 400})),
            R"(worker-1  kepler 0.1.0                                         22:00:05Z, 2s ago
ZONE         WATTS   ACTIVE     IDLE   JOULES     COST   CARBON  LAST 35s
package      40.10    30.00    10.10  123.46k   0.0103    13.7g  ▁▃▅▇█▇▅
dram          5.25     4.25     1.00    7.20k 0.000600   0.800g  ▁▁▁▁▁▁█

Pods by watts, 3 of 312
   WATTS↓  JOULES    CORES     COST   CARBON NAME                     NAMESPACE
   12.50   36.00k     0.71  0.00300     4.0g web                      shop
   12.50   36.00k     0.71  0.00300     4.0g a-database-with-a-rathe… shop
   12.50   36.00k     0.71  0.00300     4.0g 日本 (ended)             shop




namespace shop  id id-web
q quit  ? help  1-5 level  w/j/c sort  / filter  Enter open  Esc back
)");
}

TEST(Layout, At200Columns) {
  EXPECT_EQ(
      TextOf(Layout(kPods, ThreePods(), {200, 16}, {.price = 0.3, .carbon = 400})),
      R"(worker-1  kepler 0.1.0                                                                                                                                                                 22:00:05Z, 2s ago
ZONE         WATTS   ACTIVE     IDLE   JOULES     COST   CARBON  LAST 35s
package      40.10    30.00    10.10  123.46k   0.0103    13.7g  ▁▃▅▇█▇▅
dram          5.25     4.25     1.00    7.20k 0.000600   0.800g  ▁▁▁▁▁▁█

Pods by watts, 3 of 312                                                                                                                                             not listed 1.5 J, unattributed 2.5 J
   WATTS↓  JOULES    CORES CPU TIME     COST   CARBON   DRAM W NAME                                 NAMESPACE
   12.50   36.00k     0.71   12m34s  0.00300     4.0g     1.25 web                                  shop
   12.50   36.00k     0.71   12m34s  0.00300     4.0g     1.25 a-database-with-a-rather-long-name-0 shop
   12.50   36.00k     0.71   12m34s  0.00300     4.0g     1.25 日本 (ended)                         shop




namespace shop  id id-web
q quit  ? help  1-5 level  w/j/c sort  / filter  Enter open  Esc back
)");
}

TEST(Layout, PlainTextHasEveryRowInFull) {
  EXPECT_EQ(PlainText(kPods, ThreePods().readings, SIZE_MAX, {.glyphs = Glyphs::kAscii}),
            R"(worker-1  2026-11-27T22:00:05.000Z
ZONE         WATTS   ACTIVE     IDLE   JOULES
package      40.10    30.00    10.10  123.46k
dram          5.25     4.25     1.00    7.20k

Pods by watts, 3 of 312                                         not listed 1.5 J, unattributed 2.5 J
   WATTS*  JOULES    CORES CPU TIME   DRAM W NAME                                 NAMESPACE
   12.50   36.00k     0.71   12m34s     1.25 web                                  shop
   12.50   36.00k     0.71   12m34s     1.25 a-database-with-a-rather-long-name-0 shop
   12.50   36.00k     0.71   12m34s     1.25 ???? (ended)                         shop
)");
}

/// One answer has totals only. A screen, in contrast, keeps the column for the next answer.
TEST(Layout, PlainTextWithoutCpuUse_HasNoColumnOfIt) {
  Knowledge known = ThreePods();
  for (WorkloadReading& row : known.readings.rows) row.cpu_cores.reset();
  EXPECT_THAT(PlainText(kPods, known.readings, SIZE_MAX, {}), Not(HasSubstr("CORES")));
  EXPECT_THAT(TextOf(Layout(kPods, known, {80, 16}, {})), HasSubstr("CORES"));
}

TEST(Layout, SaysSinceWhenThereIsNoAnswer) {
  Knowledge known = ThreePods();
  known.trouble = "no answer since 22:00:05: connection refused";
  const Frame frame = Layout(kPods, known, {40, 12}, {});
  EXPECT_EQ(frame.lines[1].text, "no answer since 22:00:05: connection re…");
  EXPECT_EQ(frame.lines[1].style, Style::kAlert);
  EXPECT_THAT(TextOf(frame), HasSubstr("web")) << "the last rows stay";
  EXPECT_EQ(Layout({.help = true}, known, {40, 12}, {}).lines[1].text, "no answer since 22:00:05: connection re…");
  known = {.trouble = "no answer: x"};
  EXPECT_THAT(TextOf(Layout(kPods, known, {40, 12}, {})), HasSubstr("no answer: x"));
  EXPECT_THAT(TextOf(Layout(kPods, {}, {40, 12}, {})), HasSubstr("waiting for values"));
}

TEST(Layout, HasTheRemarksBelowTheTitle) {
  Knowledge known = ThreePods();
  known.remarks = {"no agent, so this process measures", "no\x1b[2J BPF"};
  const Frame tall = Layout(kPods, known, {40, 16}, {});
  EXPECT_EQ(tall.lines[1].text, "no agent, so this process measures      ");
  EXPECT_EQ(tall.lines[2].text, "no?[2J BPF                              ");
  EXPECT_EQ(tall.lines[2].style, Style::kDim);
  EXPECT_EQ(tall.placement.first_line + tall.placement.rows, 14u) << "above details and keys";
  EXPECT_THAT(TextOf(Layout(kPods, known, {40, 12}, {})), Not(HasSubstr("BPF")));
}

TEST(Layout, SaysWhyThereIsNothing) {
  Knowledge known = ThreePods();
  known.readings.zones.clear();
  known.readings.meters = {{"rapl", "not used", "no powercap"}};
  known.readings.stale = true;
  known.readings.rows.clear();
  View view = kPods;
  EXPECT_THAT(TextOf(Layout(view, known, {80, 20}, {})),
              AllOf(HasSubstr("rapl: not used no powercap"), HasSubstr("power is unknown"), HasSubstr("\nnone\n")));
  known.readings.level.clear();
  EXPECT_THAT(TextOf(Layout(view, known, {80, 20}, {})), HasSubstr("none, without a zone"));
  known.readings.level = "pod";
  view.now.filter = "x";
  EXPECT_THAT(TextOf(Layout(view, known, {80, 20}, {})), HasSubstr("no name contains the filter"));
  view.now.level = Level::kVm;
  EXPECT_THAT(TextOf(Layout(view, known, {80, 20}, {})), HasSubstr("waiting for values")) << "these rows are pods";
}

TEST(Layout, SaysWhichRowsAreShown) {
  View view{
      .now = {.level = Level::kPod, .filter = "sh\x1bop", .under = "id", .title = "x"}, .sort = Sort::kCpu, .row = 1};
  const Frame frame = Layout(view, ThreePods(), {100, 20}, {});
  EXPECT_THAT(TextOf(frame), HasSubstr("Pods of x by cpu, 3 of 312, filter \"sh?op\""));
  EXPECT_THAT(TextOf(frame), HasSubstr("CPU TIME↓"));
  EXPECT_EQ(frame.lines[frame.placement.first_line + 1].style, Style::kSelected);
  EXPECT_EQ(frame.lines[frame.placement.first_line + 2].style, Style::kDim) << "an ended pod";
  view.is_editing = true;
  EXPECT_THAT(TextOf(Layout(view, ThreePods(), {100, 20}, {})), HasSubstr("filter: sh?op_\n"));
  view.help = true;
  const std::string help = TextOf(Layout(view, ThreePods(), {40, 20}, {}));
  EXPECT_THAT(help, HasSubstr("Press any key"));
  EXPECT_THAT(help, Not(HasSubstr("…"))) << "the help fits 40 columns";
}

TEST(Layout, EveryLineFitsAndIsSafeAtEverySize) {
  Knowledge known = ThreePods();
  const std::string hostile = "\x1b[2J\x1b]0;t\x07\xc2\x9b\xff\n\r\t日本\u202e" + std::string(300, 'x');
  known.readings.node = known.readings.time = known.readings.version = known.trouble = hostile;
  known.remarks = {hostile};
  known.readings.zones[0].zone = known.history.zones[0].zone = hostile;
  for (std::string WorkloadReading::* text :
       {&WorkloadReading::id, &WorkloadReading::name, &WorkloadReading::name_space, &WorkloadReading::pod,
        &WorkloadReading::container, &WorkloadReading::exe, &WorkloadReading::runtime})
    known.readings.rows[0].*text = hostile;
  known.readings.rows[0].joules = 1e300;
  for (const Level level : {Level::kProcess, Level::kContainer, Level::kPod})
    for (size_t columns = 1; columns < 220; columns += columns < 45 ? 4 : 29)
      for (const size_t lines : {1UL, 5UL, 16UL}) {
        known.readings.level = NameOf(level);
        const View view{.now = {.level = level, .filter = hostile, .title = hostile}};
        const Frame frame = Layout(view, known, {columns, lines}, {.price = 1, .carbon = 1});
        ASSERT_EQ(frame.lines.size(), lines);
        for (const Line& line : frame.lines) {
          ASSERT_LE(WidthOf(line.text), columns) << line.text;
          ASSERT_EQ(line.text, Shown(line.text, columns, Glyphs::kUtf8)) << "nothing else is printed";
        }
      }
}

}  // namespace
}  // namespace kepler::top
