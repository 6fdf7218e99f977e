#include "http/server/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "http/server/connection.h"
#include "http/server/listen_address.h"

namespace kepler::http {
namespace {

constexpr std::chrono::milliseconds kFirstDelay{50}, kLastDelay{1000};
constexpr int kMaxAtOnce = 64;  // accepted before other clients get their turn

/// Errors that belong to one client (it went away, or its network failed), not to this process: accept(2).
bool ClientsFault(int err) {
  switch (err) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENONET:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case EPERM:
      return true;
    default:
      return false;
  }
}

}  // namespace

Listener::Listener(ServerCore& core, FdWatch watch)
    : core_(core),
      watch_(std::move(watch)),
      address_(LocalAddress(watch_.fd())),
      retry_(*core.loop),
      delay_(kFirstDelay) {}

void Listener::Accept() {
  if (core_.draining) return;
  for (int i = 0; i < kMaxAtOnce; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    UniqueFd socket(::accept4(watch_.fd(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      delay_ = kFirstDelay;
      Admit(std::move(socket), AddressOf(peer, size));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      watch_.WhenReadable([this] { Accept(); });
      return;
    }
    if (!ClientsFault(errno)) return BackOff(errno);
  }
  core_.loop->Post([this] { Accept(); });
}

void Listener::BackOff(int err) {
  ++core_.counters.accept_errors;
  if (const auto verdict = limiter_.Ask(std::strerror(err), clock_.Now()); verdict.pass) {
    log::Warn("cannot accept connections, will try again; raise the limit of open files if this lasts",
              {{"address", address_}, {"err", std::strerror(err)}, {"suppressed", std::to_string(verdict.suppressed)}});
  }
  retry_.Start(delay_, [this] { Accept(); });
  delay_ = std::min(delay_ * 2, kLastDelay);
}

void Listener::Admit(UniqueFd socket, const ClientAddress& client) {
  ++core_.counters.total;
  if (core_.limits.web_check_time.count() == 0) Connection::LookAtWebFile(core_);
  const bool full = core_.connections.size() - core_.refusing >= core_.max_connections && !MakeRoom();
  if (full) {
    ++core_.counters.refused;
    // A TLS client would have to shake hands first to hear why.
    if (core_.web->current()->tls != nullptr || core_.refusing >= core_.max_refusing) return;
  }
  const int on = 1;  // answers are complete when written: nothing is gained by waiting for more
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto watch = FdWatch::Create(*core_.loop, std::move(socket));
  if (!watch) {
    ++core_.counters.accept_errors;
    return;
  }
  Connection::Start(core_, *std::move(watch), client,
                    full ? Connection::Admission::kRefused : Connection::Admission::kServed);
}

/// The one with which least is lost, of those that wait for a request or for the verdict on a password; null where
/// there is none. Who has not been let in has `first_words_time`; while there is such a one, those that have been stay.
Connection* Listener::LeastOfAll() const {
  Connection* least = nullptr;
  std::optional<Connection::Waiting> least_waiting;
  bool has_newcomer = false;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [_, connection] : core_.connections) {
    const auto waiting = connection->waiting();
    if (!waiting) continue;
    const bool is_new =
        waiting->standing != Connection::Standing::kKnown && now - waiting->since < core_.limits.first_words_time;
    has_newcomer |= is_new;
    if (is_new || (least_waiting && *least_waiting <= *waiting)) continue;
    least = connection.get();
    least_waiting = waiting;
  }
  if (has_newcomer && least_waiting && least_waiting->standing == Connection::Standing::kKnown) return nullptr;
  return least;
}

/// Or else whoever opens enough connections and says nothing, or guesses on each, would keep everybody out. Who was
/// never let in gives way first: a flood from outside must not take a scraper's connection.
bool Listener::MakeRoom() {
  for (int tries = 0; tries < kMaxAtOnce; ++tries) {
    Connection* const least = LeastOfAll();
    if (least == nullptr) return false;
    if (least->HasSpoken()) continue;
    ++core_.counters.evicted;
    least->Close();
    return true;
  }
  return false;
}

void Listener::Close() {
  retry_.Cancel();
  watch_.Close();
}

}  // namespace kepler::http
