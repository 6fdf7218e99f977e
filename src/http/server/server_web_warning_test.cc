#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "http/webconfig/web_config.h"
#include "http/webconfig/web_settings.h"
#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr const char* kOneUser =
    "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";

std::string WarningOf(const std::string& text, webconfig::Reach reach = webconfig::Reach::kNetwork) {
  const auto config = webconfig::ParseWebConfig(text, "web.yml");
  EXPECT_TRUE(config) << config.error().message;
  return config ? webconfig::WebWarning(*config, "web.yml", reach) : "";
}

TEST(WebWarning, FileThatProtectsNothing) {
  for (const auto* text : {"# soon\n", "{}\n", "basic_auth_users:\n", "basic_auth_users: {}\n",
                           "tls_server_config: {}\n", "http_server_config: {headers: {X-Frame-Options: deny}}\n"}) {
    for (const auto reach : {webconfig::Reach::kNetwork, webconfig::Reach::kThisMachine}) {
      EXPECT_EQ(WarningOf(text, reach),
                "web.yml: without TLS and users everybody has access, in plain text; to restrict it add "
                "tls_server_config or basic_auth_users")
          << text;
    }
  }
}

TEST(WebWarning, PasswordsInPlainText_WhereTheyLeaveTheMachine) {
  EXPECT_EQ(WarningOf(kOneUser, webconfig::Reach::kNetwork),
            "web.yml: without TLS passwords are sent in plain text; add tls_server_config, or listen only on a "
            "loopback address");
  EXPECT_EQ(WarningOf(kOneUser, webconfig::Reach::kThisMachine), "");
  const std::string tls = "tls_server_config: {cert: c, key: k}\n";
  EXPECT_EQ(WarningOf(tls), "");
  EXPECT_EQ(WarningOf(tls + kOneUser), "");
}

TEST(WebWarning, AllowedSansOfCertificatesThatNobodyVerifies) {
  const std::string tls = "tls_server_config:\n  cert: c\n  key: k\n  client_allowed_sans: [prometheus.example]\n";
  for (const std::string type : {"RequireAnyClientCert", "RequireClientCert"}) {
    for (const std::string ca : {"\n", "\n  client_ca: x\n"}) {  // which nobody is compared with
      EXPECT_EQ(
          WarningOf(std::string(tls).append("  client_auth_type: ").append(type).append(ca)),
          "web.yml:4: tls_server_config.client_allowed_sans: client certificates are not verified, so a client can "
          "put any name into one; set client_auth_type to RequireAndVerifyClientCert, with client_ca_file");
    }
  }
  EXPECT_EQ(WarningOf(tls + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca: x\n"), "");
}

TEST(WebWarning, AnyCertificateWithoutNames_IsWhatItSays) {
  EXPECT_EQ(WarningOf("tls_server_config: {cert: c, key: k, client_auth_type: RequireAnyClientCert}\n"), "");
}

TEST(WebWarning, CertificateThatHasExpired) {
  kepler::testing::FakeTree tree;
  const auto leaf = kepler::testing::MakeLeaf(kepler::testing::MakeAuthority("ca"), "server");
  tree.Write("server.crt", leaf.cert);
  tree.Write("server.key", leaf.key);
  const std::string text = "tls_server_config:\n  key_file: server.key\n  cert_file: server.crt\n";
  tree.Write("web.yml", text);
  auto web = webconfig::WebSettings::Create(tree.Path("web.yml"), 0ms);
  ASSERT_TRUE(web) << web.error().message;
  const auto in_force = (*web)->current();
  const webconfig::WebState& state = *in_force;
  ASSERT_TRUE(state.certificate_expiry);
  EXPECT_EQ(webconfig::WebWarning(state, "web.yml", webconfig::Reach::kNetwork, *state.certificate_expiry - 1s), "");
  EXPECT_THAT(webconfig::WebWarning(state, "web.yml", webconfig::Reach::kNetwork, *state.certificate_expiry),
              ::testing::ContainsRegex("web.yml:3: tls_server_config.cert_file: the certificate expired on "
                                       "2[0-9]{3}-[0-9]{2}-[0-9]{2}, and clients refuse it; renew it$"));
  tree.Write("web.yml", text + "  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: [a.example]\n");
  web = webconfig::WebSettings::Create(tree.Path("web.yml"), 0ms);
  ASSERT_TRUE(web) << web.error().message;
  EXPECT_THAT(
      webconfig::WebWarning(*(*web)->current(), "web.yml", webconfig::Reach::kNetwork, *state.certificate_expiry),
      ::testing::ContainsRegex("web.yml:3: tls_server_config.cert_file: the certificate expired on .*; renew "
                               "it; .*web.yml:5: .*client certificates are not verified"));
}

size_t Count(std::string_view log, std::string_view part) {
  size_t found = 0;
  for (size_t at = 0; (at = log.find(part, at)) != std::string_view::npos; ++at) ++found;
  return found;
}

TEST(ServerWebWarning, FileThatIsTaken_IsWarnedOfOnce) {
  constexpr std::string_view kWarning = "client certificates are not verified";
  kepler::testing::FakeTree tree;
  const auto web_file = [&](const std::string& names) {
    std::string text =
        "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"
        "  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: ";
    tree.Write("web.yml", text += names);
    return tree.Path("web.yml");
  };
  const auto leaf = kepler::testing::MakeLeaf(kepler::testing::MakeAuthority("ca"), "server");
  tree.Write("server.crt", leaf.cert);
  tree.Write("server.key", leaf.key);
  const auto self_made = kepler::testing::MakeLeaf(kepler::testing::MakeAuthority("self"), "self", "DNS:a.example");
  const auto served = [&](const Server& server) {
    auto client = testing::Connect(server);
    return client.StartTls({.cert = self_made.cert, .key = self_made.key}) && client.Get("/hello").status == 200;
  };
  ::testing::internal::CaptureStdout();
  const auto server = testing::StartServer({.web_check_time = 0ms}, web_file("[a.example]\n"));
  EXPECT_TRUE(served(*server));  // as with the exporter-toolkit
  EXPECT_TRUE(server->ReloadWebConfig());
  const std::string at_the_start = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(Count(at_the_start, kWarning), 1u);
  EXPECT_THAT(at_the_start, HasSubstr("level=WARN"));
  EXPECT_THAT(at_the_start, HasSubstr("web.yml:5: tls_server_config.client_allowed_sans: "));
  ::testing::internal::CaptureStdout();
  web_file("[a.example, b.example]\n");
  EXPECT_TRUE(server->ReloadWebConfig());
  for (int check = 0; check < 3; ++check) EXPECT_TRUE(served(*server));
  EXPECT_EQ(Count(::testing::internal::GetCapturedStdout(), kWarning), 1u);
}

TEST(ServerWebWarning, WhoCanReachTheServer_IsKnownFromItsAddresses) {
  kepler::testing::FakeTree tree;
  const auto log_of = [&](const std::string& text, std::vector<std::string> addresses) {
    tree.Write("web.yml", text);
    ::testing::internal::CaptureStdout();
    const auto server = Server::Create({.listen_addresses = std::move(addresses),
                                        .web_config_file = text.empty() ? "" : tree.Path("web.yml"),
                                        .limits = {}});
    EXPECT_TRUE(server) << server.error().message;
    return ::testing::internal::GetCapturedStdout();
  };
  const std::string passwords = "passwords are sent in plain text";
  EXPECT_THAT(log_of(kOneUser, {":0"}), HasSubstr(passwords));
  EXPECT_THAT(log_of(kOneUser, {"127.0.0.1:0", ":0"}), HasSubstr(passwords));
  EXPECT_THAT(log_of(kOneUser, {":0", "127.0.0.1:0"}), HasSubstr(passwords));
  EXPECT_EQ(log_of(kOneUser, {"127.0.0.1:0", "localhost:0"}), "");
  EXPECT_THAT(log_of("# nothing yet\n", {"127.0.0.1:0"}), HasSubstr(tree.Path("web.yml") + ": without TLS and users"));
  EXPECT_EQ(log_of("", {":0"}), "");  // no file: nothing was meant
}

}  // namespace
}  // namespace kepler::http::server
