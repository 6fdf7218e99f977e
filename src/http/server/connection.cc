#include "http/server/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <utility>

#include "http/server/responder.h"
#include "http/server/response_head.h"

namespace kepler::http {
namespace {

constexpr uint64_t kMaxBody = uint64_t{64} * 1024;  // dropped to keep a connection; a longer body ends it
constexpr size_t kMaxLingered = size_t{256} * 1024;
constexpr std::chrono::seconds kLingerTime{1};
constexpr int kReadsPerTurn = 4;  // then the other clients and the deadlines, this client's own included

/// A request in plain text to a TLS port begins with a method; a TLS record begins with 22.
bool LooksLikePlainHttp(int fd) {
  char first = 0;
  return ::recv(fd, &first, 1, MSG_PEEK) == 1 && first >= 'A' && first <= 'Z';
}

}  // namespace

void Connection::Start(ServerCore& core, FdWatch watch, const ClientAddress& client, Admission admission) {
  const auto self = std::make_shared<Connection>(core, std::move(watch), client, admission);
  core.connections.emplace(self.get(), self);
  if (admission == Admission::kRefused) ++core.refusing;
  core.CountConnections();
  self->Begin();
}

Connection::Connection(ServerCore& core, FdWatch watch, const ClientAddress& client, Admission admission)
    : core_(core),
      watch_(std::move(watch)),
      web_(core.web->current()),
      tls_(web_->tls),
      stream_(watch_.fd(), tls_.get()),
      deadline_(*core.loop),
      client_(client),
      admission_(admission) {}

void Connection::LookAtWebFile(ServerCore& core) {
  if (!core.web->Look(std::chrono::steady_clock::now())) return;
  core.WarnOfWebFile();
  const auto connections = core.connections;  // closing changes the table
  for (const auto& [key, connection] : connections) connection->EndIfRulesChanged();
}

void Connection::EndIfRulesChanged() {
  if (core_.web->current()->tls == tls_) return;
  keep_alive_ = false;
  if (state_ == State::kReading) stream_.CloseWriting();
  Drain();
}

void Connection::Begin() {
  if (admission_ == Admission::kRefused) {
    return AnswerAndClose(PlainAnswer(503, "too many connections; try again later"));
  }
  SetDeadline(core_.limits.header_time);
  waiting_since_ = std::chrono::steady_clock::now();
  state_ = stream_.tls() ? State::kHandshake : State::kReading;
  WaitFor(IoState::kWantRead);
}

void Connection::Advance() {
  switch (state_) {
    case State::kHandshake:
      return DoHandshake();
    case State::kReading:
      return DoRead();
    case State::kWriting:
      return DoWrite();
    case State::kLingering:
      return DoLinger();
    case State::kAuthenticating:
    case State::kHandling:
    case State::kClosed:
      return;
  }
}

void Connection::WaitFor(IoState what) {
  auto go_on = [self = shared_from_this()] { self->Advance(); };
  if (what == IoState::kWantRead)
    watch_.WhenReadable(std::move(go_on));
  else if (what == IoState::kWantWrite)
    watch_.WhenWritable(std::move(go_on));
  else
    Close();
}

void Connection::SetDeadline(std::chrono::nanoseconds delay) {
  deadline_.Start(delay, [self = shared_from_this()] { self->OnDeadline(); });
}

void Connection::OnDeadline() {
  // The password stays in the queue: the next request finds the verdict.
  if (state_ == State::kAuthenticating) return Deny(Denial::kBusy);
  const bool cut = state_ == State::kHandshake || state_ == State::kWriting || (state_ == State::kReading && !idle_);
  if (cut) ++core_.counters.timeouts;
  // A body that stays away belongs to a request that has its answer: a 408 would be taken for the next one's.
  if (state_ == State::kReading && cut && skip_ == 0) {
    keep_alive_ = false;
    const auto answer = PlainAnswer(408, "the request did not come in time");
    static_cast<void>(stream_.Write(HeadOf(answer), *answer.body));  // best effort: one attempt
    stream_.CloseWriting();
  }
  if (state_ == State::kWriting) {
    // An orderly close would leave the unsent rest with the kernel, for as long as the reader pleases.
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(watch_.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  Close();
}

void Connection::DoHandshake() {
  if (std::exchange(fresh_, false) && LooksLikePlainHttp(watch_.fd())) {
    ++core_.counters.handshake_errors;
    stream_ = Stream(watch_.fd(), nullptr);
    return AnswerAndClose(PlainAnswer(400, "Client sent an HTTP request to an HTTPS server."));
  }
  const auto state = stream_.Handshake();
  if (state == IoState::kDone) {
    state_ = State::kReading;
    return DoRead();
  }
  if (state == IoState::kFailed || state == IoState::kEnd) ++core_.counters.handshake_errors;
  WaitFor(state);
}

void Connection::DoRead() {
  for (int reads = 0; !TakeHead(); ++reads) {
    // Not WaitFor(kWantRead): TLS may hold bytes already, of which the socket says nothing.
    if (reads == kReadsPerTurn) return core_.loop->Post([self = shared_from_this()] { self->Advance(); });
    const auto read = stream_.Read(core_.scratch);
    if (read.state != IoState::kDone) return WaitFor(read.state);
    input_.append(core_.scratch.data(), read.bytes);
    if (std::exchange(idle_, false)) SetDeadline(core_.limits.header_time);
  }
}

void Connection::DropBody() {
  if (skip_ == 0) return;
  const auto dropped = std::min<uint64_t>(skip_, input_.size());
  skip_ -= dropped;
  input_.erase(0, dropped);
  if (skip_ == 0) AwaitRequest();
}

void Connection::AwaitRequest() {
  idle_ = input_.empty();
  SetDeadline(idle_ ? core_.limits.idle_time : core_.limits.header_time);
}

bool Connection::TakeHead() {
  DropBody();
  // Empty lines before a request are tolerated, as RFC 9112 asks, and count as part of it: not without end.
  size_t blank = 0;
  while (std::string_view(input_).substr(blank).starts_with("\r\n")) blank += 2;
  input_.erase(0, blank);
  blank_ += blank;
  if (blank > 0) searched_ = 0;
  const auto end = FindHeadEnd(input_, searched_);
  if (blank_ + end.value_or(input_.size()) > core_.limits.header_bytes) {
    AnswerAndClose(PlainAnswer(431));
    return true;
  }
  if (!end) {
    searched_ = input_.size();
    return false;
  }
  const std::string head = input_.substr(0, *end);
  input_.erase(0, *end);
  if (input_.empty()) input_.shrink_to_fit();
  searched_ = 0;
  blank_ = 0;
  OnHead(head);
  return true;
}

void Connection::OnHead(std::string_view text) {
  deadline_.Cancel();
  ++core_.counters.requests;
  ++request_number_;
  const auto now = std::chrono::steady_clock::now();
  if (core_.limits.web_check_time.count() == 0) LookAtWebFile(core_);
  if (state_ == State::kClosed) return;
  web_ = core_.web->current();
  auto head = ParseRequestHead(text);
  if (!head) return AnswerAndClose(PlainAnswer(head.error().status, head.error().reason));
  PlanBody(*head);
  request_ = std::move(head->request);
  head_only_ = request_.method == "HEAD";
  Authenticate(head->authorization, now);
}

void Connection::PlanBody(const RequestHead& head) {
  http10_ = head.http10;
  keep_alive_ = head.keep_alive && !core_.draining;
  skip_ = head.content_length;
  // Who asks first whether to send a body gets the answer instead, and is free to send the body or not: where the next
  // request would begin cannot be known.
  const bool asks = head.expects_continue && head.content_length > 0;
  if (head.unbounded_body || asks || head.content_length > kMaxBody) {
    keep_alive_ = false;
    skip_ = 0;
  }
}

void Connection::Route() {
  known_ = true;
  if (request_.method != "GET" && !head_only_) {
    auto answer = PlainAnswer(405);
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return Answer(std::move(answer));
  }
  const auto handler = core_.handlers.find(request_.path);
  if (handler == core_.handlers.end()) return Answer(PlainAnswer(404, "404 page not found"));
  request_.method = "GET";
  state_ = State::kHandling;
  const Request request = std::exchange(request_, {});
  handler->second(request, Responder(MakeResponderImpl(core_.loop, weak_from_this(), request_number_)));
}

void Connection::Deliver(uint64_t request, Response response) {
  if (state_ == State::kHandling && request == request_number_) Answer(std::move(response));
}

void Connection::AnswerAndClose(Response response) {
  keep_alive_ = false;
  Answer(std::move(response));
}

std::string Connection::HeadOf(const Response& response) const {
  return RenderHead(
      response,
      {.keep_alive = keep_alive_, .http10 = http10_, .now = std::time(nullptr), .extra = web_->config.headers});
}

void Connection::Answer(Response response) {
  if (core_.draining) keep_alive_ = false;
  head_ = HeadOf(response);
  body_ = head_only_ ? nullptr : std::move(response.body);
  sent_ = 0;
  state_ = State::kWriting;
  SetDeadline(core_.limits.write_time);
  DoWrite();
}

void Connection::DoWrite() {
  const std::string_view body = body_ ? std::string_view(*body_) : std::string_view();
  while (sent_ < head_.size() + body.size()) {
    const auto in_head = std::min(sent_, head_.size());
    const auto wrote = stream_.Write(std::string_view(head_).substr(in_head), body.substr(sent_ - in_head));
    if (wrote.state != IoState::kDone) return WaitFor(wrote.state);
    sent_ += wrote.bytes;
  }
  FinishAnswer();
}

void Connection::FinishAnswer() {
  head_ = {};
  body_.reset();
  if (!keep_alive_) {
    stream_.CloseWriting();
    state_ = State::kLingering;
    SetDeadline(kLingerTime);
    return DoLinger();
  }
  state_ = State::kReading;
  head_only_ = http10_ = false;  // the next head may be one that cannot be read
  waiting_since_ = std::chrono::steady_clock::now();
  if (skip_ == 0)
    AwaitRequest();
  else
    SetDeadline(core_.limits.header_time);  // for the rest of the body; idle_ is false since its head came
  // Not at once: a pipeline of requests would nest as deep as it is long, and the other clients would wait.
  core_.loop->Post([self = shared_from_this()] { self->Advance(); });
}

void Connection::DoLinger() {
  // Closing with unread bytes makes the kernel send a reset, which can overtake the answer.
  while (lingered_ < kMaxLingered) {
    const ssize_t n = ::recv(watch_.fd(), core_.scratch.data(), core_.scratch.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return WaitFor(IoState::kWantRead);
    if (n <= 0) break;
    lingered_ += static_cast<size_t>(n);
  }
  Close();
}

void Connection::Drain() {
  if (state_ == State::kHandshake || state_ == State::kReading) Close();
}

std::optional<Connection::Waiting> Connection::waiting() const {
  const bool logging_in = state_ == State::kAuthenticating;
  if (!logging_in && state_ != State::kHandshake && state_ != State::kReading) return std::nullopt;
  const auto standing = known_ ? Standing::kKnown : logging_in ? Standing::kLoggingIn : Standing::kUnknown;
  return Waiting{.standing = standing, .since = waiting_since_};
}

bool Connection::HasSpoken() {
  if (state_ == State::kAuthenticating) return false;  // its request is here; what follows is nothing it is owed
  char first = 0;
  if (::recv(watch_.fd(), &first, 1, MSG_PEEK) != 1) return false;
  waiting_since_ = std::chrono::steady_clock::now();
  return true;
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  deadline_.Cancel();
  watch_.Close();
  body_.reset();
  const auto self = core_.connections.extract(this);  // may be the last owner
  if (admission_ == Admission::kRefused) --core_.refusing;
  core_.CountConnections();
  if (core_.draining && core_.connections.empty()) core_.when_empty();
}

}  // namespace kepler::http
