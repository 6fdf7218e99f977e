#include "export/stdout/text_table.h"

#include <gtest/gtest.h>

namespace kepler::console {
namespace {

TEST(DrawTable, WideCell_FrameStaysStraight) {
  EXPECT_EQ(DrawTable({{"WATTS"}, {"COMM", Align::kLeft}}, {{"1.00W", "日本"}, {"10.00W", "x"}}),
            "┌────────┬──────┐\n"
            "│ WATTS  │ COMM │\n"
            "├────────┼──────┤\n"
            "│  1.00W │ 日本 │\n"
            "│ 10.00W │ x    │\n"
            "└────────┴──────┘\n");
}

TEST(DrawTable, NoRows_HeaderOnly) {
  EXPECT_EQ(DrawTable({{"ZONE"}}, {}),
            "┌──────┐\n"
            "│ ZONE │\n"
            "├──────┤\n"
            "└──────┘\n");
}

}  // namespace
}  // namespace kepler::console
