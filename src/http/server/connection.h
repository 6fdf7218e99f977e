#pragma once
// One client: handshake, requests one after the other, answers, goodbye. On the I/O thread.
//
//   handshake ──► reading ──► authenticating ──► body ──► handling ──► writing ──► lingering ──► closed
//                    ▲                                                  │  ▲ │
//                    └──────────────────────────────────────────────────┘  │ ▼
//                                                                      streaming
#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/server/client_address.h"
#include "http/server/event_loop.h"
#include "http/server/message.h"
#include "http/server/server_core.h"

namespace kepler::http::server {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Admission : uint8_t {
    kServed,
    kRefused  // gets 503 for any request
  };
  /// Registers itself in core.connections, where it stays until it closes. `core` must outlive it until then.
  static void Start(ServerCore& core, Socket socket, const ClientAddress& client, Admission admission);
  /// Checks whether the web file has changed, and warns of what it does not do. Where that changes TLS, whoever shook
  /// hands under the old rules ends after its pending answer; a stream, which may have no end, is cut, also where
  /// users have changed.
  static void CheckWebFile(ServerCore& core);

  Connection(ServerCore& core, Socket socket, const ClientAddress& client, Admission admission);

  /// Passes on the answer, or the piece of an answer, that the connection awaits under `number`. Does nothing if the
  /// connection no longer awaits it.
  void Deliver(uint64_t number, Response response);
  /// Closes the connection. If an answer or the rest of a piece has still to be sent, closes after it.
  void Drain();
  void Close();
  /// Closes, without what is being sent.
  void Cut();
  [[nodiscard]] const ClientAddress& client() const { return client_; }
  /// Gets 503, and is closed.
  [[nodiscard]] bool is_refused() const { return admission_ == Admission::kRefused; }
  /// Since when its latest request was awaited.
  [[nodiscard]] std::chrono::steady_clock::time_point waiting_since() const { return waiting_since_; }
  /// An earlier request was authenticated, a password check is pending, or neither.
  enum class Standing : uint8_t { kUnknown, kLoggingIn, kKnown };
  /// Orders connections by how little is lost with them. Nothing while a request is being served, and for one over the
  /// limit.
  struct Waiting {
    Standing standing = Standing::kUnknown;
    std::chrono::steady_clock::time_point since;  // for more of a request, or for the verdict on the password
    bool leaving = false;                         // not let in, and about to be closed: nothing more is awaited
    auto operator<=>(const Waiting&) const = default;
  };
  [[nodiscard]] std::optional<Waiting> waiting() const;
  /// Where more of a request is awaited: bytes have come that nobody has read yet. Then it is we who keep the client
  /// waiting, and its time begins anew.
  [[nodiscard]] bool HasSpoken();

 private:
  enum class State : uint8_t {
    kHandshake,
    kReading,
    kAuthenticating,
    kBody,
    kHandling,
    kWriting,
    kStreaming,
    kLingering,
    kClosed
  };
  /// A body that a handler wants.
  struct IncomingBody {
    IncomingBody(std::shared_ptr<const void> the_room, const RequestHead& head, uint64_t max)
        : room(std::move(the_room)), parser(head, max) {}
    std::shared_ptr<const void> room;  // in memory
    BodyParser parser;
    size_t timed = 0;  // bytes that had come when the deadline was set
  };

  // connection.cc: life
  void Begin();
  void EndIfRulesChanged();
  [[nodiscard]] bool StreamMustEnd() const;
  void Advance();  // does what the state can do now
  void WaitFor(IoState what);
  void SetDeadline(std::chrono::nanoseconds delay);
  void OnDeadline();
  void NoticeReset();  // of a client that waits for a worker
  void DoHandshake();
  void Linger();
  void DoLinger();

  // connection_request.cc: reading, letting in
  void DoRead();
  void DropBody();                // of the request before, from input_; whoever has sent it all is awaited anew
  void AwaitRequest();            // idle, or begun already: its time runs from now
  [[nodiscard]] bool TakeHead();  // from input_; false: more bytes are needed
  void OnHead(std::string_view text);
  void PlanBody();
  void Authenticate(std::chrono::steady_clock::time_point now);
  void OnVerdict(uint64_t number, LoginVerdict verdict, const std::string& user);
  [[nodiscard]] bool IsOpen() const;
  [[nodiscard]] bool StillHas(const std::string& user) const;
  using Denied = status::DeniedRequests;
  void Deny(unsigned status, uint64_t Denied::* reason);
  void LetIn(std::string user);
  void Route();
  void BeginBody();
  [[nodiscard]] bool TakeBody();  // as TakeHead()
  void Handle();

  // connection_answer.cc: writing
  [[nodiscard]] Responder Await();  // the next answer or piece
  void StopAwaiting();              // the handler is too late
  void Answer(Response response);
  void AnswerAndClose(Response response);
  void AskForPiece();
  void SendPiece(Response piece);
  void Send();  // head_, body_, tail_
  void DoWrite();
  void FinishAnswer();
  [[nodiscard]] std::string HeadOf(const Response& response) const;

  ServerCore& core_;
  Socket socket_;
  std::shared_ptr<const webconfig::WebState> web_;  // in force at the accept, then at the latest request
  const std::shared_ptr<SSL_CTX> tls_;              // what it began with; null: plain
  Timer deadline_;
  const ClientAddress client_;  // as it was accepted: a socket that was reset does not know its peer any more
  const Admission admission_;
  State state_ = State::kReading;
  bool known_ = false;
  std::chrono::steady_clock::time_point waiting_since_;
  bool fresh_ = true;  // nothing has been read yet
  bool idle_ = false;  // between requests, nothing of the next one has come
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool notices_reset_ = false;

  std::string input_;                         // bytes not yet understood
  size_t searched_ = 0;                       // of these, known not to end the head
  size_t blank_ = 0;                          // bytes of empty lines dropped before the request to come
  uint64_t skip_ = 0;                         // bytes of a request body still to be dropped
  uint64_t awaited_ = 0;                      // number of what is, or was last
  std::weak_ptr<Responder::Impl> responder_;  // of `awaited_`
  RequestHead request_;
  const Routes::Endpoint* endpoint_ = nullptr;
  std::unique_ptr<IncomingBody> incoming_;

  std::string head_;  // what is being sent, and how much of all three parts has been
  Body body_;
  std::string_view tail_;
  size_t sent_ = 0;
  Pieces pieces_;        // of a stream that goes on
  size_t lingered_ = 0;  // bytes dropped while saying goodbye
};

}  // namespace kepler::http::server
