#include "http/server/login_queue.h"

#include <algorithm>
#include <tuple>

namespace kepler::http {

LoginQueue::Client* LoginQueue::Find(const ClientAddress& client) {
  const auto network = networks_.find(NetworkOf(client));
  if (network == networks_.end()) return nullptr;
  const auto found = std::ranges::find(network->second.clients, client, &Client::address);
  return found == network->second.clients.end() ? nullptr : &*found;
}

bool LoginQueue::AllFailed(const Network& network) { return std::ranges::all_of(network.clients, &Client::has_failed); }

void LoginQueue::Forget(const ClientNetwork& name) {
  if (!networks_.at(name).clients.empty()) return;
  networks_.erase(name);
  std::erase(turns_, name);
}

LoginQueue::Added LoginQueue::Add(LoginJob job) {
  if (const Client* const same = Find(job.client); same != nullptr && same->jobs.size() >= kMaxOfOne) return {};
  Added added{.queued = true};
  if (size_ >= kMax) {
    added.dropped = MakeRoomFor(job);
    if (!added.dropped) return {};
  }
  const ClientNetwork name = NetworkOf(job.client);
  const auto [network, is_new] = networks_.try_emplace(name);
  if (is_new) turns_.push_back(name);
  Client* client = Find(job.client);
  if (client == nullptr) client = &network->second.clients.emplace_back(Client{.address = job.client});
  client->has_failed |= job.has_failed;
  client->jobs.push_back(std::move(job));
  ++network->second.jobs;
  ++size_;
  return added;
}

/// Only what makes shares more equal: or else those of the same share could push each other out for ever.
std::optional<LoginJob> LoginQueue::MakeRoomFor(const LoginJob& job) {
  const auto own = networks_.find(NetworkOf(job.client));
  const size_t own_jobs = own == networks_.end() ? 0 : own->second.jobs;
  auto from = std::ranges::max_element(networks_, {}, [](const auto& entry) { return entry.second.jobs; });
  bool other = from->second.jobs > own_jobs + 1;
  if (!other && !job.has_failed) {
    const auto failed = std::ranges::find_if(networks_, [](const auto& entry) { return AllFailed(entry.second); });
    if (failed != networks_.end() && failed != own) {
      from = failed;
      other = true;
    }
  }
  if (!other && own == networks_.end()) return std::nullopt;
  if (!other) from = own;
  auto& clients = from->second.clients;
  const auto share = [](const Client& client) { return std::tuple(client.jobs.size(), client.has_failed); };
  const auto most = std::ranges::max_element(clients.rbegin(), clients.rend(), {}, share).base() - 1;  // the last such
  const Client* const same = Find(job.client);
  const size_t with_this = (same == nullptr ? 0 : same->jobs.size()) + 1;
  if (!other && share(*most) <= std::tuple(with_this, job.has_failed)) return std::nullopt;
  LoginJob dropped = std::move(most->jobs.back());
  most->jobs.pop_back();
  --from->second.jobs;
  --size_;
  if (most->jobs.empty()) clients.erase(most);
  Forget(NetworkOf(dropped.client));
  return dropped;
}

std::optional<LoginJob> LoginQueue::Take() {
  if (turns_.empty()) return std::nullopt;
  const ClientNetwork name = turns_.front();
  turns_.pop_front();
  turns_.push_back(name);
  Network& network = networks_.at(name);
  auto& clients = network.clients;
  auto next = std::ranges::find(clients, false, &Client::has_failed);
  if (next == clients.end()) next = clients.begin();
  LoginJob job = std::move(next->jobs.front());
  next->jobs.pop_front();
  --network.jobs;
  --size_;
  if (next->jobs.empty())
    clients.erase(next);
  else
    std::rotate(next, next + 1, clients.end());
  Forget(name);
  return job;
}

std::deque<LoginJob> LoginQueue::TakeAllOf(const ClientAddress& client) {
  Client* const found = Find(client);
  if (found == nullptr) return {};
  const ClientNetwork name = NetworkOf(client);
  auto jobs = std::move(found->jobs);
  Network& network = networks_.at(name);
  network.jobs -= jobs.size();
  size_ -= jobs.size();
  std::erase_if(network.clients, [&](const Client& other) { return other.address == client; });
  Forget(name);
  return jobs;
}

void LoginQueue::MarkFailed(const ClientAddress& client) {
  if (Client* const found = Find(client); found != nullptr) found->has_failed = true;
}

}  // namespace kepler::http
