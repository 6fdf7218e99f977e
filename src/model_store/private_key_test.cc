#include "model_store/private_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model_store/signing_test_util.h"

namespace kepler::model_store {
namespace {

using ::testing::HasSubstr;

TEST(PrivateKey, ItsSignaturesAreThoseOfOpenssl) {
  const Signer signer;
  const auto key = PrivateKey::Parse(signer.PrivatePem());
  ASSERT_TRUE(key) << key.error().message;
  for (const std::string_view text : {"", "a model"}) {
    const auto signature = key->Sign(text);
    ASSERT_TRUE(signature);
    EXPECT_EQ(*signature, signer.Sign(text)) << "Ed25519 is deterministic";
    EXPECT_TRUE(signer.Key().Verify(text, *signature));
    EXPECT_FALSE(Signer().Key().Verify(text, *signature));
  }
}

TEST(PrivateKey, OtherTextsAndKeysAreRefused) {
  const std::string pem = Signer().PrivatePem();
  for (const std::string& text : {std::string(), std::string("no key"), pem.substr(0, pem.size() / 2),
                                  Signer().PublicPem(), std::string(4096, 'x')}) {
    const auto key = PrivateKey::Parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().kind, ErrorKind::kMalformed);
  }
  const auto other = PrivateKey::Parse(Signer("X25519").PrivatePem());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(other.error().message, HasSubstr("not an Ed25519 key"));
}

}  // namespace
}  // namespace kepler::model_store
