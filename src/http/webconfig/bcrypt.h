#pragma once
// bcrypt: slow on purpose, twice as slow with each step of the cost that a hash names.
#include <chrono>
#include <string>
#include <string_view>

namespace kepler::http::webconfig {

/// What a hash may cost: 14 is about a second. One of 31 would keep a processor busy for a day.
constexpr int kMaxBcryptCost = 14;

/// Whether crypt can check it: $2a$, $2b$ or $2y$, cost 04 to 31, 53 characters.
[[nodiscard]] bool IsBcryptHash(std::string_view hash);
/// Of a hash that IsBcryptHash().
[[nodiscard]] int BcryptCost(std::string_view hash);
/// Whether bcrypt turns `password` into `hash`. Any thread.
[[nodiscard]] bool BcryptMatches(const std::string& password, const std::string& hash);

using CpuTime = std::chrono::nanoseconds;
/// CPU time of one hash of cost 4 on this machine, which is the least there is. Measured now: some milliseconds.
[[nodiscard]] CpuTime MeasureCheapestBcrypt();
/// What a hash of `cost` takes where one of cost 4 takes `cheapest`.
[[nodiscard]] std::chrono::duration<double> BcryptTime(int cost, CpuTime cheapest);

}  // namespace kepler::http::webconfig
