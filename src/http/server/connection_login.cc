// The part of a connection that lets requests in, or does not.
#include <utility>

#include "http/server/connection.h"
#include "http/server/response_head.h"

namespace kepler::http {

void Connection::Authenticate(std::chrono::steady_clock::time_point now) {
  const auto& users = web_->config.users;
  const auto credentials = ParseBasicAuth(std::exchange(request_.authorization, {}));
  // Who is known to be right never pays for those who are not.
  if (credentials && core_.passwords.Knows(users, *credentials)) return Route();
  if (credentials && core_.passwords.WaitOf(client_) > std::chrono::nanoseconds(0)) return Deny(429, &Denied::backoff);
  if (!core_.buckets.Take(client_, web_->config.rate_limit, now)) return Deny(429, &Denied::rate_limit);
  if (users.empty()) return Route();
  if (!credentials) return Deny(401, &Denied::no_credentials);
  state_ = State::kAuthenticating;
  waiting_since_ = now;
  SetDeadline(core_.limits.header_time);
  core_.passwords.Check(users, *credentials, client_,
                        [weak = weak_from_this(), number = ++awaited_, user = credentials->user](LoginVerdict verdict) {
                          if (const auto self = weak.lock()) self->OnVerdict(number, verdict, user);
                        });
}

/// Whether the rules in force let `user` in with the hash that its password was compared with: they may have changed
/// meanwhile.
bool Connection::StillHas(const std::string& user) const {
  const auto in_force = core_.web->current();
  const auto then = web_->config.users.find(user), now = in_force->config.users.find(user);
  return then != web_->config.users.end() && now != in_force->config.users.end() && then->second == now->second;
}

void Connection::OnVerdict(uint64_t number, LoginVerdict verdict, const std::string& user) {
  if (state_ != State::kAuthenticating || number != awaited_) return;
  deadline_.Cancel();
  if (verdict == LoginVerdict::kAllowed && StillHas(user)) return Route();
  if (verdict == LoginVerdict::kPutOff) return Deny(429, &Denied::backoff);
  if (verdict == LoginVerdict::kBusy) return Deny(503, &Denied::busy);
  Deny(401, &Denied::password);
}

void Connection::Deny(unsigned status, uint64_t Denied::* reason) {
  core_.Count(reason);
  auto answer = PlainAnswer(status);
  if (status == 401) answer.headers.emplace_back("WWW-Authenticate", "Basic");
  if (reason == &Denied::backoff) {
    const auto wait = std::chrono::ceil<std::chrono::seconds>(core_.passwords.WaitOf(client_));
    answer.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  }
  Answer(std::move(answer));
}

}  // namespace kepler::http
