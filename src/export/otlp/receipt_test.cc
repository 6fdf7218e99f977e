#include "export/otlp/receipt.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::otlp {
namespace {

using std::string_literals::operator""s;

TEST(ReadReceipt, Full_NothingRejected) {
  for (const std::string& answer : {""s, "\x0a\x00"s, "\x10\x07"s}) {  // empty, an empty partial success, a new field
    const auto receipt = ReadReceipt(answer);
    ASSERT_TRUE(receipt) << receipt.error().message;
    EXPECT_EQ(receipt->rejected_points, 0U);
    EXPECT_EQ(receipt->message, "");
  }
}

TEST(ReadReceipt, Partial_HasCountAndMessage) {
  const auto receipt = ReadReceipt("\x0a\x08\x08\xac\x02\x12\x03old"s);
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->rejected_points, 300U);
  EXPECT_EQ(receipt->message, "old");
}

TEST(ReadReceipt, NegativeCount_IsNone) {
  const auto receipt = ReadReceipt("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->rejected_points, 0U);
}

TEST(ReadReceipt, MalformedAndCut_AreErrors) {
  for (const std::string& answer : {"{}"s, "\x0a\x08\x08"s, "\x0a"s, "\x0a\x02\x08\xff"s, "<html>"s, "\x00\x00"s}) {
    const auto receipt = ReadReceipt(answer);
    ASSERT_FALSE(receipt) << answer;
    EXPECT_EQ(receipt.error().kind, ErrorKind::kMalformed);
  }
}

}  // namespace
}  // namespace kepler::otlp
