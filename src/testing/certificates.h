#pragma once
// Certificates made on the spot, so that no test depends on one that expires.
#include <string>

namespace kepler::testing {

struct Certificate {
  std::string cert;  // PEM
  std::string key;   // PEM
};

[[nodiscard]] Certificate MakeAuthority(const std::string& name);
/// `names` in OpenSSL's notation: "DNS:a.example,IP:127.0.0.1,email:x@y.example,URI:spiffe://z"; "" for none.
[[nodiscard]] Certificate MakeLeaf(const Certificate& authority, const std::string& name,
                                   const std::string& names = "");
/// The key of `certificate` in PEM, encrypted with a password.
[[nodiscard]] std::string EncryptedKey(const Certificate& certificate);

}  // namespace kepler::testing
