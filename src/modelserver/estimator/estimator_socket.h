#pragma once
// The Unix socket of the estimator: one request and one answer per connection, many connections at once. A client that
// is slow, silent or hostile costs its own connection only. Knows nothing of the answers' content.
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace kepler::modelserver::estimator {

struct SocketLimits {
  size_t clients = 128;  // beyond them, the one that has waited longest is closed
  size_t request_bytes = size_t{4} << 20;
  size_t all_bytes = size_t{32} << 20;    // of requests that are incomplete; beyond it, the largest is refused
  std::chrono::milliseconds time{5'000};  // for a request, and again for its answer
};

struct SocketOptions {
  std::string path;
  mode_t mode = 0660;
  std::optional<gid_t> group{};  // nothing: the group of the process
  SocketLimits limits{};
};

struct SocketCounts {
  uint64_t requests = 0;  // complete ones
  uint64_t refused = 0;   // too large, or no JSON object
  uint64_t cut = 0;       // too slow, too many clients, or gone before their answer
};

class EstimatorSocket {
 public:
  /// Returns the answer to a request, on the thread of the socket.
  using Handler = std::function<std::string(std::string_view request)>;
  /// The answer to a request that is incomplete or too large.
  using Refuser = std::function<std::string(const Error& error)>;

  /// Binds the socket. A socket that nobody listens on is replaced. kInvalid if another process listens, or if the path
  /// is no socket. No client can connect before mode and group are set. `clock` must outlive the object.
  [[nodiscard]] static Result<std::unique_ptr<EstimatorSocket>> Listen(SocketOptions options, const Clock& clock,
                                                                       Handler handler, Refuser refuser);
  /// Stops, and removes the socket if it is still this one.
  ~EstimatorSocket();

  /// Starts the thread.
  [[nodiscard]] Status Start();
  /// Any thread.
  [[nodiscard]] SocketCounts counts() const;

 private:
  struct Impl;
  explicit EstimatorSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::modelserver::estimator
