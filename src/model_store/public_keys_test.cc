#include "model_store/public_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model_store/signing_test_util.h"
#include "testing/fake_tree.h"

namespace kepler::model_store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(PublicKeys, BelievesItsOwnSignatures_AndNoOthers) {
  const Signer signer, other;
  const std::string text = "a model";
  EXPECT_TRUE(signer.Key().Verify(text, signer.Sign(text)));
  EXPECT_TRUE(signer.Key().Verify("", signer.Sign("")));
  for (const std::string& wrong : {other.Sign(text), signer.Sign("a modem"), std::string(64, '\0')}) {
    const Status verified = signer.Key().Verify(text, wrong);
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(verified.error().message, HasSubstr("does not match its content and the public keys"));
  }
}

TEST(PublicKeys, SignatureOfAnotherLength_IsNone) {
  const Signer signer;
  const std::string good = signer.Sign("a");
  for (const std::string& wrong : {good.substr(0, 63), good + '\n', std::string()})
    EXPECT_THAT(signer.Key().Verify("a", wrong).error().message,
                HasSubstr("has " + std::to_string(wrong.size()) + " bytes"));
}

// The example of RFC 8032, section 7.1, test 2.
TEST(PublicKeys, IsThatOfTheRfc) {
  const auto key = PublicKeys::Parse(
      "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
      "-----END PUBLIC KEY-----\n");
  ASSERT_TRUE(key) << key.error().message;
  const std::string signature(
      "\x92\xa0\x09\xa9\xf0\xd4\xca\xb8\x72\x0e\x82\x0b\x5f\x64\x25\x40\xa2\xb2\x7b\x54\x16\x50\x3f\x8f\xb3\x76\x22"
      "\x23\xeb\xdb\x69\xda\x08\x5a\xc1\xe4\x3e\x15\x99\x6e\x45\x8f\x36\x13\xd0\xf1\x1d\x8c\x38\x7b\x2e\xae\xb4\x30"
      "\x2a\xee\xb0\x0d\x29\x16\x12\xbb\x0c\x00",
      PublicKeys::kSignatureBytes);
  EXPECT_TRUE(key->Verify("\x72", signature));
}

TEST(PublicKeys, WhatIsNone_SaysHowToMakeOne) {
  const Signer signer;
  const std::string good = signer.PublicPem();
  for (const std::string& text :
       {std::string(), std::string("garbage"), good.substr(0, good.size() / 2), signer.PrivatePem(),
        std::string("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"),
        std::string("-----BEGIN PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABB"
                    "CCDDEEFF\n\nAAAA\n-----END PUBLIC KEY-----\n")}) {
    const auto parsed = PublicKeys::Parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kMalformed);
    EXPECT_THAT(parsed.error().message, HasSubstr("openssl pkey -in"));
  }
  const auto other = PublicKeys::Parse(Signer("X25519").PublicPem());
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("it is not an Ed25519 key"));
}

using Bytes = std::array<unsigned char, 32>;

std::string PemOf(const Bytes& raw) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw.data(), raw.size()), EVP_PKEY_free);
  return PublicPemOf(key.get());
}

/// 32 bytes that begin with `first`, end with `last` and have `middle` between them.
Bytes Filled(unsigned char first, unsigned char middle, unsigned char last) {
  Bytes bytes;
  bytes.fill(middle);
  bytes.front() = first;
  bytes.back() = last;
  return bytes;
}

constexpr Bytes kOfOrder8 = {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
                             0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
                             0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05};
constexpr Bytes kOfOrder8Too = {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
                                0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
                                0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a};

/// The eight points, and the spellings of them that no honest program writes: y + p, and a sign for x = 0.
std::vector<Bytes> SmallOrderKeys() {
  std::vector<Bytes> keys = {
      Filled(0x01, 0, 0),       Filled(0xec, 0xff, 0x7f), Filled(0, 0, 0), kOfOrder8, kOfOrder8Too,
      Filled(0xed, 0xff, 0x7f),   // p, which is 0
      Filled(0xee, 0xff, 0x7f)};  // p + 1
  for (size_t i = 0, all = keys.size(); i < all; ++i) {
    keys.push_back(keys[i]);
    keys.back().back() |= 0x80;
  }
  return keys;
}

TEST(PublicKeys, OfSmallOrder_AnybodyCouldSignFor_AreRefused) {
  for (const Bytes& key : SmallOrderKeys()) {
    const auto parsed = PublicKeys::Parse(PemOf(key));
    ASSERT_FALSE(parsed) << ::testing::PrintToString(key);
    EXPECT_EQ(parsed.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(parsed.error().message, HasSubstr("anybody can sign for it"));
  }
  EXPECT_FALSE(PublicKeys::Parse(Signer().PublicPem() + PemOf(Filled(0, 0, 0))));
}

TEST(PublicKeys, NotReduced_AreRefused) {
  for (int first = 0xed; first <= 0xff; ++first)
    EXPECT_FALSE(PublicKeys::Parse(PemOf(Filled(static_cast<unsigned char>(first), 0xff, 0x7f)))) << first;
  EXPECT_TRUE(PublicKeys::Parse(PemOf(Filled(0xeb, 0xff, 0x7f))));  // p - 2
}

// Why: OpenSSL takes the neutral point as a key, and as R with S = 0 it is a signature of every text.
TEST(PublicKeys, OfSmallOrder_VerifyWhatNobodySigned) {
  const Bytes neutral = Filled(0x01, 0, 0);
  std::string forged(PublicKeys::kSignatureBytes, '\0');
  forged.front() = '\x01';
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, neutral.data(), neutral.size()), EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  ASSERT_EQ(EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()), 1);
  const auto bytes = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
  EXPECT_EQ(EVP_DigestVerify(digest.get(), bytes(forged), forged.size(), bytes("any model"), 9), 1);
  const auto keys = PublicKeys::Parse(PemOf(neutral));
  EXPECT_FALSE(keys && keys->Verify("any model", forged));
}

TEST(PublicKeys, OfSeveral_AnyIsEnough) {
  const Signer one, other, third;
  const auto keys = PublicKeys::Parse("# until June\n" + one.PublicPem() + "# from May on\n" + other.PublicPem());
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_TRUE(keys->Verify("a", one.Sign("a")));
  EXPECT_TRUE(keys->Verify("a", other.Sign("a")));
  EXPECT_FALSE(keys->Verify("a", third.Sign("a")));
}

TEST(PublicKeys, OfSeveral_EachMustBeOne) {
  const std::string good = Signer().PublicPem();
  for (const std::string& bad : {good.substr(0, good.size() / 2), Signer().PrivatePem(), Signer("X25519").PublicPem(),
                                 std::string("-----BEGIN PUBLIC KEY-----\n")}) {
    EXPECT_THAT(PublicKeys::Parse(good + bad).error().message, HasSubstr("key 2 of 2: it is not a")) << bad;
    EXPECT_THAT(PublicKeys::Parse(bad + good).error().message, HasSubstr("key 1 of 2: it is not a")) << bad;
  }
  std::string many;
  for (size_t i = 0; i < PublicKeys::kMax; ++i) many += good;
  EXPECT_TRUE(PublicKeys::Parse(many));
  EXPECT_EQ(PublicKeys::Parse(many + good).error().message, "it has 9 keys; the maximum is 8");
}

TEST(PublicKeys, OfAFile_TheErrorNamesIt) {
  testing::FakeTree tree;
  const Signer signer;
  tree.Write("good.pem", signer.PublicPem());
  tree.Write("bad.pem", "?");
  EXPECT_TRUE(PublicKeys::Read(tree.Path("good.pem")));
  EXPECT_THAT(PublicKeys::Read(tree.Path("bad.pem")).error().message, HasSubstr(tree.Path("bad.pem") + ": it is not"));
  EXPECT_THAT(PublicKeys::Read(tree.Path("none.pem")).error().message,
              AllOf(HasSubstr(tree.Path("none.pem")), HasSubstr("No such file")));
}

}  // namespace
}  // namespace kepler::model_store
