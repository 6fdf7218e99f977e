#pragma once
// The web file in use. It is read at startup, after changes of it or of files that it names, and on request. A change
// takes effect when two checks find the same files, because at the first one a program may still be writing them.
#include <openssl/types.h>

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/small_file.h"
#include "http/webconfig/web_config.h"

namespace kepler::http::webconfig {

/// Immutable. Two states with the same bytes of TLS settings share the context, so a connection compares contexts.
struct WebState {
  WebConfig config;
  std::shared_ptr<SSL_CTX> tls;                  // null: plain HTTP
  std::optional<WallTime> certificate_expiry{};  // of the certificate that clients get
};

/// Returns the warnings about the configuration, after a warning about an expired certificate.
[[nodiscard]] std::string WebWarning(const WebState& state, const std::string& path, Reach reach, WallTime now);

/// Result of the latest attempt to load the web file.
struct WebReload {
  bool successful = true;
  WallTime last_success{};  // includes the load at startup
};

class WebSettings {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// If `path` is "", the server speaks plain HTTP without logins, and nothing is checked.
  [[nodiscard]] static Result<std::unique_ptr<WebSettings>> Create(std::string path,
                                                                   std::chrono::nanoseconds check_period);

  [[nodiscard]] bool has_file() const { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  // From any thread.
  [[nodiscard]] std::shared_ptr<const WebState> current() const;
  [[nodiscard]] WebReload reload() const;
  /// Reads the file now. The error has the reason of a refusal. A change takes effect at a later check that finds the
  /// same files. Refused until a restart: turning TLS on or off, the removal of the last user, client certificates that
  /// are no longer required or verified, and those with any name allowed.
  [[nodiscard]] Status Reload(SteadyTime now);
  /// Checks for changes, at most once per period. A refused file is logged once, and read again after its next change.
  /// Returns true if the state in use has changed. One caller at a time (the I/O thread).
  [[nodiscard]] bool Check(SteadyTime now);

 private:
  using Stamps = std::vector<std::pair<std::string, FileStamp>>;
  using Digest = std::array<unsigned char, 32>;
  /// The result of reading all files once.
  struct Reading {
    Stamps stamps;  // of the files, before they were read
    Digest bytes{};
    Digest tls_bytes{};
    Result<std::shared_ptr<const WebState>> state{};
    [[nodiscard]] bool Same(const Reading& other) const { return stamps == other.stamps && bytes == other.bytes; }
  };

  WebSettings(std::string path, std::chrono::nanoseconds check_period)
      : path_(std::move(path)), check_period_(check_period) {}
  [[nodiscard]] Reading Read() const;
  [[nodiscard]] Result<std::shared_ptr<const WebState>> Load(Reading& reading, const WebState* in_force) const;
  /// Returns an error if the files that were read may not replace the state in use.
  [[nodiscard]] Status Judge(const Reading& reading) const;
  /// Puts files that two checks have found into use. Returns true if they are allowed.
  [[nodiscard]] bool Conclude(const Reading& reading);
  void PutIntoForce(const Reading& reading);
  void Failed(const Reading& reading);

  const std::string path_;
  const std::chrono::nanoseconds check_period_;
  const SystemClock clock_;

  std::mutex checking_;  // guards the members below: one check at a time
  SteadyTime next_check_{};
  Stamps stamps_;                     // of the latest completed reading, also if it failed
  std::optional<Reading> candidate_;  // a changed reading that waits for a check with the same result
  SteadyTime candidate_seen_{};
  Digest bytes_{}, tls_bytes_{};  // of the state in use

  mutable std::mutex mutex_;  // guards all members below
  std::shared_ptr<const WebState> state_;
  WebReload reload_;
};

}  // namespace kepler::http::webconfig
