#include "base/gunzip.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace kepler {
namespace {

// "hello hello hello hello\n", by gzip -n.
constexpr uint8_t kMember[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9,
                               0x57, 0xc8, 0x40, 0x27, 0xb9, 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00};
const std::string kGzip(reinterpret_cast<const char*>(kMember), sizeof(kMember));
const std::string kText = "hello hello hello hello\n";

TEST(Gunzip, OneMember_IsItsText) {
  EXPECT_EQ(Gunzip(kGzip, 1000).value_or("?"), kText);
  EXPECT_EQ(Gunzip(kGzip + "more", 1000).value_or("?"), kText);
}

TEST(Gunzip, LimitIsExact) {
  EXPECT_EQ(Gunzip(kGzip, kText.size()).value_or("?"), kText);
  const auto longer = Gunzip(kGzip, kText.size() - 1);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().kind, ErrorKind::kMalformed);
  EXPECT_EQ(longer.error().message, "parse gzip: more than 23 bytes");
}

TEST(Gunzip, CutChangedOrOtherBytes_AreMalformed) {
  for (size_t size = 0; size < kGzip.size(); ++size) EXPECT_FALSE(Gunzip(kGzip.substr(0, size), 1000)) << size;
  std::string sum = kGzip;
  sum[sum.size() - 8] ^= 1;
  EXPECT_FALSE(Gunzip(sum, 1000));
  EXPECT_FALSE(Gunzip("CONFIG_PARAVIRT=y\n", 1000));
}

}  // namespace
}  // namespace kepler
