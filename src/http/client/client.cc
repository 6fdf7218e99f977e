#include "http/client/client.h"

#include <algorithm>
#include <utility>

#include "http/client/client_connection.h"
#include "http/client/client_tls.h"
#include "http/client/exchange.h"

namespace kepler::http::client {
namespace {

using SteadyTime = ClientConnection::Time;

Result<Answer> RunOn(ClientConnection& connection, Exchange& exchange, const std::stop_token& stop) {
  connection.Restart();
  const std::stop_callback end_it(stop, [&connection] { connection.Interrupt(); });
  return exchange.Run(connection);
}

Status Open(ClientConnection& connection, const Deadlines& deadlines, SteadyTime end, const TlsSession& session,
            const std::stop_token& stop) {
  const std::stop_callback end_it(stop, [&connection] { connection.Interrupt(); });
  return connection.Open(deadlines.silence, end, session);
}

}  // namespace

/// The state that is kept between the requests to a peer.
struct Client::Known {
  struct Idle {
    std::unique_ptr<ClientConnection> connection;
    SteadyTime since;
  };
  Peer peer;
  std::shared_ptr<TlsContext> context;  // null without TLS
  TlsSession session;
  std::vector<Idle> idle;  // the longest idle connection first
};

/// The connection and TLS state that a request borrows from its peer.
struct Client::Lease {
  std::shared_ptr<TlsContext> context;
  TlsSession session;
  std::unique_ptr<ClientConnection> connection;  // null: open one
};

Client::Client(const PoolLimits& limits) : limits_(limits) {}
Client::~Client() = default;

std::list<Client::Known>::iterator Client::Find(const Peer& peer) {
  const auto known = std::ranges::find(known_, peer, &Known::peer);
  if (known != known_.end()) known_.splice(known_.begin(), known_, known);
  return known;
}

void Client::CloseOld() {
  const SteadyTime oldest = std::chrono::steady_clock::now() - limits_.idle;
  for (Known& known : known_) std::erase_if(known.idle, [&](const auto& idle) { return idle.since <= oldest; });
}

Result<Client::Lease> Client::Borrow(const Peer& peer) {
  std::unique_lock lock(mutex_);
  CloseOld();
  auto known = Find(peer);
  if (known == known_.end()) {
    lock.unlock();  // MakeTlsContext() may read all certificates that the system trusts
    KEPLER_TRY(auto context, MakeTlsContext(peer));
    lock.lock();
    known = Find(peer);
    if (known != known_.end()) known_.erase(known);  // another thread has added the same peer meanwhile
    if (known_.size() >= limits_.peers && !known_.empty()) known_.pop_back();
    known_.push_front({.peer = peer, .context = std::move(context), .session = {}, .idle = {}});
    known = known_.begin();
  }
  Lease lease{.context = known->context, .session = known->session, .connection = {}};
  while (!known->idle.empty() && !lease.connection) {
    lease.connection = std::move(known->idle.back().connection);
    known->idle.pop_back();
    if (!lease.connection->IsQuiet()) lease.connection.reset();
  }
  return lease;
}

void Client::GiveBack(const Peer& peer, std::unique_ptr<ClientConnection> connection, bool keep) {
  const std::scoped_lock lock(mutex_);
  const auto known = Find(peer);
  if (known == known_.end()) return;
  if (!keep || limits_.per_peer == 0) return;
  if (known->idle.size() >= limits_.per_peer) known->idle.erase(known->idle.begin());
  known->idle.push_back({.connection = std::move(connection), .since = std::chrono::steady_clock::now()});
}

void Client::KeepSession(const Peer& peer, const ClientConnection& connection) {
  TlsSession session = connection.Session();
  if (!session) return;
  const std::scoped_lock lock(mutex_);
  if (const auto known = Find(peer); known != known_.end()) known->session = std::move(session);
}

Result<Answer> Client::Send(const Peer& peer, const ClientRequest& request, const OnPiece& take,
                            const std::stop_token& stop) {
  KEPLER_CHECK_OK(CheckRequest(peer, request));
  const Deadlines& deadlines = request.deadlines;
  const auto end = deadlines.total.count() > 0 ? std::chrono::steady_clock::now() + deadlines.total : SteadyTime::max();
  KEPLER_TRY(Lease lease, Borrow(peer));
  if (lease.connection) {
    Exchange exchange(peer, request, take, end);
    auto answer = RunOn(*lease.connection, exchange, stop);
    if (answer) GiveBack(peer, std::move(lease.connection), exchange.keeps());
    lease.connection.reset();  // destroyed before `exchange`, whose bytes a pending write reads
    if (answer || stop.stop_requested() || !exchange.CanRestart(answer.error())) return answer;
  }
  Exchange exchange(peer, request, take, end);
  auto connection = std::make_unique<ClientConnection>(peer, std::move(lease.context));
  KEPLER_CHECK_OK(Open(*connection, deadlines, end, lease.session, stop));
  auto answer = RunOn(*connection, exchange, stop);
  if (!answer) return answer;
  KeepSession(peer, *connection);  // with TLS 1.3 it comes after the handshake
  GiveBack(peer, std::move(connection), exchange.keeps());
  return answer;
}

}  // namespace kepler::http::client
