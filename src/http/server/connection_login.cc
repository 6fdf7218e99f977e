// The part of a connection that lets requests in, or does not.
#include <utility>

#include "http/server/connection.h"
#include "http/server/response_head.h"

namespace kepler::http {

void Connection::Authenticate(const std::string& authorization, std::chrono::steady_clock::time_point now) {
  const auto& users = web_->config.users;
  const auto credentials = ParseBasicAuth(authorization);
  // Who is known to be right never pays for those who are not.
  if (credentials && core_.passwords.Knows(users, *credentials)) return Route();
  if (credentials && core_.passwords.WaitOf(client_) > std::chrono::nanoseconds(0)) return Deny(Denial::kBackoff);
  if (!core_.buckets.Take(client_, web_->config.rate_limit, now)) return Deny(Denial::kRateLimit);
  if (users.empty()) return Route();
  if (!credentials) return Deny(Denial::kNoCredentials);
  state_ = State::kAuthenticating;
  waiting_since_ = now;
  SetDeadline(core_.limits.header_time);
  core_.passwords.Check(users, *credentials, client_,
                        [weak = weak_from_this(), number = request_number_, user = credentials->user](Verdict verdict) {
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

void Connection::OnVerdict(uint64_t request, Verdict verdict, const std::string& user) {
  if (state_ != State::kAuthenticating || request != request_number_) return;
  deadline_.Cancel();
  switch (verdict) {
    case Verdict::kAllowed:
      return StillHas(user) ? Route() : Deny(Denial::kPassword);
    case Verdict::kDenied:
      return Deny(Denial::kPassword);
    case Verdict::kPutOff:
      return Deny(Denial::kBackoff);
    case Verdict::kBusy:
      return Deny(Denial::kBusy);
  }
}

void Connection::Deny(Denial reason) {
  ++core_.counters.denied[static_cast<size_t>(reason)];
  const unsigned status = reason == Denial::kBusy                                      ? 503
                          : reason == Denial::kBackoff || reason == Denial::kRateLimit ? 429
                                                                                       : 401;
  auto answer = PlainAnswer(status);
  if (status == 401) answer.headers.emplace_back("WWW-Authenticate", "Basic");
  if (reason == Denial::kBackoff) {
    const auto wait = std::chrono::ceil<std::chrono::seconds>(core_.passwords.WaitOf(client_));
    answer.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  }
  Answer(std::move(answer));
}

}  // namespace kepler::http
