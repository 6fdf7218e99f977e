#include "http/server/acceptor.h"

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

namespace kepler::http::server {
namespace {

constexpr std::chrono::milliseconds kFirstDelay{50}, kLastDelay{1000};
constexpr int kMaxAtOnce = 64;  // number of connections to accept before other clients get their turn

/// Errors that belong to one client (it went away, or its network failed), not to this process: accept(2).
bool ClientsFault(int err) {
  constexpr int kTheirs[] = {EINTR,       ECONNABORTED, EPROTO,      ENETDOWN,   EHOSTDOWN, EHOSTUNREACH,
                             ENETUNREACH, ENONET,       ENOPROTOOPT, EOPNOTSUPP, EPERM};
  return std::ranges::find(kTheirs, err) != std::end(kTheirs);
}

}  // namespace

Acceptor::Acceptor(ServerCore& core, Socket socket)
    : core_(core),
      socket_(std::move(socket)),
      address_(LocalAddress(socket_.fd())),
      retry_(*core.loop),
      delay_(kFirstDelay) {}

void Acceptor::Accept() {
  if (core_.draining) return;
  for (int i = 0; i < kMaxAtOnce; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    UniqueFd fd(::accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      delay_ = kFirstDelay;
      Admit(std::move(fd), AddressOf(peer, size));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      socket_.WhenReadable([this] { Accept(); });
      return;
    }
    if (!ClientsFault(errno)) return BackOff(errno);
  }
  core_.loop->Post([this] { Accept(); });
}

void Acceptor::BackOff(int err) {
  core_.Count(&status::HttpStatus::accept_errors);
  limiter_.Say(log::Level::kWarn, std::strerror(err), clock_.Now(),
               "failed to accept a connection, retrying; raise the limit of open files if this continues",
               {{"address", address_}, {"err", std::strerror(err)}});
  retry_.Start(delay_, [this] { Accept(); });
  delay_ = std::min(delay_ * 2, kLastDelay);
}

void Acceptor::Admit(UniqueFd fd, const ClientAddress& client) {
  core_.Count(&status::HttpStatus::connections);
  if (core_.limits.web_check_time.count() == 0) Connection::CheckWebFile(core_);
  const bool full = core_.connections.size() - core_.refusing >= core_.max_connections && !MakeRoom(client);
  if (full) {
    core_.Count(&status::HttpStatus::connections_refused);
    // A TLS client could read the reason only after a handshake.
    if (core_.web->current()->tls != nullptr || core_.refusing >= core_.max_refusing) return;
  }
  const int on = 1;  // answers are complete when written: nothing is gained by waiting for more
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto socket = Socket::Create(*core_.loop, std::move(fd));
  if (!socket) {
    core_.Count(&status::HttpStatus::accept_errors);
    return;
  }
  Connection::Start(core_, *std::move(socket), client,
                    full ? Connection::Admission::kRefused : Connection::Admission::kServed);
}

/// Returns the connection whose loss costs least: it waits for a request or for the check of a password, or it lingers
/// after a failed handshake. Null if no connection may be closed. A client that has not yet been authenticated may take
/// `first_words_time`. While there is such a newcomer, no connection of an authenticated client is returned.
Connection* Acceptor::LeastOfAll() const {
  Connection* least = nullptr;
  std::optional<Connection::Waiting> least_waiting;
  bool has_newcomer = false;
  for (const auto& [_, connection] : core_.connections) {
    const auto waiting = connection->waiting();
    if (!waiting) continue;
    const bool is_new = IsNew(*waiting);
    has_newcomer |= is_new;
    if (is_new || (least_waiting && *least_waiting <= *waiting)) continue;
    least = connection.get();
    least_waiting = waiting;
  }
  return has_newcomer && least_waiting && least_waiting->standing == Connection::Standing::kKnown ? nullptr : least;
}

bool Acceptor::IsNew(const Connection::Waiting& waiting) const {
  return waiting.standing != Connection::Standing::kKnown && !waiting.leaving &&
         std::chrono::steady_clock::now() - waiting.since < core_.limits.first_words_time;
}

/// Returns the number of newcomers that are not in these sorted clients.
size_t Acceptor::NewcomersOtherThan(const std::vector<ClientAddress>& clients) const {
  return static_cast<size_t>(std::ranges::count_if(core_.connections, [&](const auto& entry) {
    const auto waiting = entry.second->waiting();
    return waiting && IsNew(*waiting) && !std::ranges::binary_search(clients, entry.second->client());
  }));
}

/// `clients` are sorted. Returns null if all of their connections are being refused.
Connection* Acceptor::OldestOf(const std::vector<ClientAddress>& clients) const {
  Connection* oldest = nullptr;
  for (const auto& [_, connection] : core_.connections)
    if (!connection->is_refused() && std::ranges::binary_search(clients, connection->client()) &&
        (oldest == nullptr || connection->waiting_since() < oldest->waiting_since()))
      oldest = connection.get();
  return oldest;
}

/// Closes a connection at the limit. Otherwise a client with many silent or guessing connections would lock out all
/// others. Connections without a login are closed first, so that a flood cannot close a scraper's connection. If all
/// are being served, the network or client with the most connections loses one, because it possibly reads no answers.
/// Served connections of a client are protected if there are at least as many newcomers of other clients. Its own
/// newcomers do not count, because a flood would then protect itself.
bool Acceptor::MakeRoom(const ClientAddress& newcomer) {
  Connection* least = nullptr;
  for (int tries = 0; tries < kMaxAtOnce; ++tries) {
    least = LeastOfAll();
    if (least == nullptr || !least->HasSpoken()) break;
    least = nullptr;
  }
  if (least == nullptr) {
    const auto crowd = core_.shares.MoreThan(newcomer);
    if (crowd && crowd->connections > NewcomersOtherThan(crowd->clients)) least = OldestOf(crowd->clients);
  }
  if (least == nullptr) return false;
  core_.Count(&status::HttpStatus::connections_evicted);
  least->Cut();
  return true;
}

void Acceptor::Close() {
  retry_.Cancel();
  socket_.Close();
}

}  // namespace kepler::http::server
