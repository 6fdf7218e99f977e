// Connection: reading and authenticating requests.
#include <span>
#include <utility>

#include "http/server/connection.h"
#include "http/server/queued_request.h"

namespace kepler::http::server {
namespace {

constexpr uint64_t kMaxDropped = 64 << 10;  // bytes of an unread body; after a longer one the connection closes
constexpr size_t kTimedBytes = 64 << 10;    // bytes of a body that must arrive within body_time
constexpr int kReadsPerTurn = 4;            // number of reads before other clients and all deadlines get their turn

}  // namespace

void Connection::DoRead() {
  for (int reads = 0; state_ == State::kBody ? !TakeBody() : !TakeHead(); ++reads) {
    // Not WaitFor(kWantRead): TLS may hold bytes already that the socket does not report.
    if (reads == kReadsPerTurn) return core_.loop->Post([self = shared_from_this()] { self->Advance(); });
    const auto read = socket_.Read(core_.scratch);
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
  // A TLS record begins with 22. Its client waits for a handshake, which a plain error ends.
  if (!tls_ && blank_ == 0 && input_.starts_with('\x16')) {
    AnswerAndClose(PlainAnswer(400, "Client sent a TLS handshake to an HTTP server."));
    return true;
  }
  // RFC 9112 requires to ignore empty lines before a request. They count in the limit of the head.
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
  core_.Count(&status::HttpStatus::requests);
  const auto now = std::chrono::steady_clock::now();
  if (core_.limits.web_check_time.count() == 0) CheckWebFile(core_);
  if (state_ == State::kClosed) return;
  web_ = core_.web->current();
  auto head = ParseRequestHead(text);
  if (!head) return AnswerAndClose(PlainAnswer(head.error().status, head.error().reason));
  request_ = *std::move(head);
  head_only_ = request_.request.method == "HEAD";
  PlanBody();
  Authenticate(now);
}

/// Plans to drop the body of the request, as if no handler read it.
void Connection::PlanBody() {
  keep_alive_ = request_.keep_alive && !core_.draining;
  skip_ = request_.content_length;
  // A client with "Expect: 100-continue" gets the answer at once. It may still send the body or not, so the begin of a
  // next request is unknown.
  const bool asks = request_.expects_continue && request_.content_length > 0;
  if (!request_.transfer_coding.empty() || asks || request_.content_length > kMaxDropped) {
    keep_alive_ = false;
    skip_ = 0;
  }
}

void Connection::Authenticate(std::chrono::steady_clock::time_point now) {
  const auto& users = web_->config.users;
  const auto credentials = ParseBasicAuth(std::exchange(request_.authorization, {}));
  // A login in the cache is not delayed by failed logins of the same client.
  if (credentials && core_.passwords.Knows(users, *credentials)) return LetIn(credentials->user);
  if (credentials && core_.passwords.WaitOf(client_) > std::chrono::nanoseconds(0)) return Deny(429, &Denied::backoff);
  if (!core_.buckets.Take(client_, web_->config.rate_limit, now)) return Deny(429, &Denied::rate_limit);
  if (users.empty()) return LetIn("");
  if (!credentials) return IsOpen() ? LetIn("") : Deny(401, &Denied::no_credentials);
  state_ = State::kAuthenticating;
  waiting_since_ = now;
  SetDeadline(core_.limits.header_time);
  core_.passwords.Check(users, *credentials, client_,
                        [weak = weak_from_this(), number = ++awaited_, user = credentials->user](LoginVerdict verdict) {
                          if (const auto self = weak.lock()) self->OnVerdict(number, verdict, user);
                        });
}

/// Whether the route of the request needs no login.
bool Connection::IsOpen() const {
  const Request& request = request_.request;
  const auto* const endpoint = core_.routes.Find(request.path, request.method).endpoint;
  return endpoint != nullptr && endpoint->open;
}

/// Returns true if the web file in use has `user` with the hash that its password was compared with. The file may have
/// changed meanwhile.
bool Connection::StillHas(const std::string& user) const {
  const auto in_force = core_.web->current();
  const auto then = web_->config.users.find(user), now = in_force->config.users.find(user);
  return then != web_->config.users.end() && now != in_force->config.users.end() && then->second == now->second;
}

void Connection::OnVerdict(uint64_t number, LoginVerdict verdict, const std::string& user) {
  if (state_ != State::kAuthenticating || number != awaited_) return;
  deadline_.Cancel();
  if (verdict == LoginVerdict::kAllowed && StillHas(user)) return LetIn(user);
  if (verdict == LoginVerdict::kPutOff) return Deny(429, &Denied::backoff);
  if (verdict == LoginVerdict::kBusy) return Deny(503, &Denied::busy);
  Deny(401, &Denied::password);
}

void Connection::Deny(unsigned status, uint64_t Denied::* reason) {
  core_.Count(reason);
  auto answer = PlainAnswer(status);
  if (status == 401) answer.headers.emplace_back("WWW-Authenticate", "Basic");
  if (status == 429) {
    const auto wait = reason == &Denied::backoff ? core_.passwords.WaitOf(client_) : core_.buckets.WaitOf(client_);
    answer.headers.emplace_back("Retry-After", std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()));
  }
  Answer(std::move(answer));
}

void Connection::LetIn(std::string user) {
  known_ = true;
  request_.request.user = std::move(user);
  Route();
}

void Connection::Route() {
  Request& request = request_.request;
  auto match = core_.routes.Find(request.path, request.method);
  if (match.endpoint == nullptr) {
    const bool gets = head_only_ || request.method == "GET";
    if (match.allow.empty() && gets) return Answer(PlainAnswer(404, "404 page not found"));
    auto answer = PlainAnswer(405);
    answer.headers.emplace_back("Allow", match.allow.empty() ? "GET, HEAD" : std::move(match.allow));
    return Answer(std::move(answer));
  }
  if (head_only_) request.method = "GET";
  endpoint_ = match.endpoint;
  if (endpoint_->max_body > 0 && request_.has_body()) return BeginBody();
  Handle();
}

void Connection::BeginBody() {
  const bool chunked = !request_.transfer_coding.empty();
  if (chunked && request_.transfer_coding != "chunked")
    return AnswerAndClose(PlainAnswer(501, "the only supported transfer coding is chunked"));
  if (request_.content_length > endpoint_->max_body) return AnswerAndClose(PlainAnswer(413));
  auto room = core_.ReserveBody(*endpoint_, chunked ? endpoint_->max_body : request_.content_length);
  if (!room) return AnswerAndClose(PlainAnswer(503, "too many concurrent request bodies; try again later"));
  incoming_ = std::make_unique<IncomingBody>(std::move(room), request_, endpoint_->max_body);
  // If the web file changed during the check of the password, the connection closes as it would have before.
  keep_alive_ = request_.keep_alive && !core_.draining && core_.web->current()->tls == tls_;
  skip_ = 0;
  state_ = State::kBody;
  waiting_since_ = std::chrono::steady_clock::now();
  SetDeadline(core_.limits.body_time);
  if (request_.expects_continue && !request_.http10 && input_.empty()) {
    // The kernel has accepted all earlier answers. It refuses these few bytes only if the client reads nothing.
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    if (socket_.Write(std::span(&kGoOn, 1)).bytes != kGoOn.size()) return Close();
  }
  DoRead();
}

bool Connection::TakeBody() {
  const auto whole = incoming_->parser.Take(input_);
  if (!whole || (!*whole && input_.size() > core_.limits.header_bytes)) {
    AnswerAndClose(whole ? PlainAnswer(400, "a chunk header is too long")
                         : PlainAnswer(whole.error().status, whole.error().reason));
    return true;
  }
  const size_t come = incoming_->parser.text().size();
  if (*whole) {
    incoming_->parser.text().shrink_to_fit();  // a body in chunks grew by doubling, above its reserved memory
    const auto held = std::make_shared<std::pair<std::shared_ptr<const void>, std::string>>(
        std::move(incoming_->room), std::move(incoming_->parser.text()));
    request_.request.body = Body(held, &held->second);
    incoming_.reset();
    if (input_.empty()) input_.shrink_to_fit();
    deadline_.Cancel();
    Handle();
  } else if (come - incoming_->timed >= kTimedBytes) {
    incoming_->timed = come;
    waiting_since_ = std::chrono::steady_clock::now();
    SetDeadline(core_.limits.body_time);
  }
  return *whole;
}

void Connection::Handle() {
  state_ = State::kHandling;
  Request request = std::exchange(request_.request, {});
  request.peer = {.address = ToString(client_), .tls = tls_ != nullptr, .certificate = socket_.CertificateSubject()};
  if (endpoint_->runs_on == RunsOn::kIoThread) return endpoint_->handler(request, Await());
  SetDeadline(core_.limits.handler_time);
  NoticeReset();
  const bool queued = core_.workers.Add(QueuedRequest(endpoint_->handler, std::move(request), Await()));
  if (!queued && !core_.draining) core_.OnOverload(client_);
}

}  // namespace kepler::http::server
