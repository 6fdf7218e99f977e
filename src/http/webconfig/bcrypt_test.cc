#include "http/webconfig/bcrypt.h"

#include <gtest/gtest.h>

namespace kepler::http::webconfig {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSecretHash = "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";  // secret

TEST(IsBcryptHash, Forms_AreDistinguished) {
  EXPECT_TRUE(IsBcryptHash(kSecretHash));
  EXPECT_TRUE(IsBcryptHash("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"));
  EXPECT_FALSE(IsBcryptHash(""));
  EXPECT_FALSE(IsBcryptHash(kSecretHash.substr(1)));
  EXPECT_FALSE(IsBcryptHash("$2x$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"));
  EXPECT_FALSE(IsBcryptHash("$2y$99$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"));
  EXPECT_FALSE(IsBcryptHash("$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WI-W"));
}

TEST(BcryptMatches, PasswordAndHash_AreCompared) {
  EXPECT_TRUE(BcryptMatches("secret", std::string(kSecretHash)));
  EXPECT_FALSE(BcryptMatches("Secret", std::string(kSecretHash)));
}

TEST(BcryptCost, IsReadFromTheHash) {
  EXPECT_EQ(BcryptCost(kSecretHash), 4);
  EXPECT_EQ(BcryptCost("$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"), 31);
}

TEST(BcryptTime, DoublesWithEachStep) {
  EXPECT_EQ(BcryptTime(4, 2ms), 2ms);
  EXPECT_EQ(BcryptTime(14, 1ms), 1024ms);
  EXPECT_DOUBLE_EQ(BcryptTime(31, 1ms).count(), 134217.728);
}

TEST(MeasureCheapestBcrypt, GivesATime) { EXPECT_GT(MeasureCheapestBcrypt(), 0ns); }

}  // namespace
}  // namespace kepler::http::webconfig
