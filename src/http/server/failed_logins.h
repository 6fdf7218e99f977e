#pragma once
// Who guesses: failed logins by client, and how long each has to wait before the next password is hashed for it. Pure;
// time is handed in. Nobody is excused by a login that works, or a guesser with an account would begin anew at will;
// failures are forgotten with time.
#include <chrono>
#include <cstdint>
#include <map>

#include "base/clock.h"
#include "http/server/client_address.h"

namespace kepler::http::server {

class FailedLogins {
 public:
  static constexpr uint64_t kFirstToWait = 5;  // the hashed failure from which on one waits: people mistype
  static constexpr size_t kMaxClients = 1024;  // beyond, the one is forgotten whose last failure is the oldest
  static constexpr std::chrono::seconds kFirstWait{1}, kLongestWait{60};  // doubled with each failure
  static constexpr std::chrono::minutes kMemory{10};

  /// One more, `hashed` where it cost a hash. Returns how many there are of this client by now.
  uint64_t Add(const ClientAddress& client, bool hashed, BootTime now);
  /// Until its next password is hashed; 0 for who has not failed too often.
  [[nodiscard]] std::chrono::nanoseconds Wait(const ClientAddress& client, BootTime now) const;
  /// Whether it has failed and that is not forgotten.
  [[nodiscard]] bool Has(const ClientAddress& client, BootTime now) const;
  [[nodiscard]] size_t size() const { return clients_.size(); }

 private:
  struct Record {
    uint64_t failures = 0;
    uint64_t hashed = 0;
    BootTime last{};
    BootTime not_before{};
  };
  [[nodiscard]] Record& RecordOf(const ClientAddress& client, BootTime now);

  std::map<ClientAddress, Record> clients_;
};

}  // namespace kepler::http::server
