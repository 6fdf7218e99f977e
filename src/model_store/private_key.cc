#include "model_store/private_key.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "model_store/public_keys.h"

namespace kepler::model_store {
Result<PrivateKey> PrivateKey::Parse(std::string_view pem) {
  // Without this callback OpenSSL would read the password of an encrypted key from the terminal.
  const auto no_password = [](char* /*buffer*/, int /*size*/, int /*writes*/, void* /*user*/) { return 0; };
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                       BIO_free);
  std::shared_ptr<EVP_PKEY> key(text ? PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr) : nullptr,
                                EVP_PKEY_free);
  ERR_clear_error();  // TLS reads the error queue of this thread
  if (!key)
    return Fail(ErrorKind::kMalformed,
                "it is not a private key in PEM without a password (-----BEGIN PRIVATE KEY-----); make one with "
                "openssl genpkey -algorithm ed25519");
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519)
    return Fail(ErrorKind::kInvalid, "it is not an Ed25519 key; make one with openssl genpkey -algorithm ed25519");
  return PrivateKey(std::move(key));
}

Result<std::string> PrivateKey::Sign(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::string signature(PublicKeys::kSignatureBytes, '\0');
  size_t size = signature.size();
  const bool is_signed = digest && EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
                         EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                        reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1 &&
                         size == signature.size();
  ERR_clear_error();
  if (!is_signed) return Fail(ErrorKind::kIo, "OpenSSL cannot sign with the key");
  return signature;
}

}  // namespace kepler::model_store
