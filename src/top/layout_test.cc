#include "top/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "top/layout_test_util.h"

namespace kepler::top {
namespace {

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

}  // namespace
}  // namespace kepler::top
