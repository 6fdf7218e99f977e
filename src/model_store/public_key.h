#pragma once
// Whose models are believed: signatures of Ed25519 (RFC 8032), as `openssl pkeyutl -sign -rawin` writes them.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::model_store {

class PublicKey {
 public:
  static constexpr size_t kSignatureBytes = 64;

  /// Of "-----BEGIN PUBLIC KEY-----", as `openssl pkey -pubout` writes it. kMalformed for anything else, kInvalid for a
  /// key that is not of Ed25519.
  [[nodiscard]] static Result<PublicKey> Parse(std::string_view pem);
  /// The same of a file, which the errors name; as ReadSmallFile() too.
  [[nodiscard]] static Result<PublicKey> Read(const std::string& path);

  /// kInvalid where `signature` is not that of `text` by this key. Any thread.
  [[nodiscard]] Status Verify(std::string_view text, std::string_view signature) const;

 private:
  std::array<unsigned char, 32> bytes_{};
};

}  // namespace kepler::model_store
