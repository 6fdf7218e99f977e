#include "http/webconfig/web_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "base/duration.h"
#include "base/parse.h"
#include "settings/draft.h"
#include "settings/table.h"
#include "settings/values.h"

namespace kepler::http::webconfig {
namespace {

using settings::Draft;
using settings::kAt;
using settings::Key;

/// What the file may say, and what that means.
template <class Meaning>
using Word = std::pair<std::string_view, Meaning>;

constexpr std::array<Word<ClientAuth>, 7> kPolicies = {
    {{"NoClientCert", ClientAuth::kNone},
     {"RequestClientCert", ClientAuth::kRequest},
     {"RequireAnyClientCert", ClientAuth::kRequireAny},
     {"RequireClientCert", ClientAuth::kRequireAny},  // the toolkit's older spelling
     {"VerifyClientCertIfGiven", ClientAuth::kVerifyIfGiven},
     {"RequireAndVerifyClientCert", ClientAuth::kRequireAndVerify},
     {"", ClientAuth::kNone}}};
// What Go's crypto/tls lists as secure. Those of TLS 1.3 have no OpenSSL name here: they are always on, as in Go.
constexpr std::array<Word<std::string_view>, 13> kCiphers = {{
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
constexpr std::array<Word<std::string_view>, 4> kCurves = {
    {{"CurveP256", "P-256"}, {"CurveP384", "P-384"}, {"CurveP521", "P-521"}, {"X25519", "X25519"}}};

template <class Meaning, size_t kCount>
constexpr std::array<std::string_view, kCount> WordsOf(const std::array<Word<Meaning>, kCount>& table) {
  std::array<std::string_view, kCount> words;
  std::ranges::transform(table, words.begin(), &Word<Meaning>::first);
  return words;
}
constexpr auto kPolicyWords = WordsOf(kPolicies);
constexpr auto kCipherWords = WordsOf(kCiphers);
constexpr auto kCurveWords = WordsOf(kCurves);
constexpr std::array<std::string_view, 2> kVersionWords = {"TLS12", "TLS13"};  // in the order of TlsVersion

enum class Choice : uint8_t {};  // a place in one of the tables above

/// The values of the file, without defaults.
struct WebFile {
  WebConfig config;
  TlsConfig tls;
  Choice client_auth_type = Choice{0};
  std::vector<Choice> cipher_suites, curve_preferences;
  bool http2 = true;  // HTTP/1.1 is spoken either way
  std::string strict_transport_security, content_type_options, frame_options, xss_protection, content_security_policy;
  std::string rate_interval;
};

/// What a key means is said by the toolkit's pages.
constexpr Key KeyOf(std::string_view path, settings::Place place, settings::Details details = {}) {
  return Key(path, "", "", place, details);
}
constexpr std::string_view kTls = "tls_server_config.", kHeaders = "http_server_config.headers.";
constexpr Key kKeys[] = {
    KeyOf("tls_server_config.cert", kAt<&WebFile::tls, &TlsConfig::cert>, {.secret = true}),
    KeyOf("tls_server_config.key", kAt<&WebFile::tls, &TlsConfig::key>, {.secret = true}),
    KeyOf("tls_server_config.client_ca", kAt<&WebFile::tls, &TlsConfig::client_ca>, {.secret = true}),
    KeyOf("tls_server_config.cert_file", kAt<&WebFile::tls, &TlsConfig::cert_file>, {.is_path = true}),
    KeyOf("tls_server_config.key_file", kAt<&WebFile::tls, &TlsConfig::key_file>, {.is_path = true}),
    KeyOf("tls_server_config.client_ca_file", kAt<&WebFile::tls, &TlsConfig::client_ca_file>, {.is_path = true}),
    KeyOf("tls_server_config.client_auth_type", kAt<&WebFile::client_auth_type>, {.choices = kPolicyWords}),
    KeyOf("tls_server_config.client_allowed_sans", kAt<&WebFile::tls, &TlsConfig::client_allowed_sans>),
    KeyOf("tls_server_config.cipher_suites", kAt<&WebFile::cipher_suites>, {.choices = kCipherWords}),
    KeyOf("tls_server_config.curve_preferences", kAt<&WebFile::curve_preferences>, {.choices = kCurveWords}),
    KeyOf("tls_server_config.min_version", kAt<&WebFile::tls, &TlsConfig::min_version>, {.choices = kVersionWords}),
    KeyOf("tls_server_config.max_version", kAt<&WebFile::tls, &TlsConfig::max_version>, {.choices = kVersionWords}),
    KeyOf("tls_server_config.prefer_server_cipher_suites", kAt<&WebFile::tls, &TlsConfig::prefer_server_ciphers>),
    KeyOf("http_server_config.http2", kAt<&WebFile::http2>),
    KeyOf("http_server_config.headers.Strict-Transport-Security", kAt<&WebFile::strict_transport_security>),
    KeyOf("http_server_config.headers.X-Content-Type-Options", kAt<&WebFile::content_type_options>),
    KeyOf("http_server_config.headers.X-Frame-Options", kAt<&WebFile::frame_options>),
    KeyOf("http_server_config.headers.X-XSS-Protection", kAt<&WebFile::xss_protection>),
    KeyOf("http_server_config.headers.Content-Security-Policy", kAt<&WebFile::content_security_policy>),
    KeyOf("basic_auth_users", kAt<&WebFile::config, &WebConfig::users>, {.secret = true}),
    KeyOf("rate_limit.interval", kAt<&WebFile::rate_interval>),
    KeyOf("rate_limit.burst", kAt<&WebFile::config, &WebConfig::rate_limit, &RateLimit::burst>, {.min = 0}),
};
constexpr settings::TableOf<WebFile> kTable(kKeys);

/// OpenSSL's names of what was chosen.
std::string OpenSslNames(std::span<const Choice> choices, std::span<const Word<std::string_view>> table) {
  std::string names;
  for (const Choice choice : choices) {
    const std::string_view name = table[static_cast<size_t>(choice)].second;
    if (!name.empty()) names.append(names.empty() ? "" : ":").append(name);
  }
  return names;
}

TlsConfig TlsOf(const WebFile& file, const std::string& path) {
  TlsConfig tls = file.tls;
  const auto directory = std::filesystem::path(path).parent_path();
  for (std::string* name : {&tls.cert_file, &tls.key_file, &tls.client_ca_file})
    if (!name->empty()) *name = (directory / *name).string();  // an absolute name stays as it is
  tls.client_auth = kPolicies[static_cast<size_t>(file.client_auth_type)].second;
  tls.ciphers = OpenSslNames(file.cipher_suites, kCiphers);
  tls.groups = OpenSslNames(file.curve_preferences, kCurves);
  // Only suites of TLS 1.3 were named: nothing of TLS 1.2 may be offered.
  if (!file.cipher_suites.empty() && tls.ciphers.empty()) tls.min_version = TlsVersion::k13;
  return tls;
}

/// The toolkit's rules, and one more: verifying clients against the whole world's certificate authorities is refused.
/// `line` is that of the section.
void CheckTls(Draft& draft, const TlsConfig& tls, int line) {
  if (tls.cert.empty() && tls.cert_file.empty())
    draft.RejectLine(line, "tls_server_config", "cert_file or cert is needed");
  if (tls.key.empty() && tls.key_file.empty()) draft.RejectLine(line, "tls_server_config", "key_file or key is needed");
  if (tls.min_version > tls.max_version)
    draft.Reject("tls_server_config.max_version", "is below min_version, or all cipher_suites are for TLS 1.3");
  if (tls.has_client_ca() && tls.client_auth == ClientAuth::kNone)
    draft.Reject(tls.client_ca.empty() ? "tls_server_config.client_ca_file" : "tls_server_config.client_ca",
                 "has no effect without client_auth_type; set client_auth_type too");
  if (tls.verifies() && !tls.has_client_ca())
    draft.Reject("tls_server_config.client_auth_type", "client_ca_file or client_ca is needed to verify clients");
  if (!tls.client_allowed_sans.empty() && !tls.wants_certificate())
    draft.Reject("tls_server_config.client_allowed_sans",
                 "client_auth_type must be RequireAnyClientCert or RequireAndVerifyClientCert");
}

/// There is TLS where any of its keys stands in the file.
void TakeTls(Draft& draft, WebFile& file) {
  int section = 0;
  for (const Key& key : draft.keys()) {
    if (!key.path.starts_with(kTls)) continue;
    const int line = draft.origin(key).line;
    if (line > 0) section = section == 0 ? line : std::min(section, line);
    file.config.tls_places.emplace(key.path.substr(kTls.size()), draft.Where(line, key.path));
  }
  if (section == 0) return;
  file.config.tls = TlsOf(file, draft.file());
  CheckTls(draft, *file.config.tls, section);
}

std::string_view WhyNoHeader(std::string_view name, std::string_view value) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(value, control)) return "control characters are not allowed";
  if (name == "X-Content-Type-Options" && value != "nosniff") return "must be nosniff";
  if (name == "X-Frame-Options" && value != "deny" && value != "sameorigin") return "must be deny or sameorigin";
  return "";
}

void TakeHeaders(Draft& draft, WebConfig& config) {
  for (const Key& key : draft.keys()) {
    if (!key.path.starts_with(kHeaders)) continue;
    const std::string_view name = key.path.substr(kHeaders.size());
    const std::string& value = *std::get<std::string*>(draft.field(key));
    if (value.empty()) continue;
    if (const auto why = WhyNoHeader(name, value); !why.empty()) draft.Reject(key.path, why);
    config.headers.emplace_back(name, value);
  }
}

std::string WhyTooDear(int cost, CpuTime cheapest) {
  const auto time = [cheapest](int of) { return BcryptTime(of, cheapest).count(); };
  return fmt::format(
      "bcrypt cost {} is more than {}: a login would take about {:.1f} s of CPU time, and the limit is {:.1f} s; "
      "make a hash with htpasswd -nBC 10 \"\"",
      cost, kMaxBcryptCost, time(cost), time(kMaxBcryptCost));
}

/// Stops at the first mistake: measuring takes milliseconds.
void CheckUsers(Draft& draft, const WebConfig& config, CpuTime (*measure)()) {
  size_t item = 0;
  for (const auto& [user, hash] : config.users) {
    const auto refuse = [&](std::string_view why) { draft.Reject("basic_auth_users", why, item); };
    if (user.empty() || user.contains(':')) return refuse("a user name must not be empty or contain a colon");
    if (!IsBcryptHash(hash)) return refuse("is not a bcrypt hash ($2y$10$...); make one with htpasswd -nBC 10 \"\"");
    if (BcryptCost(hash) > kMaxBcryptCost) return refuse(WhyTooDear(BcryptCost(hash), measure()));
    ++item;
  }
}

void TakeRate(Draft& draft, const std::string& interval, RateLimit& limit) {
  const auto bare = ParseNumber<int64_t>(interval);  // nanoseconds, as Go reads a number
  if (!interval.empty()) limit.interval = bare ? Duration(*bare) : ParseDuration(interval).value_or(Duration(-1));
  if (limit.interval.count() < 0) draft.Reject("rate_limit.interval", "is not a duration such as 1s or 250ms");
  if (limit.interval.count() > 0 && limit.burst == 0)
    draft.Reject("rate_limit.interval", "a burst of 0 would refuse every request; set burst to 1 or more");
}

/// Returns all errors. A warning means that a value may not have the intended effect: here that is an error.
Status Verdict(const Draft& draft) {
  settings::Strings all = draft.unknown();
  for (const auto* more : {&draft.errors(), &draft.warnings()}) all.insert(all.end(), more->begin(), more->end());
  if (all.empty()) return {};
  return settings::Bad(fmt::format("{}", fmt::join(all, "; ")));
}

}  // namespace

Result<WebConfig> ParseWebConfig(std::string_view text, const std::string& path, CpuTime (*measure)()) {
  WebFile file;
  Draft draft(kTable.Of(file), path);
  draft.LoadYaml(std::string(text));
  draft.CheckTable();
  KEPLER_CHECK_OK(Verdict(draft));
  TakeTls(draft, file);
  TakeHeaders(draft, file.config);
  CheckUsers(draft, file.config, measure);
  TakeRate(draft, file.rate_interval, file.config.rate_limit);
  KEPLER_CHECK_OK(Verdict(draft));
  return std::move(file.config);
}

std::string WebWarning(const WebConfig& config, const std::string& path, Reach reach) {
  // Whoever gives a web file means to be protected: a comment for a file, or a section that lost its lines, is a slip.
  if (!config.tls && config.users.empty())
    return path +
           ": without TLS and users everybody has access, in plain text; to restrict it add tls_server_config or "
           "basic_auth_users";
  if (!config.tls && reach == Reach::kNetwork)
    return path +
           ": without TLS passwords are sent in plain text; add tls_server_config, or listen only on a loopback "
           "address";
  // The exporter-toolkit takes such a file, so it is taken here; that it keeps nobody out shows in no answer.
  if (config.tls && !config.tls->client_allowed_sans.empty() && config.tls->client_auth == ClientAuth::kRequireAny)
    return config.tls_places.at("client_allowed_sans") +
           ": client certificates are not verified, so a client can put any name into one; set client_auth_type to "
           "RequireAndVerifyClientCert, with client_ca_file";
  return "";
}

}  // namespace kepler::http::webconfig
