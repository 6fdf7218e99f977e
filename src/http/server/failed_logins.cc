#include "http/server/failed_logins.h"

#include <algorithm>

namespace kepler::http::server {

FailedLogins::Record& FailedLogins::RecordOf(const ClientAddress& client, BootTime now) {
  const auto known = clients_.find(client);
  if (known != clients_.end()) {
    if (now - known->second.last > kMemory) known->second = {};
    return known->second;
  }
  std::erase_if(clients_, [&](const auto& entry) { return now - entry.second.last > kMemory; });
  if (clients_.size() >= kMaxClients)
    clients_.erase(std::ranges::min_element(clients_, {}, [](const auto& entry) { return entry.second.last; }));
  return clients_[client];
}

uint64_t FailedLogins::Add(const ClientAddress& client, bool hashed, BootTime now) {
  Record& record = RecordOf(client, now);
  record.last = now;
  ++record.failures;
  if (hashed && ++record.hashed >= kFirstToWait) {
    constexpr uint64_t kMaxDoublings = 6;  // 64 s, beyond the longest wait
    const auto doublings = std::min(record.hashed - kFirstToWait, kMaxDoublings);
    record.not_before = now + std::min<std::chrono::seconds>(kFirstWait * (1 << doublings), kLongestWait);
  }
  return record.failures;
}

bool FailedLogins::Has(const ClientAddress& client, BootTime now) const {
  const auto known = clients_.find(client);
  return known != clients_.end() && now - known->second.last <= kMemory;
}

std::chrono::nanoseconds FailedLogins::Wait(const ClientAddress& client, BootTime now) const {
  const auto known = clients_.find(client);
  if (known == clients_.end()) return {};
  return std::max(known->second.not_before - now, std::chrono::nanoseconds(0));
}

}  // namespace kepler::http::server
