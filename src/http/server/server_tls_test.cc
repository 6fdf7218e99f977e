#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <future>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using kepler::testing::MakeAuthority;
using kepler::testing::MakeLeaf;
using testing::Connect;
using ::testing::HasSubstr;
using testing::MakeServer;
using testing::StartServer;
using testing::TlsClientOptions;

constexpr std::string_view kBasic = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n";

class ServerTlsTest : public ::testing::Test {
 protected:
  ServerTlsTest() {
    Install(server_);
    tree_.Write("ca.crt", authority_.cert);
  }
  void Install(const kepler::testing::Certificate& certificate) {
    tree_.Write("server.crt", certificate.cert);
    tree_.Write("server.key", certificate.key);
  }
  std::string WebFile(const std::string& more = "") {
    tree_.Write("web.yml", std::string(kBasic) + more);
    return tree_.Path("web.yml");
  }
  /// Whether a client with `options` gets an answer. With TLS 1.3 a refusal arrives only after the client's handshake.
  static bool Served(const Server& server, const TlsClientOptions& options = {}) {
    auto client = Connect(server);
    return client.StartTls(options) && client.Get("/hello").status == 200;
  }
  /// What has changed counts then.
  static void CheckTwice(const Server& server) {
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(Connect(server).StartTls());
  }

  kepler::testing::FakeTree tree_;
  kepler::testing::Certificate authority_ = MakeAuthority("ca");
  kepler::testing::Certificate server_ = MakeLeaf(authority_, "server");
};

std::string PeerName(const testing::TestClient& client) {
  char name[64] = {};
  X509* const peer = SSL_get0_peer_certificate(client.ssl());
  X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name, sizeof name);
  return name;
}

TEST_F(ServerTlsTest, Get_IsAnswered) {
  const auto server = StartServer({}, WebFile());
  EXPECT_TRUE(server->tls());
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls({.alpn = "\x02h2\x08http/1.1"}));
  EXPECT_STREQ(SSL_get_version(client.ssl()), "TLSv1.3");
  const unsigned char* protocol = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(client.ssl(), &protocol, &length);
  EXPECT_EQ(std::string(protocol, protocol + length), "http/1.1");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Get("/hello").body, "hello\n");
  EXPECT_EQ(client.Get("/hello", "Connection: close\r\n").status, 200u);
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(SSL_get_shutdown(client.ssl()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
}

TEST_F(ServerTlsTest, BigBodyAndPipeline_ArriveWhole) {
  const auto server = MakeServer({}, WebFile());
  std::string text;
  for (int i = 0; text.size() < (3u << 20); ++i) text += std::to_string(i) + ",";
  const auto body = std::make_shared<const std::string>(std::move(text));
  server->Handle("/big", [body](const Request&, const Responder& answer) { answer({.body = body}); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";  // one record, several requests
  client.Send(requests + "GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
  for (int i = 0; i < 20; ++i) ASSERT_EQ(client.Read().body, "hello\n");
  EXPECT_EQ(client.Read().body, *body);
}

TEST_F(ServerTlsTest, HeadInManyRecords_ArrivesWhole) {
  const auto server = StartServer({}, WebFile());
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  for (int i = 0; i < 3; ++i) {
    for (const char c : std::string_view("\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")) client.Send({&c, 1});
    ASSERT_EQ(client.Read().body, "hello\n");
  }
}

TEST_F(ServerTlsTest, Versions_AreKept) {
  const auto only12 = StartServer({}, WebFile("  max_version: TLS12\n"));
  auto client = Connect(*only12);
  ASSERT_TRUE(client.StartTls());
  EXPECT_STREQ(SSL_get_version(client.ssl()), "TLSv1.2");
  const auto only13 = StartServer({}, WebFile("  min_version: TLS13\n"));
  EXPECT_FALSE(Connect(*only13).StartTls({.max_version = TLS1_2_VERSION}));
  const auto standard = StartServer({}, WebFile());
  EXPECT_FALSE(Connect(*standard).StartTls({.max_version = TLS1_1_VERSION}));
}

TEST_F(ServerTlsTest, CiphersAndCurves_AreUsed) {
  const auto server = StartServer({}, WebFile("  max_version: TLS12\n"
                                              "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n"
                                              "  curve_preferences: [CurveP384]\n"));
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  EXPECT_STREQ(SSL_get_cipher_name(client.ssl()), "ECDHE-ECDSA-AES256-GCM-SHA384");
  EXPECT_EQ(SSL_get_negotiated_group(client.ssl()), NID_secp384r1);
}

TEST_F(ServerTlsTest, ReconnectingClient_MayResume) {
  const auto server = StartServer({}, WebFile());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Served(*server));
}

TEST_F(ServerTlsTest, RequireAndVerify_TakesOnlyOurClients) {
  const auto server =
      StartServer({}, WebFile("  client_ca_file: ca.crt\n  client_auth_type: RequireAndVerifyClientCert\n"));
  const auto ours = MakeLeaf(authority_, "prometheus"), foreign = MakeLeaf(MakeAuthority("other"), "prometheus");
  EXPECT_TRUE(Served(*server, {.cert = ours.cert, .key = ours.key}));
  EXPECT_FALSE(Served(*server, {.cert = foreign.cert, .key = foreign.key}));
  EXPECT_FALSE(Served(*server));
  EXPECT_FALSE(Served(*server, {.max_version = TLS1_2_VERSION}));
  server->Stop();  // a client receives the refusal before it is counted
  EXPECT_GE(server->status().handshake_errors, 3u);
  EXPECT_EQ(server->status().requests, 1u);
}

TEST_F(ServerTlsTest, ClientWithoutTheCertificateThatIsWanted_HearsSo) {
  const auto server =
      StartServer({}, WebFile("  client_ca_file: ca.crt\n  client_auth_type: RequireAndVerifyClientCert\n"));
  auto client = Connect(*server);
  // The end of the handshake and the request come as one: the kernel keeps back what does not fill a segment.
  const int on = 1;
  ASSERT_EQ(::setsockopt(client.fd(), IPPROTO_TCP, TCP_CORK, &on, sizeof on), 0);
  ASSERT_TRUE(client.StartTls());
  client.SendGet("/hello");
  ERR_clear_error();
  EXPECT_EQ(client.Read().status, 0u);
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_last_error()), SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED);
  pollfd reset{.fd = client.fd(), .events = 0, .revents = 0};
  EXPECT_EQ(::poll(&reset, 1, 100), 0) << "a reset, which clients may see before the alert";
  EXPECT_EQ(server->status().handshake_errors, 1u);
}

TEST_F(ServerTlsTest, VerifyIfGiven_TakesNoneOrOurs) {
  const auto server =
      StartServer({}, WebFile("  client_ca_file: ca.crt\n  client_auth_type: VerifyClientCertIfGiven\n"));
  const auto ours = MakeLeaf(authority_, "a"), foreign = MakeLeaf(MakeAuthority("other"), "a");
  EXPECT_TRUE(Served(*server));
  EXPECT_TRUE(Served(*server, {.cert = ours.cert, .key = ours.key}));
  EXPECT_FALSE(Served(*server, {.cert = foreign.cert, .key = foreign.key}));
}

TEST_F(ServerTlsTest, RequireAny_TakesAnyButNotNone) {
  const auto server = StartServer({}, WebFile("  client_auth_type: RequireAnyClientCert\n"));
  const auto foreign = MakeLeaf(MakeAuthority("other"), "a");
  EXPECT_TRUE(Served(*server, {.cert = foreign.cert, .key = foreign.key}));
  EXPECT_FALSE(Served(*server));
}

TEST_F(ServerTlsTest, Request_TakesEverybody) {
  const auto server = StartServer({}, WebFile("  client_auth_type: RequestClientCert\n"));
  const auto foreign = MakeLeaf(MakeAuthority("other"), "a");
  EXPECT_TRUE(Served(*server, {.cert = foreign.cert, .key = foreign.key}));
  EXPECT_TRUE(Served(*server));
}

TEST_F(ServerTlsTest, AllowedSans_MatchEveryKindExactly) {
  const auto server = StartServer(
      {},
      WebFile("  client_ca_file: ca.crt\n  client_auth_type: RequireAndVerifyClientCert\n"
              "  client_allowed_sans: [good.example, 10.1.2.3, '2001:db8::1', ops@good.example, 'spiffe://good'] \n"));
  const auto served = [&](const std::string& names) {
    const auto leaf = MakeLeaf(authority_, "good.example", names);
    return Served(*server, {.cert = leaf.cert, .key = leaf.key});
  };
  EXPECT_TRUE(served("DNS:good.example"));
  EXPECT_TRUE(served("DNS:bad.example,IP:10.1.2.3"));
  EXPECT_TRUE(served("IP:2001:db8::1"));
  EXPECT_TRUE(served("email:ops@good.example"));
  EXPECT_TRUE(served("URI:spiffe://good"));
  EXPECT_FALSE(served("DNS:sub.good.example"));
  EXPECT_FALSE(served("DNS:GOOD.example.org"));
  EXPECT_FALSE(served(""));  // a common name is no SAN
}

TEST_F(ServerTlsTest, InlinePem_Works) {
  const auto indent = [](const std::string& pem) {
    std::string text;
    for (const char c : pem) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return text + "\n";
  };
  tree_.Write("web.yml",
              "tls_server_config:\n  cert: |\n    " + indent(server_.cert) + "  key: |\n    " + indent(server_.key));
  EXPECT_TRUE(Served(*StartServer({}, tree_.Path("web.yml"))));
}

TEST_F(ServerTlsTest, PlainHttpToTlsPort_GetsAnExplanation) {
  const auto server = StartServer({}, WebFile());
  auto client = Connect(*server);
  const auto reply = client.Get("/hello");
  EXPECT_EQ(reply.status, 400u);
  EXPECT_THAT(reply.body, HasSubstr("HTTPS"));
  EXPECT_TRUE(client.WaitForEnd());
}

TEST_F(ServerTlsTest, GarbageInsteadOfHandshake_IsDropped) {
  const auto server = StartServer({}, WebFile());
  auto client = Connect(*server);
  client.Send(std::string("\x16\x03\x01\xff\xffgarbage", 12) + std::string(70'000, 'x'));
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_TRUE(Served(*server));
}

TEST_F(ServerTlsTest, StalledHandshake_CountsAsHeaderTime) {
  const auto server = StartServer({.header_time = 50ms}, WebFile());
  auto client = Connect(*server);
  client.Send(std::string("\x16\x03\x01\x02", 4));
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(server->status().timeouts, 1u);
}

TEST_F(ServerTlsTest, ClientGoneMidResponse_HarmsNobody) {
  const auto server = MakeServer({}, WebFile());
  const auto body = std::make_shared<const std::string>(8 << 20, 'x');
  server->Handle("/big", [body](const Request&, const Responder& answer) { answer({.body = body}); });
  ASSERT_TRUE(server->Start());
  for (int i = 0; i < 5; ++i) {
    testing::TestClient gone(server->addresses().front(), /*receive_buffer=*/4096);
    ASSERT_TRUE(gone.StartTls());
    gone.SendGet("/big");
    ASSERT_TRUE(gone.Readable(10s));
    gone.Abort();
  }
  EXPECT_TRUE(Served(*server));
}

TEST_F(ServerTlsTest, ReplacedCertificate_ServesTheNextConnection) {
  const auto server = StartServer({.web_check_time = 0ms}, WebFile());
  auto old_client = Connect(*server);
  ASSERT_TRUE(old_client.StartTls());
  EXPECT_EQ(PeerName(old_client), "server");
  Install(MakeLeaf(authority_, "renewed"));
  CheckTwice(*server);
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  EXPECT_EQ(PeerName(client), "renewed");
  EXPECT_EQ(client.Get("/hello").status, 200u);
  EXPECT_TRUE(old_client.WaitForEnd());
}

TEST_F(ServerTlsTest, Connection_EndsWhenTlsChangesAndStaysWhenOnlyUsersDo) {
  const std::string users =
      "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
  const auto server = StartServer({.web_check_time = 0ms}, WebFile());
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  EXPECT_EQ(client.Get("/hello").status, 200u);
  WebFile(users);
  EXPECT_EQ(client.Get("/hello").status, 200u);
  EXPECT_EQ(client.Get("/hello").status, 401u);  // the same connection, the new rules
  WebFile("  client_auth_type: RequestClientCert\n" + users);
  CheckTwice(*server);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST_F(ServerTlsTest, ClientWithoutACertificate_DoesNotStayLetInWhenOneIsWanted) {
  const auto server = StartServer({.web_check_time = 0ms}, WebFile());
  auto idle = Connect(*server);
  ASSERT_TRUE(idle.StartTls());
  EXPECT_EQ(idle.Get("/hello").status, 200u);
  auto asking = Connect(*server);
  ASSERT_TRUE(asking.StartTls());
  WebFile("  client_ca_file: ca.crt\n  client_auth_type: RequireAndVerifyClientCert\n");
  EXPECT_EQ(asking.Get("/hello").status, 200u);  // the first check
  EXPECT_EQ(asking.Get("/hello").status, 0u);    // the second one
  EXPECT_TRUE(idle.WaitForEnd());
  EXPECT_FALSE(Served(*server));
  const auto leaf = MakeLeaf(authority_, "scraper");
  EXPECT_TRUE(Served(*server, {.cert = leaf.cert, .key = leaf.key}));
}

TEST_F(ServerTlsTest, AnswerThatIsDue_ComesBeforeTheEnd) {
  const auto server = MakeServer({.web_check_time = 0ms}, WebFile());
  std::promise<Responder> asked;
  server->Handle("/slow", [&](const Request&, Responder answer) { asked.set_value(std::move(answer)); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  client.SendGet("/slow");
  const Responder answer = asked.get_future().get();
  Install(MakeLeaf(authority_, "renewed"));
  CheckTwice(*server);
  answer({.body = std::make_shared<const std::string>("late\n")});
  const auto reply = client.Read();
  EXPECT_EQ(reply.body, "late\n");
  EXPECT_EQ(reply.headers.at("connection"), "close");
  EXPECT_TRUE(client.WaitForEnd());
}

// After a failed handshake the server waits up to a second for the client to close.
TEST_F(ServerTlsTest, ClientsWhoseHandshakeFailed_KeepNobodyOut) {
  const auto server = StartServer({.connections = 2}, WebFile());
  auto first = Connect(*server), second = Connect(*server);
  for (auto* client : {&first, &second}) {
    client->Send("no TLS");
    ASSERT_TRUE(client->Readable(10s)) << "the alert";
    client->Send("and more that nobody reads");
  }
  EXPECT_TRUE(Served(*server));
  EXPECT_EQ(server->status().connections_evicted, 1u);
  EXPECT_EQ(server->status().connections_refused, 0u);
}

TEST_F(ServerTlsTest, ClientCertificateNoLongerWanted_IsRefusedWhileRunning) {
  const auto server = StartServer(
      {.web_check_time = 0ms}, WebFile("  client_ca_file: ca.crt\n  client_auth_type: RequireAndVerifyClientCert\n"));
  WebFile();
  EXPECT_THAT(server->ReloadWebConfig().error().message, HasSubstr("no longer requires client certificates"));
  EXPECT_FALSE(Served(*server));
  EXPECT_FALSE(server->status().reload_successful);
}

TEST_F(ServerTlsTest, ClientCertificateNoLongerVerified_IsRefusedWhileRunning) {
  const auto server = StartServer(
      {.web_check_time = 0ms}, WebFile("  client_ca_file: ca.crt\n  client_auth_type: RequireAndVerifyClientCert\n"));
  const auto foreign = MakeLeaf(MakeAuthority("other"), "scraper");
  for (const auto* rules : {"  client_auth_type: RequireAnyClientCert\n",
                            "  client_ca_file: ca.crt\n  client_auth_type: RequireAnyClientCert\n"}) {
    WebFile(rules);
    EXPECT_THAT(server->ReloadWebConfig().error().message,
                HasSubstr("no longer verifies client certificates, so anybody who makes a certificate would have "));
    CheckTwice(*server);
    EXPECT_FALSE(Served(*server, {.cert = foreign.cert, .key = foreign.key}));
  }
  for (const auto* rules : {"  client_ca_file: ca.crt\n  client_auth_type: VerifyClientCertIfGiven\n",
                            "  client_auth_type: RequestClientCert\n"}) {
    WebFile(rules);
    EXPECT_THAT(server->ReloadWebConfig().error().message, HasSubstr("no longer requires client certificates"));
  }
}

TEST_F(ServerTlsTest, AllowedSansThatVanish_AreRefusedWhileRunning) {
  const std::string verify = "  client_ca_file: ca.crt\n  client_auth_type: RequireAndVerifyClientCert\n";
  const auto server = StartServer({.web_check_time = 0ms}, WebFile(verify + "  client_allowed_sans: [good.example]\n"));
  const auto other = MakeLeaf(authority_, "other", "DNS:other.example");
  for (const auto* rules : {"  client_allowed_sans:\n", "  client_allowed_sans: []\n", ""}) {
    WebFile(verify + rules);
    const auto asked = server->ReloadWebConfig();
    ASSERT_FALSE(asked) << rules;
    EXPECT_THAT(asked.error().message, HasSubstr("no longer has client_allowed_sans"));
    CheckTwice(*server);
    EXPECT_FALSE(Served(*server, {.cert = other.cert, .key = other.key})) << rules;
  }
  WebFile(verify + "  client_allowed_sans: [other.example]\n");  // other names are taken, as other users are
  CheckTwice(*server);
  EXPECT_TRUE(Served(*server, {.cert = other.cert, .key = other.key}));
}

TEST_F(ServerTlsTest, CertificatesVerifiedIfGiven_MayBeLeftUnverifiedWhileRunning) {
  const auto server = StartServer({.web_check_time = 0ms},
                                  WebFile("  client_ca_file: ca.crt\n  client_auth_type: VerifyClientCertIfGiven\n"));
  WebFile("  client_auth_type: RequestClientCert\n");
  EXPECT_TRUE(server->ReloadWebConfig());
}

TEST_F(ServerTlsTest, CertificateExpiry_IsKnown) {
  const auto server = StartServer({}, WebFile());
  const auto expiry = server->status().certificate_expiry;
  ASSERT_TRUE(expiry);
  EXPECT_GT(*expiry, SystemClock().Wall());
  EXPECT_LT(*expiry, SystemClock().Wall() + std::chrono::days(3660));
  EXPECT_FALSE(StartServer()->status().certificate_expiry);
}

TEST_F(ServerTlsTest, HalfReplacedCertificate_KeepsTheOldUntilWhole) {
  const auto server = StartServer({.web_check_time = 0ms}, WebFile());
  const auto renewed = MakeLeaf(authority_, "renewed");
  tree_.Write("server.crt", renewed.cert);
  auto between = Connect(*server);
  ASSERT_TRUE(between.StartTls());
  EXPECT_EQ(PeerName(between), "server");
  EXPECT_THAT(server->ReloadWebConfig().error().message, HasSubstr("does not belong to the certificate"));
  tree_.Write("server.key", renewed.key);
  CheckTwice(*server);
  auto after = Connect(*server);
  ASSERT_TRUE(after.StartTls());
  EXPECT_EQ(PeerName(after), "renewed");
}

TEST_F(ServerTlsTest, SwitchingTlsOff_IsRefusedWhileRunning) {
  const auto server = StartServer({.web_check_time = 0ms}, WebFile());
  tree_.Write("web.yml", "basic_auth_users: {}\n");
  EXPECT_THAT(server->ReloadWebConfig().error().message, HasSubstr("restart"));
  EXPECT_TRUE(Served(*server));
  EXPECT_TRUE(server->tls());
}

TEST_F(ServerTlsTest, TlsThatHasOnlyMovedInTheFile_EndsNoConnection) {
  const auto server = StartServer({.web_check_time = 0ms}, WebFile());
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  tree_.Write("web.yml",
              "# a line more\nhttp_server_config: {headers: {X-Frame-Options: deny}}\n" + std::string(kBasic));
  CheckTwice(*server);
  const auto reply = client.Get("/hello");
  EXPECT_EQ(reply.status, 200u);
  EXPECT_EQ(reply.headers.count("x-frame-options"), 1u);
}

}  // namespace
}  // namespace kepler::http::server
