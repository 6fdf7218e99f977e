#pragma once
// The web file in force: read at the start, again when it or a file it names changes, and on request.
#include <openssl/types.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/server/small_file.h"
#include "http/server/web_config.h"

namespace kepler::http {

/// Immutable. A connection keeps the TLS it began with; the config is, request by request, the one then in force.
struct WebState {
  WebConfig config;
  std::shared_ptr<SSL_CTX> tls;  // null: plain HTTP
};

class WebSettings {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// `path` "" is plain HTTP for everyone, for ever.
  [[nodiscard]] static Result<std::unique_ptr<WebSettings>> Create(std::string path,
                                                                   std::chrono::nanoseconds check_period);

  /// From any thread.
  [[nodiscard]] std::shared_ptr<const WebState> current() const;
  /// From any thread. On error the state stays. Switching TLS on or off is an error: clients know one or the other.
  [[nodiscard]] Status Reload();
  /// Reads again if a file has changed, looking at most once per period. A file that does not load is logged once and
  /// looked at again when it changes. One caller at a time (the I/O thread).
  void ReloadIfChanged(SteadyTime now);

 private:
  using Stamps = std::vector<std::pair<std::string, FileStamp>>;

  WebSettings(std::string path, std::chrono::nanoseconds check_period)
      : path_(std::move(path)), check_period_(check_period) {}
  [[nodiscard]] Result<std::shared_ptr<const WebState>> Load(Stamps& stamps, bool first) const;
  /// Loads and puts into force. After the first time an empty file (one being rewritten) must not switch off
  /// authentication, and TLS must stay as it was.
  [[nodiscard]] Status Apply(bool first);
  [[nodiscard]] bool Changed() const;

  const std::string path_;
  const std::chrono::nanoseconds check_period_;
  SteadyTime next_check_{};

  std::mutex loading_;        // one load at a time
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const WebState> state_;
  Stamps stamps_;  // of the last attempt, failed ones included
};

}  // namespace kepler::http
