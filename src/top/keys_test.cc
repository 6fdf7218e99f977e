#include "top/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::top {
namespace {

using testing::HasSubstr;
using testing::Not;

class Screen : public testing::Test {
 protected:
  void Answer(size_t rows) {
    readings_ = {.level = std::string(NameOf(view_.now.level))};
    for (size_t i = 0; i < rows; ++i)
      readings_.rows.push_back({.id = "id" + std::to_string(i), .name = "name" + std::to_string(i)});
    Follow(readings_, place_.rows, view_);
  }
  Effect Press(Key key) { return Apply({.key = key}, readings_, place_, view_); }
  Effect Type(std::u32string_view text) {
    Effect last = Effect::kNone;
    for (const char32_t c : text) last = Apply({.key = Key::kText, .text = c}, readings_, place_, view_);
    return last;
  }
  Effect Click(size_t line, size_t column = 0) {
    return Apply({.key = Key::kClick, .line = line, .column = column}, readings_, place_, view_);
  }
  [[nodiscard]] std::string Asked() const { return Target(view_, place_.rows); }

  View view_;
  Readings readings_;
  Placement place_{
      .header_line = 5, .first_line = 6, .rows = 10, .areas = {{0, 8, Sort::kWatts}, {9, 17, Sort::kJoules}}};
};

TEST_F(Screen, KeysChooseLevelAndOrder) {
  EXPECT_EQ(Asked(), "/api/v1/snapshot?level=process&sort=watts&limit=50");
  EXPECT_EQ(Type(U"3"), Effect::kFetch);
  EXPECT_EQ(Type(U"c"), Effect::kFetch);
  EXPECT_EQ(Asked(), "/api/v1/snapshot?level=pod&sort=cpu&limit=50");
  EXPECT_EQ(Press(Key::kTab), Effect::kFetch);
  EXPECT_EQ(view_.now.level, Level::kVm);
  EXPECT_EQ(Type(U"5"), Effect::kFetch);
  EXPECT_EQ(Press(Key::kTab), Effect::kFetch);
  EXPECT_EQ(view_.now.level, Level::kProcess) << "Tab goes round";
  EXPECT_EQ(Type(U"x"), Effect::kNone);
  EXPECT_EQ(Type(U"q"), Effect::kQuit);
  EXPECT_EQ(Press(Key::kInterrupt), Effect::kQuit);
}

TEST_F(Screen, FilterIsSentWhileItIsTyped) {
  EXPECT_EQ(Type(U"/"), Effect::kNone);
  EXPECT_EQ(Type(U"q é"), Effect::kFetch) << "q is text here";
  EXPECT_THAT(Asked(), HasSubstr("&search=q%20%C3%A9"));
  EXPECT_EQ(Press(Key::kBackspace), Effect::kFetch);
  EXPECT_THAT(Asked(), HasSubstr("&search=q%20")) << "a whole character";
  Press(Key::kEnter);
  EXPECT_FALSE(view_.is_editing);
  Type(U"/zz");
  Press(Key::kEscape);
  EXPECT_EQ(view_.now.filter, "q ") << "Esc restores the filter";
  Press(Key::kEscape);
  EXPECT_EQ(view_.now.filter, "") << "and then removes it";
  Type(U"/");
  for (int i = 0; i < 200; ++i) Type(U"a");
  EXPECT_EQ(view_.now.filter.size(), 64);
  Press(Key::kClear);
  EXPECT_THAT(Asked(), Not(HasSubstr("search")));
}

TEST_F(Screen, EnterGoesDownToTheProcessesAndEscBack) {
  Type(U"3");
  Answer(3);
  Press(Key::kDown);
  EXPECT_EQ(Press(Key::kEnter), Effect::kFetch);
  EXPECT_EQ(Asked(), "/api/v1/snapshot?level=container&sort=watts&limit=50&under=id1");
  EXPECT_EQ(Press(Key::kEnter), Effect::kNone) << "the rows on the screen are still pods";
  Answer(1);
  EXPECT_EQ(Press(Key::kEnter), Effect::kFetch);
  EXPECT_EQ(Asked(), "/api/v1/snapshot?level=process&sort=watts&limit=50&under=id0");
  Answer(1);
  EXPECT_EQ(Press(Key::kEnter), Effect::kNone) << "nothing is below a process";
  EXPECT_EQ(Press(Key::kEscape), Effect::kFetch);
  EXPECT_EQ(view_.now.level, Level::kContainer);
  EXPECT_EQ(Press(Key::kEscape), Effect::kFetch);
  Answer(3);
  EXPECT_EQ(view_.row, 1) << "the pod is still selected";
  EXPECT_EQ(Press(Key::kEscape), Effect::kNone);
}

TEST_F(Screen, NamespacesOpenTheirPodsAndVmsTheirProcesses) {
  Type(U"5");
  Answer(1);
  EXPECT_EQ(Press(Key::kEnter), Effect::kFetch);
  EXPECT_EQ(Asked(), "/api/v1/snapshot?level=pod&sort=watts&limit=50&under=name0");
  Type(U"4");
  Answer(1);
  EXPECT_EQ(Press(Key::kEnter), Effect::kFetch);
  EXPECT_EQ(Asked(), "/api/v1/snapshot?level=process&sort=watts&limit=50&under=id0");
}

TEST_F(Screen, ArrowsAndPagesMoveTheSelection) {
  Answer(40);
  Press(Key::kPageDown);
  Press(Key::kDown);
  EXPECT_EQ(view_.now.selected, "id11");
  Press(Key::kPageUp);
  Press(Key::kPageUp);
  EXPECT_EQ(view_.now.selected, "") << "the first row, of whatever workload";
  EXPECT_EQ(Press(Key::kUp), Effect::kNone);
  EXPECT_EQ(Press(Key::kEnd), Effect::kFetch) << "of more rows";
  EXPECT_EQ(view_.row, 39);
  Answer(0);
  EXPECT_EQ(Press(Key::kDown), Effect::kNone) << "there is no row";
  EXPECT_EQ(Press(Key::kEnter), Effect::kNone);
}

TEST_F(Screen, ClicksSelectOpenAndSort) {
  Type(U"3");
  Answer(3);
  EXPECT_EQ(Click(7), Effect::kNone);
  EXPECT_EQ(view_.row, 1);
  EXPECT_EQ(Click(7), Effect::kFetch) << "a click on the selected row opens it";
  EXPECT_EQ(view_.now.under, "id1");
  EXPECT_EQ(Click(5, 10), Effect::kFetch);
  EXPECT_EQ(view_.sort, Sort::kJoules);
  Answer(3);
  EXPECT_EQ(Click(5, 70), Effect::kNone);
  EXPECT_EQ(Click(0), Effect::kNone);
  EXPECT_EQ(Click(9), Effect::kNone) << "there is no row";
}

TEST_F(Screen, AnyKeyLeavesTheHelp) {
  Type(U"?");
  EXPECT_TRUE(view_.help);
  EXPECT_EQ(Type(U"3"), Effect::kNone);
  EXPECT_FALSE(view_.help);
  EXPECT_EQ(view_.now.level, Level::kProcess);
}

}  // namespace
}  // namespace kepler::top
