#include "base/percent.h"

#include <gtest/gtest.h>

namespace kepler {
namespace {

TEST(PercentEncode, AllBytesButPlainOnes) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a b&c=d%/\n\xc3\xa9"), "a%20b%26c%3Dd%25%2F%0A%C3%A9");
  EXPECT_EQ(PercentEncode(std::string_view("\0/", 2), "/"), "%00/");
}

TEST(PercentDecode, GivesTheBytesBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentDecode("%2f%2F+"), "//+");
  EXPECT_EQ(PercentDecode(""), "");
}

TEST(PercentDecode, MalformedOrTruncated_NothingOrThePercentSignItself) {
  for (const char* text : {"%", "%2", "a%", "%zz", "%-1", "%+1", "%0x41", "% 1"}) {
    EXPECT_EQ(PercentDecode(text), std::nullopt) << text;
    EXPECT_EQ(PercentDecodeLenient(text), text);
  }
  EXPECT_EQ(PercentDecodeLenient("100% sure%20%C3%A9%"), "100% sure \xc3\xa9%");
}

}  // namespace
}  // namespace kepler
