#pragma once
// The exporter-toolkit web file (version 1) as plain values. Parsing reads no other file.
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/webconfig/bcrypt.h"

namespace kepler::http::webconfig {

enum class ClientAuth : uint8_t { kNone, kRequest, kRequireAny, kVerifyIfGiven, kRequireAndVerify };
enum class TlsVersion : uint8_t { k12, k13 };

/// One of each pair of text and file is set. If both are given, the file wins, as in the toolkit. Paths are absolute or
/// relative to the working directory; in the web file they are relative to its directory.
struct TlsConfig {
  std::string cert, cert_file;
  std::string key, key_file;
  std::string client_ca, client_ca_file;
  ClientAuth client_auth = ClientAuth::kNone;
  std::vector<std::string> client_allowed_sans;
  TlsVersion min_version = TlsVersion::k12;
  TlsVersion max_version = TlsVersion::k13;
  std::string ciphers;  // OpenSSL's names for TLS 1.2, "" for the default
  std::string groups;   // OpenSSL's names, "" for the default
  bool prefer_server_ciphers = true;
  bool operator==(const TlsConfig&) const = default;
  [[nodiscard]] bool has_client_ca() const { return !client_ca.empty() || !client_ca_file.empty(); }
  [[nodiscard]] bool wants_certificate() const {
    return client_auth == ClientAuth::kRequireAny || client_auth == ClientAuth::kRequireAndVerify;
  }
  [[nodiscard]] bool verifies() const {
    return client_auth == ClientAuth::kVerifyIfGiven || client_auth == ClientAuth::kRequireAndVerify;
  }
};

struct RateLimit {
  std::chrono::nanoseconds interval{0};  // 0: none
  int64_t burst = 0;
  bool operator==(const RateLimit&) const = default;
};

/// For errors that are found later: key of tls_server_config -> "PATH:LINE: tls_server_config.KEY", without the line if
/// the key is absent.
using KeyPlaces = std::map<std::string, std::string, std::less<>>;

struct WebConfig {
  std::optional<TlsConfig> tls;
  KeyPlaces tls_places;  // separate from `tls`, so that TLS settings that only moved in the file compare equal
  std::vector<std::pair<std::string, std::string>> headers;
  std::map<std::string, std::string, std::less<>> users;  // name -> bcrypt hash
  RateLimit rate_limit;
};

/// `path`: the file with the text. Errors begin with PATH:LINE, or with PATH if they belong to no line; several are
/// joined by "; ". Relative file names are relative to the directory of `path`. Errors contain no secrets. `measure` is
/// called only if the cost of a hash is too high, for the time in the error.
[[nodiscard]] Result<WebConfig> ParseWebConfig(std::string_view text, const std::string& path,
                                               CpuTime (*measure)() = MeasureCheapestBcrypt);

/// Clients that can reach the server.
enum class Reach : uint8_t { kThisMachine, kNetwork };

/// Returns warnings about a valid file that does less than its author may expect, in one line; "" if there are none.
[[nodiscard]] std::string WebWarning(const WebConfig& config, const std::string& path, Reach reach);

}  // namespace kepler::http::webconfig
