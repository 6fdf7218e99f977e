#pragma once
// FailedLogins: failed logins per client, and the time that a client must wait before its next password is hashed.
// Failures are forgotten after kMemory. A successful login does not reset them: an attacker with an account could then
// continue to guess. Pure; the caller passes the time.
#include <chrono>
#include <cstdint>
#include <map>

#include "base/clock.h"
#include "http/server/client_address.h"

namespace kepler::http::server {

class FailedLogins {
 public:
  static constexpr uint64_t kFirstToWait = 5;  // from this hashed failure on a client waits; users mistype passwords
  static constexpr size_t kMaxClients = 1024;  // above it, the client with the oldest latest failure is forgotten
  static constexpr std::chrono::seconds kFirstWait{1}, kLongestWait{60};  // the wait doubles with each failure
  static constexpr std::chrono::minutes kMemory{10};

  /// Records a failure. `hashed`: it cost a hash. Returns the number of failures of this client.
  uint64_t Add(const ClientAddress& client, bool hashed, BootTime now);
  /// Returns the time until the next password of the client is hashed; 0 if it may be hashed now.
  [[nodiscard]] std::chrono::nanoseconds Wait(const ClientAddress& client, BootTime now) const;
  /// Returns true if the client has a failure that is not forgotten.
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
