#pragma once
// Keys that sign trusted models: signatures of Ed25519 (RFC 8032), as `openssl pkeyutl -sign -rawin` writes them.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::model_store {

/// At least one key. A signature by any of them is enough: while keys change, the old and the new one.
class PublicKeys {
 public:
  static constexpr size_t kSignatureBytes = 64;
  static constexpr size_t kMax = 8;

  /// Of "-----BEGIN PUBLIC KEY-----", as `openssl pkey -pubout` writes it, one behind the other. kMalformed for
  /// anything else that begins so and where nothing does, kInvalid for a key that is not of Ed25519, for one of small
  /// order, for which anybody can sign, and for more than kMax.
  [[nodiscard]] static Result<PublicKeys> Parse(std::string_view pem);
  /// The same of a file, which the errors name; as ReadSmallFile() too.
  [[nodiscard]] static Result<PublicKeys> Read(const std::string& path);

  /// kInvalid where `signature` is not that of `text` by one of them. Any thread.
  [[nodiscard]] Status Verify(std::string_view text, std::string_view signature) const;

 private:
  using Key = std::array<unsigned char, 32>;
  [[nodiscard]] static Result<Key> ParseOne(std::string_view pem);

  std::vector<Key> keys_;
};

}  // namespace kepler::model_store
