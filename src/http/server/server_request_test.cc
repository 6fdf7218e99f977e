// What a handler knows about a request: its user, its client and its connection.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::http::server {
namespace {

using testing::Connect;
using testing::TestClient;
using testing::TlsClientOptions;

constexpr const char* kUserAlice =
    "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
constexpr const char* kPasswordOfAlice = "Authorization: Basic YWxpY2U6c2VjcmV0\r\n";  // alice:secret

/// "/who" answers "user|address|tls or plain|certificate".
class ServerRequest : public ::testing::Test {
 protected:
  void Start(const std::string& web) {
    tree_.Write("web.yml", web);
    server_ = testing::MakeServer({}, tree_.Path("web.yml"));
    server_->Handle("/who", [](const Request& request, const Responder& answer) {
      const RequestPeer& peer = request.peer;
      answer({.body = std::make_shared<const std::string>(request.user + "|" + peer.address + "|" +
                                                          (peer.tls ? "tls" : "plain") + "|" + peer.certificate)});
    });
    ASSERT_TRUE(server_->Start());
  }
  void StartTls(const std::string& client_auth) {
    const auto leaf = MakeLeaf(authority_, "server");
    tree_.Write("ca.crt", authority_.cert);
    tree_.Write("server.crt", leaf.cert);
    tree_.Write("server.key", leaf.key);
    Start("tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n" + client_auth);
  }
  std::string Who(const TlsClientOptions& options) {
    auto client = Connect(*server_);
    EXPECT_TRUE(client.StartTls(options));
    return client.Get("/who").body;
  }

  kepler::testing::FakeTree tree_;
  kepler::testing::Certificate authority_ = kepler::testing::MakeAuthority("ca");
  std::unique_ptr<Server> server_;
};

TEST_F(ServerRequest, User_IsWhoLoggedInAlsoWhenThePasswordIsKnown) {
  Start(kUserAlice);
  auto client = Connect(*server_);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.Get("/who", kPasswordOfAlice).body, "alice|127.0.0.1|plain|");
}

TEST_F(ServerRequest, UserOfAServerWithoutUsers_IsNobodyWhateverTheClientSays) {
  Start("");
  EXPECT_EQ(Connect(*server_).Get("/who", kPasswordOfAlice).body, "|127.0.0.1|plain|");
}

TEST_F(ServerRequest, User_IsNotKeptForTheNextRequest) {
  Start(kUserAlice);
  auto client = Connect(*server_);
  EXPECT_EQ(client.Get("/who", kPasswordOfAlice).status, 200u);
  EXPECT_EQ(client.Get("/who").status, 401u);
}

TEST_F(ServerRequest, Address_IsTheClients) {
  Start("");
  TestClient client(server_->addresses().front(), 0, "127.0.0.7");
  EXPECT_EQ(client.Get("/who").body, "|127.0.0.7|plain|");
}

TEST_F(ServerRequest, VerifiedCertificate_NamesItsSubject) {
  StartTls("  client_ca_file: ca.crt\n  client_auth_type: VerifyClientCertIfGiven\n");
  const auto ours = MakeLeaf(authority_, "prometheus");
  EXPECT_EQ(Who({.cert = ours.cert, .key = ours.key}), "|127.0.0.1|tls|CN=prometheus");
  EXPECT_EQ(Who({}), "|127.0.0.1|tls|");
}

TEST_F(ServerRequest, CertificateThatNobodyVerifies_NamesNobody) {
  StartTls("  client_auth_type: RequireAnyClientCert\n");
  const auto foreign = MakeLeaf(kepler::testing::MakeAuthority("other"), "prometheus");
  const auto self_signed = kepler::testing::MakeAuthority("prometheus");
  for (const auto& unknown : {foreign, self_signed})
    EXPECT_EQ(Who({.cert = unknown.cert, .key = unknown.key}), "|127.0.0.1|tls|");
}

}  // namespace
}  // namespace kepler::http::server
