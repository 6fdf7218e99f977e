#pragma once
// bcrypt: a hash that is slow on purpose. Each step of the cost in a hash doubles its time.
#include <chrono>
#include <string>
#include <string_view>

namespace kepler::http::webconfig {

/// Maximum cost of a hash: 14 takes about a second. A hash of cost 31 would use a CPU for a day.
constexpr int kMaxBcryptCost = 14;

/// Returns true if crypt can check the hash: $2a$, $2b$ or $2y$, cost 04 to 31, 53 characters.
[[nodiscard]] bool IsBcryptHash(std::string_view hash);
/// Returns the cost of a hash that has passed IsBcryptHash().
[[nodiscard]] int BcryptCost(std::string_view hash);
/// Returns true if `hash` is a hash of `password`. Any thread.
[[nodiscard]] bool BcryptMatches(const std::string& password, const std::string& hash);

using CpuTime = std::chrono::nanoseconds;
/// Measures the CPU time of one hash of cost 4, the minimum, on this machine. Takes some milliseconds.
[[nodiscard]] CpuTime MeasureCheapestBcrypt();
/// Returns the time of a hash of `cost` if a hash of cost 4 takes `cheapest`.
[[nodiscard]] std::chrono::duration<double> BcryptTime(int cost, CpuTime cheapest);

}  // namespace kepler::http::webconfig
