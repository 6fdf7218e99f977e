#include "base/base64.h"

#include <gtest/gtest.h>

#include <utility>

namespace kepler {
namespace {

TEST(Base64, TextsOfTheStandard) {
  for (const auto& [text, bytes] : {std::pair{"", ""},
                                    {"Zg==", "f"},
                                    {"Zm8=", "fo"},
                                    {"Zm9v", "foo"},
                                    {"Zm9vYg==", "foob"},
                                    {"Zm9vYmE=", "fooba"},
                                    {"Zm9vYmFy", "foobar"},
                                    {"+/+/", "\xfb\xff\xbf"}}) {
    EXPECT_EQ(DecodeBase64(text), bytes) << text;
    EXPECT_EQ(EncodeBase64(bytes), text);
  }
}

TEST(DecodeBase64, AnythingElse_IsRefused) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zg==Zg==", "Z=9v", "Zm9v\n", " Zm9v", "Zm-_", "Zm9\xff"})
    EXPECT_FALSE(DecodeBase64(text)) << text;
}

}  // namespace
}  // namespace kepler
