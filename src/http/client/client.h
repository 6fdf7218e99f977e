#pragma once
// Fetch: one HTTP/1.1 GET whose answer is waited for on the caller's thread, with deadlines, and ended by a stop. The
// body comes piece by piece as it arrives, so that a list of any size and a watch that never ends take no memory.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client/peer.h"

namespace kepler::http {

struct GetRequest {
  std::string target;          // path and query
  std::string bearer_token{};  // visible ASCII (RFC 6750, 2.1); "": none
  std::string user{};          // of basic authentication (RFC 7617), without a colon; "": none. Not with a token
  std::string password{};
  std::string accept = "application/json";
  std::chrono::milliseconds silence{10'000};  // at most so long without a byte: for each address, TLS, head, body
  std::chrono::milliseconds body_silence{0};  // for the body instead, where that may pause for longer; 0: the same
  std::chrono::milliseconds total{0};         // for all of it; 0: without an end
  uint64_t max_bytes = UINT64_MAX;            // of the body
};

/// Whether the token or the password of `request` can be sent to `peer`: the errors that Fetch() has for them.
[[nodiscard]] Status CheckLogin(const Peer& peer, const GetRequest& request);

/// What came instead of the body of a 200.
struct Refusal {
  unsigned status = 0;        // 200: none
  std::string body;           // the first kMaxRefusal bytes
  std::string retry_after{};  // when to retry, as the server wrote it (RFC 9110, 10.2.3); at most kMaxRefusal bytes
  std::string location{};     // where a redirection leads to, as the server wrote it; at most kMaxRefusal bytes
};
inline constexpr size_t kMaxRefusal = 4096;

/// Takes a piece of the body of a 200, the first of them empty: the head has come. Its error ends the exchange and is
/// the answer of Fetch().
using OnPiece = std::function<Status(std::string_view piece)>;

/// Errors: kTimeout for either deadline, kPermission where the server's certificate is not trusted, kInvalid for
/// certificates and keys of Peer that cannot be read, a token or password without TLS, both of them, one that cannot be
/// sent, and a body above the limit, kMalformed for what is no HTTP, kUnavailable for everything else, a stop included.
/// A body that ends early is an error. Interim answers (1xx) are skipped; more than 16 of them are kMalformed. Does not
/// follow redirections. Where `host` is a name, what its look-up takes is bounded by resolv.conf only, and a stop waits
/// for it. Makes no thread.
[[nodiscard]] Result<Refusal> Fetch(const Peer& peer, const GetRequest& request, const OnPiece& take,
                                    const std::stop_token& stop);

}  // namespace kepler::http
