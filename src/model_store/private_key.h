#pragma once
// A key that signs models: Ed25519 (RFC 8032). Its signatures are those of `openssl pkeyutl -sign -rawin`, and
// PublicKeys verifies them.
#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::model_store {

class PrivateKey {
 public:
  /// Of "-----BEGIN PRIVATE KEY-----", as `openssl genpkey -algorithm ed25519` writes it, without a password.
  /// kMalformed for anything else, kInvalid for a key that is not of Ed25519. No error quotes the text.
  [[nodiscard]] static Result<PrivateKey> Parse(std::string_view pem);

  /// Returns the signature, 64 bytes. Any thread.
  [[nodiscard]] Result<std::string> Sign(std::string_view text) const;

 private:
  explicit PrivateKey(std::shared_ptr<EVP_PKEY> key) : key_(std::move(key)) {}

  std::shared_ptr<EVP_PKEY> key_;  // never null
};

}  // namespace kepler::model_store
