#pragma once
// Client: HTTP/1.1 requests that the calling thread waits for, over connections that are kept for the next request.
// Bodies go and come in pieces, so that a list of any size and a watch without end take no memory. Redirections are
// not followed. Proxies are not used: no environment variable is read.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "http/client/peer.h"

namespace kepler::http::client {

enum class Method : uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete };

/// How long a request may take.
struct Deadlines {
  std::chrono::milliseconds silence{10'000};  // without progress: each address, TLS, sending, the head of the answer
  std::chrono::milliseconds body_silence{0};  // the same for the body of the answer; 0: `silence`
  std::chrono::milliseconds total{0};         // for the whole request; 0: no limit
};

/// A body that several requests may share; null: no body.
using SharedText = std::shared_ptr<const std::string>;
/// A body that is made while it is sent, once.
struct StreamedBody {
  /// Returns the next piece, which stays valid until the next call; "" at the end. Its error is that of Send().
  std::function<Result<std::string_view>()> next;
  std::optional<uint64_t> length{};  // in bytes; nothing: unknown, and the body is sent in chunks
};
using RequestBody = std::variant<SharedText, StreamedBody>;

struct ClientRequest {
  Method method = Method::kGet;
  std::string target;          // path and query
  std::string bearer_token{};  // visible ASCII (RFC 6750, 2.1); "": none
  std::string user{};          // of basic authentication (RFC 7617), without a colon; "": none. Not with a token
  std::string password{};
  bool allow_plain_login = false;  // the token or password may be sent without TLS
  std::string accept = "application/json";
  std::string content_type{};  // of the body; "": not sent
  std::vector<std::pair<std::string, std::string>> headers{};
  RequestBody body{};
  bool may_repeat = false;  // the server accepts this POST or PATCH twice
  Deadlines deadlines{};
  uint64_t max_bytes = UINT64_MAX;  // of the body of the answer
  std::string wanted_header{};      // name of a header of the answer to keep, in any case; "": none
};

/// Whether the request may be sent twice: its method is idempotent (RFC 9110, 9.2.2) or may_repeat is set, and its body
/// is not streamed.
[[nodiscard]] bool IsRepeatable(const ClientRequest& request);
/// Whether a request may have this header: the name is a token, the value a text (RFC 9110, 5.1 and 5.5), and the
/// client does not write the header itself. Errors: kInvalid, without the value, which may be secret.
[[nodiscard]] Status CheckHeader(std::string_view name, std::string_view value);
/// Whether `request` can be sent to `peer`: the kInvalid errors that Send() has for it.
[[nodiscard]] Status CheckRequest(const Peer& peer, const ClientRequest& request);

/// Returns `text` of a server for a log or an error. If the server repeats the token or the password of `request`,
/// <token> or <password> takes its place.
[[nodiscard]] std::string HideLogin(std::string_view text, const ClientRequest& request);

struct Answer {
  unsigned status = 0;
  std::string body;           // of an answer other than 2xx: the first kMaxRefusal bytes
  std::string retry_after{};  // as the server wrote it (RFC 9110, 10.2.3); at most kMaxRefusal bytes
  std::string location{};     // where a redirection leads to, as the server wrote it; at most kMaxRefusal bytes
  std::string wanted{};       // value of ClientRequest::wanted_header; at most kMaxRefusal bytes

  /// 2xx: the body went to OnPiece.
  [[nodiscard]] bool ok() const { return status / 100 == 2; }
};
inline constexpr size_t kMaxRefusal = 4096;

/// Takes a piece of the body of a 2xx. The first piece is empty: the head has come. Its error ends the exchange and is
/// the error of Send().
using OnPiece = std::function<Status(std::string_view piece)>;

class ClientConnection;

/// Limits of the connections that wait for the next request. They are closed by the next request after their time.
struct PoolLimits {
  size_t per_peer = 2;
  size_t peers = 8;  // their TLS contexts and sessions are kept too
  std::chrono::milliseconds idle{50'000};
};

/// Thread-safe. Makes no thread: each request runs on its caller's thread.
class Client {
 public:
  explicit Client(const PoolLimits& limits = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Errors: kTimeout for all deadlines, kPermission if the server's certificate is not trusted, kInvalid for
  /// certificates and keys of the peer that cannot be read, for CheckRequest(), for a request body that does not have
  /// its length, and for an answer above max_bytes, kMalformed for an answer that is not HTTP, kUnavailable for
  /// everything else, a stop included. A body that ends early is an error. Interim answers (1xx) are skipped; more than
  /// 16 of them are kMalformed. An answer other than 2xx ends the sending of the body.
  /// If the server has closed a kept connection, the request is sent once more on a new connection. That is done only
  /// if IsRepeatable() allows it, or if nothing of the request was sent. If `host` is a name, resolv.conf limits the
  /// time of its look-up, and a stop waits for it.
  [[nodiscard]] Result<Answer> Send(const Peer& peer, const ClientRequest& request, const OnPiece& take,
                                    const std::stop_token& stop);

 private:
  struct Known;
  struct Lease;
  [[nodiscard]] Result<Lease> Borrow(const Peer& peer);
  void KeepSession(const Peer& peer, const ClientConnection& connection);
  void GiveBack(const Peer& peer, std::unique_ptr<ClientConnection> connection, bool keep);
  [[nodiscard]] std::list<Known>::iterator Find(const Peer& peer);
  void CloseOld();

  const PoolLimits limits_;
  std::mutex mutex_;
  std::list<Known> known_;  // the most recently used peer first
};

}  // namespace kepler::http::client
