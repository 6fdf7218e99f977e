#include "model_store/public_key.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

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

}  // namespace

Result<PublicKey> PublicKey::Parse(std::string_view pem) {
  const Bio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Pkey key(text ? PEM_read_bio_PUBKEY(text.get(), nullptr, NoPassword, nullptr) : nullptr);
  ERR_clear_error();  // it is this thread's, and TLS looks at it
  if (!key)
    return Fail(ErrorKind::kMalformed,
                "it is not a public key in PEM (-----BEGIN PUBLIC KEY-----); write it with openssl pkey -in PRIVATE "
                "-pubout");
  PublicKey parsed;
  size_t size = parsed.bytes_.size();
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key.get(), parsed.bytes_.data(), &size) != 1 || size != parsed.bytes_.size())
    return Fail(ErrorKind::kInvalid,
                "it is not a key of Ed25519; make one with openssl genpkey -algorithm ed25519 -out PRIVATE");
  return parsed;
}

Result<PublicKey> PublicKey::Read(const std::string& path) {
  KEPLER_TRY(const std::string pem, ReadSmallFile(path));
  auto parsed = Parse(pem);
  if (!parsed) return Fail(parsed.error().kind, path + ": " + parsed.error().message);
  return parsed;
}

Status PublicKey::Verify(std::string_view text, std::string_view signature) const {
  if (signature.size() != kSignatureBytes)
    return Fail(ErrorKind::kInvalid,
                fmt::format("its signature has {} bytes, and one of Ed25519 has {}; write it with openssl pkeyutl "
                            "-sign -rawin",
                            signature.size(), kSignatureBytes));
  const Pkey key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  const Digest digest(EVP_MD_CTX_new());
  const bool is_good =
      key && digest && EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(digest.get(), Bytes(signature), signature.size(), Bytes(text), text.size()) == 1;
  ERR_clear_error();
  if (is_good) return {};
  return Fail(ErrorKind::kInvalid, "its signature is of another content or by another key than model.publicKey");
}

}  // namespace kepler::model_store
