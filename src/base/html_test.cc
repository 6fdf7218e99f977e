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

}  // namespace
}  // namespace kepler
