#include "export/web/html_text.h"

#include <gtest/gtest.h>

namespace kepler::web {
namespace {

TEST(EscapeHtml, MarkupControlsAndBrokenBytesAreText) {
  EXPECT_EQ(EscapeHtml("<img src=x onerror='a()'>&\""), "&lt;img src=x onerror=&#39;a()&#39;&gt;&amp;&quot;");
  EXPECT_EQ(EscapeHtml("a\x1b\x01\xff"), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(EscapeHtml(std::string(2 * kMaxText, 'x')).size(), kMaxText);
}

TEST(ShortNumber, ThreeDigits) {
  EXPECT_EQ(ShortNumber(0), "0.00");
  EXPECT_EQ(ShortNumber(0.00449), "0.00");
  EXPECT_EQ(ShortNumber(9.876), "9.88");
  EXPECT_EQ(ShortNumber(12.34), "12.3");
  EXPECT_EQ(ShortNumber(1234.5), "1234");
}

}  // namespace
}  // namespace kepler::web
