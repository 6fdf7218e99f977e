#include "base/html.h"

#include <gtest/gtest.h>

namespace kepler {
namespace {

TEST(EscapeHtml, EveryHazard) {
  EXPECT_EQ(EscapeHtml("<b a=\"1\" b='2'>&amp;"), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;");
  EXPECT_EQ(EscapeHtml("a\xff"), "a\xEF\xBF\xBD");
  EXPECT_EQ(EscapeHtml("a\x1B[31m\u202Eb"), "a\uFFFD[31m\uFFFDb");
  EXPECT_EQ(EscapeHtml("<<<<", 2), "&lt;&lt;");
}

TEST(EscapeName, LinesMayEndAtSeparators) {
  EXPECT_EQ(EscapeName("gpu_a-b/c.d"), "gpu_<wbr>a-<wbr>b/<wbr>c.d");
  EXPECT_EQ(EscapeName("SGDFitTrainer_1"), "SGDFit<wbr>Trainer_<wbr>1");
  EXPECT_EQ(EscapeName("<'&_A"), "&lt;&#39;&amp;_<wbr>A");
}

}  // namespace
}  // namespace kepler
