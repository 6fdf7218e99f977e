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

/// Without it OpenSSL would ask for the password of an encrypted text on the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*user*/) { return 0; }

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

/// Each from its "-----BEGIN " to the next one.
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
  if (blocks.empty()) blocks.push_back(pem);  // which says why not
  if (blocks.size() > kMost)
    return Fail(ErrorKind::kInvalid, fmt::format("it has {} keys, and {} are the most", blocks.size(), kMost));
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
  ERR_clear_error();  // it is this thread's, and TLS looks at it
  if (!key)
    return Fail(ErrorKind::kMalformed,
                "it is not a public key in PEM (-----BEGIN PUBLIC KEY-----); write it with openssl pkey -in PRIVATE "
                "-pubout");
  Key bytes{};
  size_t size = bytes.size();
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1 || size != bytes.size())
    return Fail(ErrorKind::kInvalid,
                "it is not a key of Ed25519; make one with openssl genpkey -algorithm ed25519 -out PRIVATE");
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
                fmt::format("its signature has {} bytes, and one of Ed25519 has {}; write it with openssl pkeyutl "
                            "-sign -rawin",
                            signature.size(), kSignatureBytes));
  if (std::ranges::any_of(keys_, [&](const Key& key) { return IsSigned(key, text, signature); })) return {};
  return Fail(ErrorKind::kInvalid, "its signature is of another content or by another key than model.publicKey");
}

}  // namespace kepler::model_store
