#pragma once
// For tests: a key, made on the spot, and what it signs.
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <string>
#include <string_view>

#include "model_store/public_keys.h"

namespace kepler::model_store {

inline std::string PublicPemOf(EVP_PKEY* key) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PUBKEY(out.get(), key);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<size_t>(size)};
}

class Signer {
 public:
  explicit Signer(const char* algorithm = "ED25519") : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm)) {}
  ~Signer() { EVP_PKEY_free(key_); }
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;

  [[nodiscard]] std::string PublicPem() const { return PublicPemOf(key_); }
  [[nodiscard]] std::string PrivatePem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PrivateKey(out.get(), key_, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<size_t>(size)};
  }
  [[nodiscard]] PublicKeys Key() const { return *PublicKeys::Parse(PublicPem()); }
  [[nodiscard]] std::string Sign(std::string_view text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::string signature(PublicKeys::kSignatureBytes, '\0');
    size_t size = signature.size();
    EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key_);
    EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    return signature;
  }

 private:
  EVP_PKEY* key_;
};

}  // namespace kepler::model_store
