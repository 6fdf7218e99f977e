#include "http/server/login_queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kepler::http::server {

LoginJob LoginQueue::Remove(Jobs::iterator job) {
  const auto client = clients_.find(job->client);
  const auto network = networks_.find(NetworkOf(job->client));
  if (--client->second.jobs == 0) clients_.erase(client);
  if (--network->second.jobs == 0) networks_.erase(network);
  LoginJob removed = std::move(*job);
  jobs_.erase(job);
  return removed;
}

LoginQueue::Added LoginQueue::Add(LoginJob job) {
  const auto same = clients_.find(job.client);
  if (same != clients_.end() && same->second.jobs >= kMaxOfOne) return {};
  Added added{.queued = true};
  if (jobs_.size() >= kMax) {
    added.dropped = MakeRoomFor(job);
    if (!added.dropped) return {};
  }
  Client& client = clients_.try_emplace(job.client, Client{.turn = ++last_turn_}).first->second;
  client.has_failed |= job.has_failed;
  ++client.jobs;
  ++networks_.try_emplace(NetworkOf(job.client), Network{.turn = ++last_turn_}).first->second.jobs;
  jobs_.push_back(std::move(job));
  return added;
}

bool LoginQueue::AllFailed(const ClientNetwork& network) const {
  return std::ranges::none_of(
      clients_, [&](const auto& entry) { return NetworkOf(entry.first) == network && !entry.second.has_failed; });
}

/// Drops a job only if that makes the shares more equal. Otherwise clients with equal shares could replace each other.
std::optional<LoginJob> LoginQueue::MakeRoomFor(const LoginJob& job) {
  const auto own = networks_.find(NetworkOf(job.client));
  const size_t own_jobs = own == networks_.end() ? 0 : own->second.jobs;
  auto from = std::ranges::max_element(networks_, {}, [](const auto& entry) { return entry.second.jobs; });
  bool other = from->second.jobs > own_jobs + 1;
  if (!other && !job.has_failed) {
    const auto failed = std::ranges::find_if(networks_, [this](const auto& entry) { return AllFailed(entry.first); });
    if (failed != networks_.end() && failed != own) {
      from = failed;
      other = true;
    }
  }
  if (!other && own == networks_.end()) return std::nullopt;
  if (!other) from = own;
  const auto share = [&](const auto& entry) {
    const auto& [address, client] = entry;
    return std::tuple(NetworkOf(address) == from->first, client.jobs, client.has_failed, client.turn);
  };
  const auto most = std::ranges::max_element(clients_, {}, share);
  const auto same = clients_.find(job.client);
  const size_t with_this = (same == clients_.end() ? 0 : same->second.jobs) + 1;
  if (!other && std::tuple(most->second.jobs, most->second.has_failed) <= std::tuple(with_this, job.has_failed))
    return std::nullopt;
  const auto newest = std::ranges::find(jobs_.rbegin(), jobs_.rend(), most->first, &LoginJob::client);
  return Remove(std::prev(newest.base()));
}

std::optional<LoginJob> LoginQueue::Take() {
  if (jobs_.empty()) return std::nullopt;
  const auto next = std::ranges::min_element(jobs_, {}, [this](const LoginJob& job) {
    const Client& client = clients_.at(job.client);
    return std::tuple(networks_.at(NetworkOf(job.client)).turn, client.has_failed, client.turn);
  });
  networks_.at(NetworkOf(next->client)).turn = ++last_turn_;
  clients_.at(next->client).turn = ++last_turn_;
  return Remove(next);
}

std::deque<LoginJob> LoginQueue::TakeAllOf(const ClientAddress& client) {
  std::deque<LoginJob> taken;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto next = std::next(job);
    if (job->client == client) taken.push_back(Remove(job));
    job = next;
  }
  return taken;
}

void LoginQueue::MarkFailed(const ClientAddress& client) {
  if (const auto found = clients_.find(client); found != clients_.end()) found->second.has_failed = true;
}

}  // namespace kepler::http::server
