#include "http/server/connection.h"

#include <array>
#include <utility>

#include "http/server/queued_request.h"

namespace kepler::http::server {
namespace {

constexpr size_t kMaxLingered = size_t{256} * 1024;
constexpr std::chrono::seconds kLingerTime{1};

}  // namespace

void Connection::Start(ServerCore& core, Socket socket, const ClientAddress& client, Admission admission) {
  const auto self = std::make_shared<Connection>(core, std::move(socket), client, admission);
  core.connections.emplace(self.get(), self);
  if (admission == Admission::kRefused)
    ++core.refusing;
  else
    core.shares.Add(client);
  core.CountConnections();
  self->Begin();
}

Connection::Connection(ServerCore& core, Socket socket, const ClientAddress& client, Admission admission)
    : core_(core),
      socket_(std::move(socket)),
      web_(core.web->current()),
      tls_(web_->tls),
      deadline_(*core.loop),
      client_(client),
      admission_(admission) {}

void Connection::CheckWebFile(ServerCore& core) {
  if (!core.web->Check(std::chrono::steady_clock::now())) return;
  core.WarnOfWebFile();
  core.ForEach(&Connection::EndIfRulesChanged);
}

bool Connection::StreamMustEnd() const {
  const auto now = core_.web->current();
  return core_.draining || now->tls != tls_ || now->config.users != web_->config.users;
}

void Connection::EndIfRulesChanged() {
  // A user who lost access gets no more of the answer, and the body of the request is not passed to the handler.
  if ((state_ == State::kStreaming || state_ == State::kBody) && StreamMustEnd()) return Close();
  if (core_.web->current()->tls == tls_) return;
  keep_alive_ = false;
  if (state_ == State::kReading) socket_.CloseWriting();
  Drain();
}

void Connection::Begin() {
  if (admission_ == Admission::kRefused)
    return AnswerAndClose(PlainAnswer(503, "too many connections; try again later"));
  SetDeadline(core_.limits.header_time);
  waiting_since_ = std::chrono::steady_clock::now();
  state_ = tls_ ? State::kHandshake : State::kReading;
  WaitFor(IoState::kWantRead);
}

void Connection::Advance() {
  switch (state_) {
    case State::kHandshake:
      return DoHandshake();
    case State::kReading:
    case State::kBody:
      return DoRead();
    case State::kWriting:
      return DoWrite();
    case State::kLingering:
      return DoLinger();
    default:
      return;  // waits for the handler or for the check of a password
  }
}

void Connection::WaitFor(IoState what) {
  auto go_on = [self = shared_from_this()] { self->Advance(); };
  if (what == IoState::kWantRead)
    socket_.WhenReadable(std::move(go_on));
  else if (what == IoState::kWantWrite)
    socket_.WhenWritable(std::move(go_on));
  else
    Close();
}

void Connection::SetDeadline(std::chrono::nanoseconds delay) {
  deadline_.Start(delay, [self = shared_from_this()] { self->OnDeadline(); });
}

void Connection::OnDeadline() {
  // The password stays in the queue, so the next request finds the result in the cache.
  if (state_ == State::kAuthenticating) return Deny(503, &Denied::busy);
  if (state_ == State::kHandling) {  // on a worker
    core_.Count(&Denied::overload);
    StopAwaiting();
    return AnswerAndClose(Overloaded());
  }
  const bool reads = (state_ == State::kReading && !idle_) || state_ == State::kBody;
  if (reads || state_ == State::kHandshake || state_ == State::kWriting) core_.Count(&status::HttpStatus::timeouts);
  // If a body that no handler reads is missing, its request has an answer already. The client would take a 408 as the
  // answer to the next request.
  if (reads && skip_ == 0) {
    keep_alive_ = false;
    const auto answer = PlainAnswer(408, "the request did not arrive in time");
    static_cast<void>(
        socket_.Write(std::array<std::string_view, 2>{HeadOf(answer), *answer.body}));  // best effort: one attempt
    socket_.CloseWriting();
  }
  Cut();
}

void Connection::NoticeReset() {
  if (std::exchange(notices_reset_, true)) return;
  socket_.WhenReset([self = shared_from_this()] {
    self->notices_reset_ = false;
    if (self->state_ == State::kHandling) self->Close();
  });
}

void Connection::Cut() {
  // After a normal close, the kernel would keep the unsent data until the client has read it.
  if (state_ == State::kWriting) socket_.ResetOnClose();
  Close();
}

void Connection::DoHandshake() {
  // A request in plain text begins with a method; a TLS record begins with 22.
  const char first = std::exchange(fresh_, false) ? socket_.Peek().value_or(0) : '\0';
  if (first >= 'A' && first <= 'Z') {
    core_.Count(&status::HttpStatus::handshake_errors);
    return AnswerAndClose(PlainAnswer(400, "Client sent an HTTP request to an HTTPS server."));
  }
  const auto state = socket_.Handshake(tls_.get());
  if (state == IoState::kDone) {
    state_ = State::kReading;
    return DoRead();
  }
  if (state == IoState::kFailed || state == IoState::kEnd) core_.Count(&status::HttpStatus::handshake_errors);
  // With TLS 1.3 the first request has arrived already. A reset would then overtake the alert with the reason.
  if (state == IoState::kFailed) return Linger();
  WaitFor(state);
}

void Connection::Linger() {
  socket_.CloseWriting();
  state_ = State::kLingering;
  SetDeadline(kLingerTime);
  DoLinger();
}

void Connection::DoLinger() {
  // Closing with unread bytes makes the kernel send a reset, which can overtake the answer.
  while (lingered_ < kMaxLingered) {
    const auto read = socket_.ReadBare(core_.scratch);
    if (read.state == IoState::kWantRead) return WaitFor(read.state);
    if (read.state != IoState::kDone) break;
    lingered_ += read.bytes;
  }
  Close();
}

void Connection::Drain() {
  if (state_ == State::kHandshake || state_ == State::kReading || state_ == State::kStreaming) Close();
}

std::optional<Connection::Waiting> Connection::waiting() const {
  const bool logging_in = state_ == State::kAuthenticating;
  const bool leaving = state_ == State::kLingering && !known_;
  const bool awaited = logging_in || state_ == State::kHandshake || state_ == State::kReading || state_ == State::kBody;
  if (is_refused() || (!awaited && !leaving)) return std::nullopt;
  const auto standing = known_ ? Standing::kKnown : logging_in ? Standing::kLoggingIn : Standing::kUnknown;
  return Waiting{.standing = standing, .since = waiting_since_, .leaving = leaving};
}

bool Connection::HasSpoken() {
  // The request has arrived completely, so further bytes do not extend its time.
  if (state_ == State::kAuthenticating || state_ == State::kLingering) return false;
  if (!socket_.Peek()) return false;
  waiting_since_ = std::chrono::steady_clock::now();
  return true;
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  deadline_.Cancel();
  // A normal close would look like the end of the answer.
  if (pieces_ && request_.http10) socket_.ResetOnClose();
  socket_.Close();
  body_.reset();
  pieces_ = nullptr;
  incoming_.reset();
  const auto self = core_.connections.extract(this);  // may be the last owner
  if (admission_ == Admission::kRefused)
    --core_.refusing;
  else
    core_.shares.Remove(client_);
  core_.CountConnections();
  if (core_.draining && core_.connections.empty()) core_.when_empty();
}

}  // namespace kepler::http::server
