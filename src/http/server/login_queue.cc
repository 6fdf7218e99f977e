#include "http/server/login_queue.h"

namespace kepler::http {

bool LoginQueue::Add(LoginJob job) {
  const auto of_client = waiting_.find(job.client);
  if (size_ >= kMost || (of_client != waiting_.end() && of_client->second.size() >= kMostOfOne)) return false;
  if (of_client == waiting_.end()) turns_.push_back(job.client);
  waiting_[job.client].push_back(std::move(job));
  ++size_;
  return true;
}

std::optional<LoginJob> LoginQueue::Take() {
  if (turns_.empty()) return std::nullopt;
  const ClientAddress client = turns_.front();
  turns_.pop_front();
  const auto of_client = waiting_.find(client);
  LoginJob job = std::move(of_client->second.front());
  of_client->second.pop_front();
  --size_;
  if (of_client->second.empty())
    waiting_.erase(of_client);
  else
    turns_.push_back(client);
  return job;
}

std::deque<LoginJob> LoginQueue::TakeAllOf(const ClientAddress& client) {
  auto found = waiting_.extract(client);
  if (found.empty()) return {};
  std::erase(turns_, client);
  size_ -= found.mapped().size();
  return std::move(found.mapped());
}

}  // namespace kepler::http
