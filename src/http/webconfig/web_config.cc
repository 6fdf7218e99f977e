#include "http/webconfig/web_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/duration.h"
#include "base/parse.h"
#include "base/text.h"

namespace kepler::http {
namespace {

using Names = std::pair<std::string_view, std::string_view>;  // in the file, in OpenSSL

constexpr std::array<std::string_view, 4> kRootKeys = {"tls_server_config", "http_server_config", "basic_auth_users",
                                                       "rate_limit"};
constexpr std::array<std::string_view, 13> kTlsKeys = {"cert",
                                                       "key",
                                                       "client_ca",
                                                       "cert_file",
                                                       "key_file",
                                                       "client_auth_type",
                                                       "client_ca_file",
                                                       "cipher_suites",
                                                       "curve_preferences",
                                                       "min_version",
                                                       "max_version",
                                                       "prefer_server_cipher_suites",
                                                       "client_allowed_sans"};
constexpr std::array<std::string_view, 2> kHttpKeys = {"http2", "headers"};
constexpr std::array<std::string_view, 2> kRateKeys = {"interval", "burst"};
constexpr std::array<std::string_view, 5> kHeaders = {"Strict-Transport-Security", "X-Content-Type-Options",
                                                      "X-Frame-Options", "X-XSS-Protection", "Content-Security-Policy"};
// What Go's crypto/tls lists as secure. Those of TLS 1.3 have no OpenSSL name here: they are always on, as in Go.
constexpr std::array<Names, 13> kCiphers = {{
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
}};
constexpr std::array<Names, 4> kCurves = {
    {{"CurveP256", "P-256"}, {"CurveP384", "P-384"}, {"CurveP521", "P-521"}, {"X25519", "X25519"}}};

/// Both names of `name`, or an error that lists the nearest.
Result<Names> Lookup(const YamlSection& section, std::string_view key, std::string_view name,
                     std::span<const Names> table) {
  std::vector<std::string_view> known;
  for (const auto& names : table) {
    if (names.first == name) return names;
    known.push_back(names.first);
  }
  const auto nearest = NearestName(name, known);
  const auto hint = nearest.empty() ? fmt::format("one of {} is needed", fmt::join(known, ", "))
                                    : fmt::format("did you mean \"{}\"?", nearest);
  return section.Refuse(key, fmt::format("unknown value \"{}\"; {}", ShowUnlessSecret(name, 80), hint));
}

Result<ClientAuth> ParseClientAuth(const YamlSection& section) {
  constexpr std::array<Names, 6> kPolicies = {{{"NoClientCert", "0"},
                                               {"RequestClientCert", "1"},
                                               {"RequireAnyClientCert", "2"},
                                               {"RequireClientCert", "2"},  // the toolkit's older spelling
                                               {"VerifyClientCertIfGiven", "3"},
                                               {"RequireAndVerifyClientCert", "4"}}};
  KEPLER_TRY(const auto text, section.Text("client_auth_type"));
  if (text.empty()) return ClientAuth::kNone;
  KEPLER_TRY(const auto names, Lookup(section, "client_auth_type", text, kPolicies));
  return static_cast<ClientAuth>(names.second[0] - '0');
}

Result<TlsVersion> ParseVersion(const YamlSection& section, std::string_view key, TlsVersion otherwise) {
  KEPLER_TRY(const auto text, section.Text(key));
  if (text.empty()) return otherwise;
  if (text == "TLS12") return TlsVersion::k12;
  if (text == "TLS13") return TlsVersion::k13;
  if (text == "TLS10" || text == "TLS11")
    return section.Refuse(key, text + " is broken and not offered; use TLS12 or TLS13");
  return section.Refuse(key, "unknown version; use TLS12 or TLS13");
}

Status ParseCiphers(const YamlSection& section, TlsConfig& tls) {
  KEPLER_TRY(const auto suites, section.List("cipher_suites"));
  for (const auto& suite : suites) {
    KEPLER_TRY(const auto names, Lookup(section, "cipher_suites", suite, kCiphers));
    if (names.second.empty()) continue;
    if (!tls.ciphers.empty()) tls.ciphers += ':';
    tls.ciphers += names.second;
  }
  // Only suites of TLS 1.3 were named: nothing of TLS 1.2 may be offered.
  if (!suites.empty() && tls.ciphers.empty()) tls.min_version = TlsVersion::k13;
  KEPLER_TRY(const auto curves, section.List("curve_preferences"));
  for (const auto& curve : curves) {
    KEPLER_TRY(const auto names, Lookup(section, "curve_preferences", curve, kCurves));
    if (!tls.groups.empty()) tls.groups += ':';
    tls.groups += names.second;
  }
  return {};
}

/// The toolkit's rules, and one more: verifying clients against the whole world's certificate authorities is refused.
Status CheckTls(const YamlSection& section, const TlsConfig& tls) {
  if (tls.cert.empty() && tls.cert_file.empty()) return section.Refuse("cert_file", "cert_file or cert is needed");
  if (tls.key.empty() && tls.key_file.empty()) return section.Refuse("key_file", "key_file or key is needed");
  if (tls.min_version > tls.max_version) return section.Refuse("min_version", "is above max_version");
  if (tls.has_client_ca() && tls.client_auth == ClientAuth::kNone)
    return section.Refuse("client_ca_file", "without client_auth_type it has no effect; set that too");
  if (tls.verifies() && !tls.has_client_ca())
    return section.Refuse("client_auth_type", "client_ca_file or client_ca is needed to verify clients");
  if (!tls.client_allowed_sans.empty() && !tls.wants_certificate()) {
    return section.Refuse("client_allowed_sans",
                          "client_auth_type must be RequireAnyClientCert or RequireAndVerifyClientCert");
  }
  return {};
}

Status ParseTls(const yaml::Value* value, const std::string& path, WebConfig& config) {
  KEPLER_TRY(const auto section, YamlSection::Open(value, path, "tls_server_config", kTlsKeys));
  TlsConfig tls;
  KEPLER_TRY(tls.cert, section.Text("cert"));
  KEPLER_TRY(tls.key, section.Text("key"));
  KEPLER_TRY(tls.client_ca, section.Text("client_ca"));
  const auto directory = std::filesystem::path(path).parent_path();
  for (const auto& [key, member] : {std::pair{"cert_file", &TlsConfig::cert_file},
                                    {"key_file", &TlsConfig::key_file},
                                    {"client_ca_file", &TlsConfig::client_ca_file}}) {
    KEPLER_TRY(const auto name, section.Text(key));
    if (const auto why = WhyNoPath(name); !why.empty()) return section.Refuse(key, why);
    if (!name.empty()) tls.*member = (directory / name).string();  // an absolute name stays as it is
  }
  KEPLER_TRY(tls.client_auth, ParseClientAuth(section));
  KEPLER_TRY(tls.client_allowed_sans, section.List("client_allowed_sans"));
  KEPLER_TRY(tls.min_version, ParseVersion(section, "min_version", TlsVersion::k12));
  KEPLER_TRY(tls.max_version, ParseVersion(section, "max_version", TlsVersion::k13));
  KEPLER_TRY(tls.prefer_server_ciphers, section.Flag("prefer_server_cipher_suites", true));
  KEPLER_CHECK_OK(ParseCiphers(section, tls));
  const bool enabled = !tls.cert.empty() || !tls.cert_file.empty() || !tls.key.empty() || !tls.key_file.empty() ||
                       tls.has_client_ca() || section.Find("client_auth_type") != nullptr;
  if (!enabled && !section.keys().empty()) return section.Refuse("cert_file", "cert_file and key_file are needed");
  if (!enabled) return {};
  KEPLER_CHECK_OK(CheckTls(section, tls));
  config.tls = std::move(tls);
  config.tls_places = section.places();
  return {};
}

Status CheckHeader(const YamlSection& headers, const std::string& name, const std::string& value) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(value, control)) return headers.Refuse(name, "control characters are not allowed");
  if (name == "X-Content-Type-Options" && value != "nosniff") return headers.Refuse(name, "must be nosniff");
  if (name == "X-Frame-Options" && value != "deny" && value != "sameorigin")
    return headers.Refuse(name, "must be deny or sameorigin");
  return {};
}

Status ParseHttp(const yaml::Value* value, const std::string& path, WebConfig& config) {
  KEPLER_TRY(const auto section, YamlSection::Open(value, path, "http_server_config", kHttpKeys));
  KEPLER_TRY([[maybe_unused]] const bool http2, section.Flag("http2", true));  // HTTP/1.1 is spoken either way
  KEPLER_TRY(const auto headers,
             YamlSection::Open(section.Find("headers"), path, "http_server_config.headers", kHeaders));
  for (const auto& name : headers.keys()) {
    KEPLER_TRY(auto text, headers.Text(name.text));
    if (text.empty()) continue;
    KEPLER_CHECK_OK(CheckHeader(headers, name.text, text));
    config.headers.emplace_back(name.text, std::move(text));
  }
  return {};
}

Status CheckCost(const YamlSection& users, const std::string& user, const std::string& hash, CpuTime (*measure)()) {
  const int cost = BcryptCost(hash);
  if (cost <= kMaxBcryptCost) return {};
  const auto time = [cheapest = measure()](int of) { return BcryptTime(of, cheapest).count(); };
  return users.Refuse(user,
                      fmt::format("bcrypt cost {} is more than {}: a login would take about {:.1f} s of a processor "
                                  "of this machine, and may take {:.1f} s; make a hash with htpasswd -nBC 10 \"\"",
                                  cost, kMaxBcryptCost, time(cost), time(kMaxBcryptCost)));
}

Status ParseUsers(const yaml::Value* value, const std::string& path, CpuTime (*measure)(), WebConfig& config) {
  KEPLER_TRY(const auto section, YamlSection::Open(value, path, "basic_auth_users", {}));
  for (const auto& user : section.keys()) {
    KEPLER_TRY(auto hash, section.Text(user.text));
    if (user.text.empty() || user.text.contains(':'))
      return RefuseAt(path, user.line, "basic_auth_users: a name must not be empty or have a colon");
    if (!IsBcryptHash(hash))
      return section.Refuse(user.text, "is not a bcrypt hash ($2y$10$ and so on); make one with htpasswd -nBC 10 \"\"");
    KEPLER_CHECK_OK(CheckCost(section, user.text, hash, measure));
    config.users.emplace(user.text, std::move(hash));
  }
  return {};
}

Status ParseRate(const yaml::Value* value, const std::string& path, WebConfig& config) {
  KEPLER_TRY(const auto section, YamlSection::Open(value, path, "rate_limit", kRateKeys));
  KEPLER_TRY(const auto interval, section.Text("interval"));
  KEPLER_TRY(const auto burst, section.Text("burst"));
  if (!interval.empty()) {
    const auto bare = ParseNumber<int64_t>(interval);  // nanoseconds, as Go reads a number
    const auto parsed = bare ? Duration(*bare) : ParseDuration(interval).value_or(Duration(-1));
    if (parsed.count() < 0) return section.Refuse("interval", "is no duration such as 1s or 250ms");
    config.rate_limit.interval = parsed;
  }
  if (!burst.empty()) {
    const auto parsed = ParseNumber<int64_t>(burst);
    if (!parsed || *parsed < 0) return section.Refuse("burst", "is no number of requests");
    config.rate_limit.burst = *parsed;
  }
  if (config.rate_limit.interval.count() > 0 && config.rate_limit.burst == 0)
    return section.Refuse("burst", "0 would refuse every request; set 1 or more");
  return {};
}

}  // namespace

Result<WebConfig> ParseWebConfig(std::string_view text, const std::string& path, CpuTime (*measure)()) {
  const auto root = yaml::Parse(std::string(text));
  if (!root) return RefuseAt(path, std::max(root.error().line, 1), root.error().message);
  KEPLER_TRY(const auto section, YamlSection::Open(&*root, path, "", kRootKeys));
  WebConfig config;
  KEPLER_CHECK_OK(ParseTls(section.Find("tls_server_config"), path, config));
  KEPLER_CHECK_OK(ParseHttp(section.Find("http_server_config"), path, config));
  KEPLER_CHECK_OK(ParseUsers(section.Find("basic_auth_users"), path, measure, config));
  KEPLER_CHECK_OK(ParseRate(section.Find("rate_limit"), path, config));
  return config;
}

std::string WebWarning(const WebConfig& config, const std::string& path, Reach reach) {
  // Whoever gives a web file means to be protected: a comment for a file, or a section that lost its lines, is a slip.
  if (!config.tls && config.users.empty())
    return path +
           ": neither TLS nor users: everybody is served, in plain text; unless that is meant, add "
           "tls_server_config or basic_auth_users";
  if (!config.tls && reach == Reach::kNetwork)
    return path +
           ": users but no TLS: passwords cross the network in plain text; add tls_server_config, or listen on a "
           "loopback address only";
  // The exporter-toolkit takes such a file, so it is taken here; that it keeps nobody out shows in no answer.
  if (config.tls && !config.tls->client_allowed_sans.empty() && config.tls->client_auth == ClientAuth::kRequireAny)
    return config.tls_places.Of("client_allowed_sans") +
           ": no certificate is verified, and whoever makes one may put any name in it; set client_auth_type to "
           "RequireAndVerifyClientCert, with client_ca_file";
  return "";
}

}  // namespace kepler::http
