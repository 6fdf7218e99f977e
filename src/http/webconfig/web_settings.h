#pragma once
// The web file in force: read at the start, again when it or a file it names changes, and on request. A change counts
// once two checks, a period apart, have found the same: whoever rewrites the file in place may be half way through.
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

/// Immutable. Two states whose TLS is the same in every byte share the context: a connection is judged by that.
struct WebState {
  WebConfig config;
  std::shared_ptr<SSL_CTX> tls;                  // null: plain HTTP
  std::optional<WallTime> certificate_expiry{};  // of the one that is shown to clients
};

/// As of its configuration; before that, that its certificate has expired.
[[nodiscard]] std::string WebWarning(const WebState& state, const std::string& path, Reach reach, WallTime now);

/// How the latest attempt to take the web file in ended.
struct WebReload {
  bool successful = true;
  WallTime last_success{};  // the start is one
};

class WebSettings {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// `path` "" is plain HTTP for everyone, for ever.
  [[nodiscard]] static Result<std::unique_ptr<WebSettings>> Create(std::string path,
                                                                   std::chrono::nanoseconds check_period);

  [[nodiscard]] bool has_file() const { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  // From any thread.
  [[nodiscard]] std::shared_ptr<const WebState> current() const;
  [[nodiscard]] WebReload reload() const;
  /// Reads the file now: an error says why it is not taken. What has changed counts from a later check that finds the
  /// same. Refused is what opens a door that was shut: TLS off (or on: clients know one or the other), no user, no
  /// client certificate wanted, none verified or any name in one allowed any more. That needs a restart.
  [[nodiscard]] Status Reload(SteadyTime now);
  /// The check for changes, at most once per period. A file that is not taken is logged once and read again when it
  /// changes. True: another state is in force now. One caller at a time (the I/O thread).
  [[nodiscard]] bool Check(SteadyTime now);

 private:
  using Stamps = std::vector<std::pair<std::string, FileStamp>>;
  using Digest = std::array<unsigned char, 32>;
  /// What one reading of all files found.
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
  /// Whether what was read may take the place of what is in force.
  [[nodiscard]] Status Judge(const Reading& reading) const;
  /// Puts what two checks have found into force; true if it may be.
  [[nodiscard]] bool Conclude(const Reading& reading);
  void PutIntoForce(const Reading& reading);
  void Failed(const Reading& reading);

  const std::string path_;
  const std::chrono::nanoseconds check_period_;
  const SystemClock clock_;

  std::mutex checking_;  // guards what follows: one check at a time
  SteadyTime next_check_{};
  Stamps stamps_;                     // of the latest reading that came to an end, failed ones included
  std::optional<Reading> candidate_;  // differs from that; waits for a check that finds the same
  SteadyTime candidate_seen_{};
  Digest bytes_{}, tls_bytes_{};  // of what is in force

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const WebState> state_;
  WebReload reload_;
};

}  // namespace kepler::http::webconfig
