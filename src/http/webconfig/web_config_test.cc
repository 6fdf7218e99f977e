#include "http/webconfig/web_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::http::webconfig {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kHash = "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

Result<WebConfig> Parse(std::string_view text) { return ParseWebConfig(text, "/etc/kepler/web.yml"); }
std::string ErrorOf(std::string_view text) {
  const auto config = Parse(text);
  return config ? "no error" : config.error().message;
}

TEST(ParseWebConfig, EmptyFile_IsPlainHttp) {
  for (const auto* text : {"", "\n", "# nothing\n", "{}", "---\n", "tls_server_config:\nbasic_auth_users:\n"}) {
    const auto config = Parse(text);
    ASSERT_TRUE(config) << text << config.error().message;
    EXPECT_FALSE(config->tls);
    EXPECT_TRUE(config->users.empty());
  }
}

TEST(ParseWebConfig, EveryKey_IsUnderstood) {
  const auto config = Parse(R"(
tls_server_config:
  cert_file: server.crt
  key_file: /keys/server.key
  client_ca_file: ../ca.crt
  client_auth_type: RequireAndVerifyClientCert
  client_allowed_sans: [prometheus.example, 10.0.0.1]
  min_version: TLS12
  max_version: TLS13
  cipher_suites:
    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
    - TLS_AES_128_GCM_SHA256
    - TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
  curve_preferences: [X25519, CurveP256]
  prefer_server_cipher_suites: no
http_server_config:
  http2: true
  headers:
    X-Frame-Options: deny
    Strict-Transport-Security: max-age=1
    X-XSS-Protection:
basic_auth_users:
  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW
rate_limit:
  interval: 1.5s
  burst: 3
)");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(config->tls);
  EXPECT_EQ(config->tls->cert_file, "/etc/kepler/server.crt");
  EXPECT_EQ(config->tls->key_file, "/keys/server.key");
  EXPECT_EQ(config->tls->client_ca_file, "/etc/kepler/../ca.crt");
  EXPECT_EQ(config->tls->client_auth, ClientAuth::kRequireAndVerify);
  EXPECT_THAT(config->tls->client_allowed_sans, ::testing::ElementsAre("prometheus.example", "10.0.0.1"));
  EXPECT_EQ(config->tls->ciphers, "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305");
  EXPECT_EQ(config->tls->groups, "X25519:P-256");
  EXPECT_EQ(config->tls->min_version, TlsVersion::k12);
  EXPECT_FALSE(config->tls->prefer_server_ciphers);
  EXPECT_THAT(config->headers, ::testing::ElementsAre(::testing::Pair("Strict-Transport-Security", "max-age=1"),
                                                      ::testing::Pair("X-Frame-Options", "deny")));
  EXPECT_EQ(config->users.at("alice"), kHash);
  EXPECT_EQ(config->rate_limit.interval, 1500ms);
  EXPECT_EQ(config->rate_limit.burst, 3);
}

TEST(ParseWebConfig, OnlyTls13Suites_LeaveTls12Out) {
  const auto config = Parse("tls_server_config: {cert: c, key: k, cipher_suites: [TLS_AES_256_GCM_SHA384]}");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tls->min_version, TlsVersion::k13);
}

TEST(ParseWebConfig, UnknownKey_NamesLineAndNearest) {
  EXPECT_EQ(ErrorOf("\ntls_server_confg:\n"),
            "/etc/kepler/web.yml:2: tls_server_confg: unknown key; did you mean tls_server_config?");
  EXPECT_THAT(ErrorOf("tls_server_config:\n  cert_file: a\n  keyfile: b\n"),
              HasSubstr("web.yml:3: tls_server_config.keyfile: unknown key; did you mean tls_server_config.key_file?"));
  EXPECT_THAT(ErrorOf("zzz: 1"), HasSubstr("web.yml:1: zzz: unknown key"));
}

TEST(ParseWebConfig, SeveralMistakes_AreAllNamed) {
  EXPECT_EQ(ErrorOf("rate_limits: {}\nhttp_server_config: {http2: maybe}\nrate_limit: {burst: 1.5}\n"),
            "/etc/kepler/web.yml:1: rate_limits: unknown key; did you mean rate_limit?; "
            "/etc/kepler/web.yml:2: http_server_config.http2: \"maybe\" is neither true nor false; "
            "/etc/kepler/web.yml:3: rate_limit.burst: \"1.5\" is read as 1; write a whole number");
}

TEST(ParseWebConfig, UserWithAMistake_IsNamedWithItsLine) {
  EXPECT_EQ(
      ErrorOf("basic_auth_users:\n  zoe: " + std::string(kHash) + "\n  bob: secret\n  eve: " + std::string(kHash)),
      "/etc/kepler/web.yml:3: basic_auth_users.bob: is not a bcrypt hash ($2y$10$...); make one with "
      "htpasswd -nBC 10 \"\"");
}

TEST(ParseWebConfig, EmptyClientAuthType_IsNone) {
  const auto config = Parse("tls_server_config: {cert: c, key: k, client_auth_type: ''}");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tls->client_auth, ClientAuth::kNone);
}

TEST(ParseWebConfig, RepeatedKey_IsRefused) {
  EXPECT_THAT(ErrorOf("rate_limit: {}\nrate_limit: {}\n"), HasSubstr("web.yml:2: key rate_limit is given twice"));
}

struct BadFile {
  const char* text;
  const char* part;
};
class ParseWebConfigRefusal : public ::testing::TestWithParam<BadFile> {};

TEST_P(ParseWebConfigRefusal, BadValue_NamesKeyAndReason) {
  EXPECT_THAT(ErrorOf(GetParam().text), StartsWith("/etc/kepler/web.yml:"));
  EXPECT_THAT(ErrorOf(GetParam().text), HasSubstr(GetParam().part));
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseWebConfigRefusal,
    ::testing::Values(
        BadFile{"- a\n", ":1: the file must contain a mapping of keys to values"},
        BadFile{"just text\n", "must contain a mapping of keys to values"}, BadFile{"a: [\n", ":"},
        BadFile{"a: b: c\n", ":1:"}, BadFile{"rate_limit: {}\n---\n{}\n", ":3: a second document starts here"},
        BadFile{"tls_server_config: []\n", "tls_server_config: must be a mapping of keys to values"},
        BadFile{"tls_server_config: {cert_file: [a]}\n", "cert_file: must be a text"},
        BadFile{"tls_server_config: {key_file: k}\n", "cert_file or cert is needed"},
        BadFile{"tls_server_config: {cert_file: c}\n", "key_file or key is needed"},
        BadFile{"tls_server_config: {min_version: TLS12}\n", "cert_file or cert is needed"},
        BadFile{"\ntls_server_config:\n  cert_file:\n", ":3: tls_server_config: cert_file or cert is needed"},
        BadFile{"tls_server_config: {cert: c, key: k, min_version: TLS10}\n", "\"TLS10\" is not one of TLS12, TLS13"},
        BadFile{"tls_server_config: {cert: c, key: k, max_version: TLS11}\n", "max_version: \"TLS11\" is not one of"},
        BadFile{"tls_server_config: {cert: c, key: k, min_version: SSL3}\n", "\"SSL3\" is not one of TLS12, TLS13"},
        BadFile{"tls_server_config: {cert: c, key: k, min_version: TLS13, max_version: TLS12}\n",
                "max_version: is below min_version"},
        BadFile{"tls_server_config: {cert: c, key: k, client_auth_type: RequireAndVerify}\n", "client_auth_type"},
        BadFile{"tls_server_config: {cert: c, key: k, client_auth_type: RequireAndVerifyClientCert}\n",
                "client_ca_file or client_ca is needed"},
        BadFile{"tls_server_config: {cert: c, key: k, client_ca: x}\n", "without client_auth_type"},
        BadFile{"tls_server_config: {cert: c, key: k, client_auth_type: RequestClientCert, client_allowed_sans: [a]}\n",
                "must be RequireAnyClientCert"},
        BadFile{"tls_server_config: {cert: c, key: k, cipher_suites: [TLS_AES_128_GCM_SHA25]}\n",
                "did you mean TLS_AES_128_GCM_SHA256?"},
        BadFile{"tls_server_config: {cert: c, key: k, curve_preferences: [brainpool]}\n", "CurveP256"},
        BadFile{"tls_server_config: {cert: c, key: k, prefer_server_cipher_suites: 3}\n",
                "\"3\" is neither true nor false"},
        BadFile{"http_server_config: {http2: 'true'}\n", "http2: must be a boolean, without quotes"},
        BadFile{"rate_limit: {burst: '3'}\n", "burst: must be a whole number, without quotes"},
        BadFile{"http_server_config: {headers: {X-XSS-Protection: -----BEGIN x}}\n", "(not shown)"},
        BadFile{"tls_server_config: {cert: c, key: k, client_auth_type: RequireAnyClientCert, "
                "client_allowed_sans: ['']}\n",
                "client_allowed_sans: has an empty item"},
        BadFile{"http_server_config: {http2: maybe}\n", "neither true nor false"},
        BadFile{"http_server_config: {headers: {X-Powered-By: me}}\n", "headers.X-Powered-By: unknown key"},
        BadFile{"http_server_config: {headers: {X-Frame-Options: all}}\n", "deny or sameorigin"},
        BadFile{"http_server_config: {headers: {X-Content-Type-Options: sniff}}\n", "nosniff"},
        BadFile{"http_server_config: {headers: {X-XSS-Protection: \"a\\r\\nSet-Cookie: b\"}}\n", "control characters"},
        BadFile{"basic_auth_users: {alice: letmein}\n", "basic_auth_users.alice: is not a bcrypt hash"},
        BadFile{"basic_auth_users: {\"a:b\": x}\n", "must not be empty or contain a colon"},
        BadFile{"rate_limit: {interval: soon}\n", "not a duration"},
        BadFile{"rate_limit: {interval: -1s}\n", "not a duration"},
        BadFile{"rate_limit: {interval: 1s, burst: many}\n", "burst: \"many\" is not a whole number"},
        BadFile{"rate_limit: {interval: 1s}\n", "0 would refuse every request"}));

TEST(ParseWebConfig, Secrets_StayOutOfErrors) {
  EXPECT_THAT(ErrorOf("basic_auth_users: {alice: letmein}"), ::testing::Not(HasSubstr("letmein")));
  for (const char* value : {"x", "''", "", "[a]"})
    EXPECT_THAT(
        ErrorOf("basic_auth_users: {\"alice:letmein\": " + std::string(value) + "}"),
        ::testing::AllOf(StartsWith("/etc/kepler/web.yml:1: basic_auth_users"), ::testing::Not(HasSubstr("letmein"))))
        << value;
  EXPECT_THAT(ErrorOf("basic_auth_users: {" + std::string(kHash) + ": alice}"), ::testing::Not(HasSubstr("abcdefgh")));
}

TEST(ParseWebConfig, KeyWhereItsFileIsDue_IsRefusedAndNotShown) {
  const std::string key = "|\n    -----BEGIN PRIVATE KEY-----\n    MIIEvQIBADANBg\n    -----END PRIVATE KEY-----\n";
  for (const std::string name : {"cert_file", "key_file", "client_ca_file"}) {
    const auto error = ErrorOf("tls_server_config:\n  " + name + ": " + key);
    EXPECT_THAT(error, StartsWith("/etc/kepler/web.yml:2: tls_server_config." + name + ": must be a path"));
    EXPECT_THAT(error, ::testing::Not(HasSubstr("MIIE")));
  }
  for (const std::string name : {"cipher_suites: [", "curve_preferences: ["}) {
    const auto error = ErrorOf("tls_server_config: {cert: c, key: k, " + name +
                               "\"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBg\"]}\n");
    EXPECT_THAT(error, ::testing::Not(HasSubstr("MIIE")));
  }
  EXPECT_THAT(ErrorOf("\"-----BEGIN PRIVATE KEY-----MIIEvQ\": x\n"), ::testing::Not(HasSubstr("MIIE")));
  EXPECT_THAT(ErrorOf("tls_server_config: {cert_file: \"a\\nb\"}\n"), HasSubstr("line break"));
}

std::string HashOfCost(std::string_view cost) {
  return std::string(kHash.substr(0, 4)) + std::string(cost) + std::string(kHash.substr(6));
}

TEST(ParseWebConfig, DearHash_IsRefusedWithWhatItWouldCostHere) {
  const auto error_of = [](std::string_view cost) {
    const auto config = ParseWebConfig("\nbasic_auth_users: {alice: " + HashOfCost(cost) + "}\n", "web.yml",
                                       [] { return CpuTime(1ms); });
    return config ? "no error" : config.error().message;
  };
  EXPECT_EQ(error_of("14"), "no error");
  EXPECT_EQ(error_of("15"),
            "web.yml:2: basic_auth_users.alice: bcrypt cost 15 is more than 14: a login would take about 2.0 s of "
            "CPU time, and the limit is 1.0 s; make a hash with htpasswd -nBC 10 \"\"");
  EXPECT_THAT(error_of("31"), HasSubstr("about 134217.7 s"));
}

TEST(ParseWebConfig, MultipliedAliases_AreBounded) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    const auto below = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int n = 0; n < 9; ++n) text += below + ",";
    text += below + "]\n";
  }
  EXPECT_THAT(ErrorOf(text), HasSubstr("more than 10000 keys and values"));
}

// It would swallow the users below it, and with them the authentication.
TEST(ParseWebConfig, QuoteThatIsNeverClosed_IsRefused) {
  const std::string text =
      "http_server_config:\n  headers:\n    Content-Security-Policy: \"default-src self\nbasic_auth_users:\n  alice: " +
      std::string(kHash) + "\n";
  EXPECT_THAT(ErrorOf(text), HasSubstr("not valid YAML"));
}

TEST(ParseWebConfig, DeepNesting_IsBounded) {
  EXPECT_THAT(ErrorOf("rate_limit: " + std::string(100, '[') + std::string(100, ']')), HasSubstr("levels deep"));
}

TEST(ParseWebConfig, RateInterval_IsADurationOrNanoseconds) {
  const auto interval = [](const std::string& text) {
    const auto config = ParseWebConfig("rate_limit: {interval: \"" + text + "\", burst: 1}", "web.yml");
    return config ? config->rate_limit.interval : -1ns;
  };
  EXPECT_EQ(interval("1m30s"), 90s);
  EXPECT_EQ(interval("250ms"), 250ms);
  EXPECT_EQ(interval("0"), 0ns);
  EXPECT_EQ(interval("1000"), 1us);
  for (const auto* bad : {"s", "1x", "-1s", "-5", "1s2", "1..5s", "999999999h", "1 s"})
    EXPECT_EQ(interval(bad), -1ns) << bad;
}

}  // namespace
}  // namespace kepler::http::webconfig
