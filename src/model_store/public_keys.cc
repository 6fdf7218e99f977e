#include "model_store/public_keys.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>
#include <span>

#include "base/small_file.h"

namespace kepler::model_store {
namespace {

template <auto kFree>
struct Free {
  void operator()(auto* held) const { kFree(held); }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Pkey = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;

/// Without this callback OpenSSL would read the password of an encrypted text from the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*user*/) { return 0; }

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

/// Splits the text into blocks: each begins with "-----BEGIN ".
std::vector<std::string_view> BlocksOf(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  std::vector<std::string_view> blocks;
  for (size_t at = pem.find(kBegin); at != std::string_view::npos;) {
    const size_t next = pem.find(kBegin, at + kBegin.size());
    blocks.push_back(pem.substr(at, next - at));
    at = next;
  }
  return blocks;
}

using Coordinate = std::array<unsigned char, 32>;  // y of a point, little-endian; its top bit is the sign of x

/// y of the points of order 1, 2, 4 and 8 (each sign of x), as libsodium's ge25519_has_small_order lists them. With
/// such a key anybody can make a valid signature: [S]B = R + [k]A holds for chosen R and S and any text.
constexpr std::array<Coordinate, 5> kSmallOrder = {{
    {0x01},  // 1
    {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},  // 2
    {},                                                                                                // 4
    {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
     0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},  // 8
    {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
     0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},  // 8
}};

/// Returns true if y is at least 2^255 - 19: a second encoding of a point, which RFC 8032, 5.1.3 forbids.
bool IsNotReduced(const Coordinate& y) {
  const auto middle = std::span(y).subspan(1, y.size() - 2);
  return y.back() == 0x7f && y.front() >= 0xed && std::ranges::all_of(middle, [](auto byte) { return byte == 0xff; });
}

/// Returns true if anybody can sign for the key, or if its bytes are not a valid encoding of a point (RFC 8032).
bool IsWeak(Coordinate key) {
  key.back() &= 0x7f;
  return IsNotReduced(key) || std::ranges::find(kSmallOrder, key) != kSmallOrder.end();
}

bool IsSigned(std::span<const unsigned char> by, std::string_view text, std::string_view signature) {
  const Pkey key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, by.data(), by.size()));
  const Digest digest(EVP_MD_CTX_new());
  const bool is_good =
      key && digest && EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(digest.get(), Bytes(signature), signature.size(), Bytes(text), text.size()) == 1;
  ERR_clear_error();
  return is_good;
}

}  // namespace

Result<PublicKeys> PublicKeys::Parse(std::string_view pem) {
  auto blocks = BlocksOf(pem);
  if (blocks.empty()) blocks.push_back(pem);  // ParseOne() returns the error
  if (blocks.size() > kMax)
    return Fail(ErrorKind::kInvalid, fmt::format("it has {} keys; the maximum is {}", blocks.size(), kMax));
  PublicKeys parsed;
  for (const std::string_view block : blocks) {
    const auto key = ParseOne(block);
    if (!key && blocks.size() > 1)
      return Fail(key.error().kind,
                  fmt::format("key {} of {}: {}", parsed.keys_.size() + 1, blocks.size(), key.error().message));
    if (!key) return std::unexpected(key.error());
    parsed.keys_.push_back(*key);
  }
  return parsed;
}

Result<PublicKeys::Key> PublicKeys::ParseOne(std::string_view pem) {
  const Bio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Pkey key(text ? PEM_read_bio_PUBKEY(text.get(), nullptr, NoPassword, nullptr) : nullptr);
  ERR_clear_error();  // TLS reads the error queue of this thread
  if (!key)
    return Fail(ErrorKind::kMalformed,
                "it is not a public key in PEM (-----BEGIN PUBLIC KEY-----); write it with openssl pkey -in PRIVATE "
                "-pubout");
  Key bytes{};
  size_t size = bytes.size();
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1 || size != bytes.size())
    return Fail(ErrorKind::kInvalid,
                "it is not an Ed25519 key; make one with openssl genpkey -algorithm ed25519 -out PRIVATE");
  if (IsWeak(bytes))
    return Fail(ErrorKind::kInvalid,
                "the key is unsafe: anybody can sign for it (a point of small order or not reduced); make one with "
                "openssl genpkey -algorithm ed25519 -out PRIVATE");
  return bytes;
}

Result<PublicKeys> PublicKeys::Read(const std::string& path) {
  KEPLER_TRY(const std::string pem, ReadSmallFile(path));
  auto parsed = Parse(pem);
  if (!parsed) return Fail(parsed.error().kind, path + ": " + parsed.error().message);
  return parsed;
}

Status PublicKeys::Verify(std::string_view text, std::string_view signature) const {
  if (signature.size() != kSignatureBytes)
    return Fail(ErrorKind::kInvalid,
                fmt::format("its signature has {} bytes, but an Ed25519 signature has {}; write it with openssl "
                            "pkeyutl -sign -rawin",
                            signature.size(), kSignatureBytes));
  if (std::ranges::any_of(keys_, [&](const Key& key) { return IsSigned(key, text, signature); })) return {};
  return Fail(ErrorKind::kInvalid, "its signature does not match its content and the public keys");
}

}  // namespace kepler::model_store
