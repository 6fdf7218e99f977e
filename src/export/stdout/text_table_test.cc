#include "export/stdout/text_table.h"

#include <gtest/gtest.h>

namespace kepler::console {
namespace {

TEST(DecimalText, SmallValueIsNotZero) {
  EXPECT_EQ(DecimalText(0, 4), "0.0000");
  EXPECT_EQ(DecimalText(1e-300, 4), "<0.0001");
  EXPECT_EQ(DecimalText(0.000049, 4), "<0.0001");
  EXPECT_EQ(DecimalText(0.000051, 4), "0.0001");
  EXPECT_EQ(DecimalText(12.34567, 2), "12.35");
  EXPECT_EQ(DecimalText(-1, 1), "-1.0");
}

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
