// Connection: sending answers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <utility>

#include "http/server/connection.h"

namespace kepler::http::server {

/// Passes an answer from any thread to its connection. The loop lives until the last copy is destroyed, so an answer
/// after the server has stopped has no effect.
struct Responder::Impl {
  Impl(std::shared_ptr<EventLoop> the_loop, std::weak_ptr<Connection> the_connection, uint64_t the_number)
      : loop(std::move(the_loop)), connection(std::move(the_connection)), number(the_number) {}
  ~Impl() {
    if (!answered) Send(PlainAnswer(500));
  }

  void Send(Response response) {
    if (answered.exchange(true)) return;
    // Only the loop's thread may hold the connection, hence the weak pointer on the way there.
    loop->Post([target = connection, awaited = number, answer = std::move(response)]() mutable {
      if (const auto alive = target.lock()) alive->Deliver(awaited, std::move(answer));
    });
  }

  const std::shared_ptr<EventLoop> loop;
  const std::weak_ptr<Connection> connection;
  const uint64_t number;
  std::atomic<bool> answered{false};
};

void Responder::operator()(Response response) const { impl_->Send(std::move(response)); }

bool Responder::IsAwaited() const { return !impl_->answered && !impl_->connection.expired(); }

Responder Connection::Await() {
  auto impl = std::make_shared<Responder::Impl>(core_.loop, weak_from_this(), ++awaited_);
  responder_ = impl;
  return Responder(std::move(impl));
}

void Connection::StopAwaiting() {
  if (const auto impl = responder_.lock()) impl->answered = true;
}

void Connection::Deliver(uint64_t number, Response response) {
  if (number != awaited_) return;
  if (state_ == State::kHandling) return Answer(std::move(response));
  if (state_ == State::kStreaming) SendPiece(std::move(response));
}

void Connection::AnswerAndClose(Response response) {
  keep_alive_ = false;
  Answer(std::move(response));
}

std::string Connection::HeadOf(const Response& response) const {
  return RenderHead(
      response,
      {.keep_alive = keep_alive_, .http10 = request_.http10, .now = std::time(nullptr), .extra = web_->config.headers});
}

void Connection::Answer(Response response) {
  incoming_.reset();  // refused: frees its reserved memory
  if (core_.draining || (response.pieces && request_.http10)) keep_alive_ = false;
  head_ = HeadOf(response);
  body_ = head_only_ || response.pieces ? nullptr : std::move(response.body);
  pieces_ = head_only_ ? nullptr : std::move(response.pieces);
  Send();
}

void Connection::AskForPiece() {
  if (StreamMustEnd()) return Close();
  state_ = State::kStreaming;
  deadline_.Cancel();
  pieces_(PieceResponder(Await()));
}

void Connection::SendPiece(Response piece) {
  if (piece.status != 200) return Close();  // the PieceResponder was destroyed without a piece
  const size_t size = piece.body ? piece.body->size() : 0;
  if (size == 0) pieces_ = nullptr;
  body_ = std::move(piece.body);
  if (!request_.http10) head_ = size == 0 ? "0\r\n\r\n" : fmt::format("{:x}\r\n", size);
  if (!request_.http10 && size > 0) tail_ = "\r\n";
  Send();
}

void Connection::Send() {
  state_ = State::kWriting;
  sent_ = 0;
  SetDeadline(core_.limits.write_time);
  DoWrite();
}

void Connection::DoWrite() {
  while (true) {
    std::array<std::string_view, 3> parts = {head_, body_ ? *body_ : std::string_view(), tail_};
    size_t sent = sent_;
    for (auto& part : parts) {
      const size_t done = std::min(sent, part.size());
      part.remove_prefix(done);
      sent -= done;
    }
    if (std::ranges::all_of(parts, &std::string_view::empty)) break;
    const auto wrote = socket_.Write(parts);
    if (wrote.state != IoState::kDone) return WaitFor(wrote.state);
    sent_ += wrote.bytes;
  }
  head_ = {};
  body_.reset();
  tail_ = {};
  if (pieces_)
    AskForPiece();
  else
    FinishAnswer();
}

void Connection::FinishAnswer() {
  if (!keep_alive_ || core_.draining) return Linger();
  state_ = State::kReading;
  head_only_ = false;  // the next head may be one that cannot be read
  request_ = {};
  waiting_since_ = std::chrono::steady_clock::now();
  if (skip_ == 0)
    AwaitRequest();
  else
    SetDeadline(core_.limits.header_time);  // for the rest of the body; idle_ is false since its head came
  // Posted, because pipelined requests would otherwise recurse once per request, and other clients would wait.
  core_.loop->Post([self = shared_from_this()] { self->Advance(); });
}

}  // namespace kepler::http::server
