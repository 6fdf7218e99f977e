#pragma once
// Connection: one client, from the handshake through all requests and answers to the close. On the I/O thread.
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
  /// Checks whether the web file has changed, and logs warnings about it. If TLS settings have changed, connections
  /// with the old settings close after the pending answer. A stream may have no end, so it is cut, also if users have
  /// changed.
  static void CheckWebFile(ServerCore& core);

  Connection(ServerCore& core, Socket socket, const ClientAddress& client, Admission admission);

  /// Passes on the answer, or the piece of an answer, that the connection awaits under `number`. Does nothing if the
  /// connection no longer awaits this number.
  void Deliver(uint64_t number, Response response);
  /// Closes the connection. If an answer or the rest of a piece has still to be sent, closes after it.
  void Drain();
  void Close();
  /// Closes at once; unsent data is lost.
  void Cut();
  [[nodiscard]] const ClientAddress& client() const { return client_; }
  /// Returns true if the client gets 503 and the connection is then closed.
  [[nodiscard]] bool is_refused() const { return admission_ == Admission::kRefused; }
  /// Time since which the connection has waited for its latest request.
  [[nodiscard]] std::chrono::steady_clock::time_point waiting_since() const { return waiting_since_; }
  /// kKnown: an earlier request was authenticated. kLoggingIn: a password check is pending. kUnknown: neither.
  enum class Standing : uint8_t { kUnknown, kLoggingIn, kKnown };
  /// Order in which connections are closed at the limit: the smallest first. Nothing while a request is being served,
  /// and for a connection above the limit.
  struct Waiting {
    Standing standing = Standing::kUnknown;
    std::chrono::steady_clock::time_point since;  // begin of the wait for a request, or for the check of a password
    bool leaving = false;                         // not authenticated, and about to be closed
    auto operator<=>(const Waiting&) const = default;
  };
  [[nodiscard]] std::optional<Waiting> waiting() const;
  /// Returns true if the connection waits for more of a request and unread bytes have arrived. The server is then the
  /// cause of the delay, so the time of the client begins again.
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
  /// A body that is read for a handler.
  struct IncomingBody {
    IncomingBody(std::shared_ptr<const void> the_room, const RequestHead& head, uint64_t max)
        : room(std::move(the_room)), parser(head, max) {}
    std::shared_ptr<const void> room;  // reserved memory
    BodyParser parser;
    size_t timed = 0;  // number of bytes that had arrived when the deadline was set
  };

  // connection.cc: life
  void Begin();
  void EndIfRulesChanged();
  [[nodiscard]] bool StreamMustEnd() const;
  void Advance();  // does what the state can do now
  void WaitFor(IoState what);
  void SetDeadline(std::chrono::nanoseconds delay);
  void OnDeadline();
  void NoticeReset();  // for a client that waits for a worker
  void DoHandshake();
  void Linger();
  void DoLinger();

  // connection_request.cc: reading, authentication
  void DoRead();
  void DropBody();      // drops the body of the previous request from input_; after its end calls AwaitRequest()
  void AwaitRequest();  // waits for the next request, which may have begun; its time starts now
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
  std::shared_ptr<const webconfig::WebState> web_;  // in use when the connection was accepted, then at each request
  const std::shared_ptr<SSL_CTX> tls_;              // TLS settings at the begin of the connection; null: plain HTTP
  Timer deadline_;
  const ClientAddress client_;  // kept, because a socket that was reset does not know its peer any more
  const Admission admission_;
  State state_ = State::kReading;
  bool known_ = false;
  std::chrono::steady_clock::time_point waiting_since_;
  bool fresh_ = true;  // nothing has been read yet
  bool idle_ = false;  // between two requests: no byte of the next one has arrived
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool notices_reset_ = false;

  std::string input_;                         // bytes that are not parsed yet
  size_t searched_ = 0;                       // number of bytes of input_ that do not contain the end of the head
  size_t blank_ = 0;                          // bytes of empty lines that were dropped before the next request
  uint64_t skip_ = 0;                         // bytes of a request body that are still to be dropped
  uint64_t awaited_ = 0;                      // number of the answer that is awaited, or of the latest one
  std::weak_ptr<Responder::Impl> responder_;  // of the answer `awaited_`
  RequestHead request_;
  const Routes::Endpoint* endpoint_ = nullptr;
  std::unique_ptr<IncomingBody> incoming_;

  std::string head_;  // the three parts of the answer that is being sent, and the number of bytes sent of them
  Body body_;
  std::string_view tail_;
  size_t sent_ = 0;
  Pieces pieces_;        // of a stream that has not ended
  size_t lingered_ = 0;  // bytes dropped in the state lingering
};

}  // namespace kepler::http::server
