#pragma once
// Keys that sign trusted models: signatures of Ed25519 (RFC 8032), as `openssl pkeyutl -sign -rawin` writes them.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::model_store {

/// At least one key. A signature by any of them is enough, so that an old and a new key can be in use at once.
class PublicKeys {
 public:
  static constexpr size_t kSignatureBytes = 64;
  static constexpr size_t kMax = 8;

  /// Parses one or more "-----BEGIN PUBLIC KEY-----" blocks, as `openssl pkey -pubout` writes them. kMalformed for a
  /// broken block and for a text without one. kInvalid for a key that is not Ed25519, for more than kMax keys, and for
  /// a key of small order, because anybody can sign for it.
  [[nodiscard]] static Result<PublicKeys> Parse(std::string_view pem);
  /// Parses a file. Errors name it; they are those of Parse() and ReadSmallFile().
  [[nodiscard]] static Result<PublicKeys> Read(const std::string& path);

  /// kInvalid if none of the keys has made `signature` for `text`. Any thread.
  [[nodiscard]] Status Verify(std::string_view text, std::string_view signature) const;

 private:
  using Key = std::array<unsigned char, 32>;
  [[nodiscard]] static Result<Key> ParseOne(std::string_view pem);

  std::vector<Key> keys_;
};

}  // namespace kepler::model_store
