#include "http/webconfig/bcrypt.h"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/parse.h"

namespace kepler::http::webconfig {
namespace {

constexpr int kMinCost = 4, kMaxCost = 31;  // crypt(5)

}  // namespace

bool IsBcryptHash(std::string_view hash) {
  constexpr std::string_view kAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  constexpr size_t kLength = 60;
  if (hash.size() != kLength || hash[3] != '$' || hash[6] != '$') return false;
  const auto variant = hash.substr(0, 3);
  if (variant != "$2a" && variant != "$2b" && variant != "$2y") return false;
  const int cost = BcryptCost(hash);
  return cost >= kMinCost && cost <= kMaxCost && hash.find_first_not_of(kAlphabet, 7) == std::string_view::npos;
}

int BcryptCost(std::string_view hash) { return static_cast<int>(ParseNumber<unsigned>(hash.substr(4, 2)).value_or(0)); }

bool BcryptMatches(const std::string& password, const std::string& hash) {
  const auto scratch = std::make_unique<crypt_data>();
  const char* computed = ::crypt_r(password.c_str(), hash.c_str(), scratch.get());
  const bool same = computed != nullptr && std::strlen(computed) == hash.size() &&
                    CRYPTO_memcmp(computed, hash.data(), hash.size()) == 0;
  OPENSSL_cleanse(scratch.get(), sizeof(crypt_data));
  return same;
}

CpuTime MeasureCheapestBcrypt() {
  const std::string cheapest = "$2y$04$" + std::string(53, '.');
  CpuTime least = CpuTime::max();
  for (int i = 0; i < 3; ++i) {              // the first one finds the caches cold
    const CpuTime before = ThreadCpuTime();  // what others do on the machine must not show
    static_cast<void>(BcryptMatches("measured", cheapest));
    least = std::min(least, ThreadCpuTime() - before);
  }
  return least;
}

std::chrono::duration<double> BcryptTime(int cost, CpuTime cheapest) {
  return std::chrono::duration<double>(cheapest) * std::ldexp(1.0, cost - kMinCost);
}

}  // namespace kepler::http::webconfig
