// Servers that a client trusts, and servers that get its token or password.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "http/client/client_test_util.h"
#include "testing/certificates.h"

namespace kepler::http::client {
namespace {

using kepler::testing::MakeAuthority;
using kepler::testing::MakeLeaf;
using kepler::testing::ScriptedPeer;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Client, PasswordIsNotSentInTheClear) {
  const ScriptedPeer server(SaysOk("Content-Length: 0\r\n\r\n"));
  const auto got = Get(PlainPeer(server), {.target = "/", .user = "me", .password = "s3cret"});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(got.answer.error().message, AllOf(HasSubstr("password"), ::testing::Not(HasSubstr("s3cret"))));
  EXPECT_EQ(server.calls(), 0u);
}

TEST(Client, TokenIsNotSentInTheClear) {
  const ScriptedPeer server(SaysOk("Content-Length: 5\r\n\r\nhello"));
  const auto got = Get(PlainPeer(server), {.target = "/pods", .bearer_token = "t0k"});
  ASSERT_FALSE(got.answer);
  EXPECT_THAT(got.answer.error().message, HasSubstr("in plain text"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST(Client, PasswordIsSentInTheClearIfAllowed) {
  std::string seen;
  {
    const ScriptedPeer server([&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
      seen = head;
      send(std::string(kOk) + "Content-Length: 0\r\n\r\n");
    });
    const ClientRequest request{.target = "/", .user = "me", .password = "s3cret", .allow_plain_login = true};
    ASSERT_TRUE(Get(PlainPeer(server), request).answer);
  }
  EXPECT_THAT(seen, HasSubstr("Authorization: Basic bWU6czNjcmV0\r\n"));
}

class ClientTls : public ::testing::Test {
 protected:
  Peer PeerAt(const ScriptedPeer& server) const {
    return {.host = "127.0.0.1", .port = server.port(), .ca = authority_.cert};
  }
  [[nodiscard]] kepler::testing::PeerCertificate Certificate(const std::string& names) const {
    const auto leaf = MakeLeaf(authority_, "server", names);
    return {leaf.cert, leaf.key};
  }

  const kepler::testing::Certificate authority_ = MakeAuthority("cluster");
  const kepler::testing::Certificate stranger_ = MakeAuthority("stranger");
  const std::string hello_ = "Content-Length: 5\r\n\r\nhello";
};

TEST_F(ClientTls, ServerThatIsBelieved) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  const auto got = Get(PeerAt(server));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.body, "hello");
}

TEST_F(ClientTls, TokenIsSent) {
  std::string seen;
  {
    const ScriptedPeer server(
        [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
          seen = head;
          send(std::string(kOk) + hello_);
        },
        Certificate("IP:127.0.0.1"));
    ASSERT_TRUE(Get(PeerAt(server), {.target = "/", .bearer_token = "t0k"}).answer);
  }
  EXPECT_THAT(seen, HasSubstr("Authorization: Bearer t0k\r\n"));
}

TEST_F(ClientTls, ConnectionCutWithoutTlsShutdown_HasEndedTooEarly) {
  const ScriptedPeer server(SaysOk("Content-Length: 9\r\n\r\nhello"), Certificate("IP:127.0.0.1"));
  const auto got = Get(PeerAt(server));
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(got.answer.error().message, HasSubstr("the connection ended too early"));
}

TEST_F(ClientTls, PasswordIsSent) {
  std::string seen;
  {
    const ScriptedPeer server(
        [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
          seen = head;
          send(std::string(kOk) + "Content-Length: 0\r\n\r\n");
        },
        Certificate("IP:127.0.0.1"));
    ASSERT_TRUE(Get(PeerAt(server), {.target = "/", .user = "Aladdin", .password = "open sesame"}).answer);
  }
  EXPECT_THAT(seen, HasSubstr("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));  // RFC 7617, section 2
}

TEST_F(ClientTls, TokenAndPassword_AreRefused) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  const auto got = Get(PeerAt(server), {.target = "/", .bearer_token = "t0k", .user = "me", .password = "s3cret"});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(got.answer.error().message, HasSubstr("both a token and a password"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST_F(ClientTls, TokenThatIsNone_IsRefusedAndNotShown) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  for (const std::string token : {"t0k\r\nX: y", "t0k en", "\xef\xbb\xbft0k", "t0k\x7f"}) {
    const auto got = Get(PeerAt(server), {.target = "/", .bearer_token = token});
    ASSERT_FALSE(got.answer) << token;
    EXPECT_THAT(got.answer.error().message, AllOf(HasSubstr("invalid character"), ::testing::Not(HasSubstr("t0k"))));
  }
  const std::string large(33 * 1024, 'x');
  EXPECT_THAT(Get(PeerAt(server), {.target = "/", .bearer_token = large}).answer.error().message,
              HasSubstr("the token for https://127.0.0.1:"));
  EXPECT_THAT(Get(PeerAt(server), {.target = "/", .user = "me", .password = large}).answer.error().message,
              HasSubstr("larger than 32 KiB"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST_F(ClientTls, OtherAuthority_HearsNoToken) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  Peer peer = PeerAt(server);
  peer.ca = stranger_.cert;
  const auto got = Get(peer, {.target = "/", .bearer_token = "secret"});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kPermission);
  EXPECT_THAT(got.answer.error().message, HasSubstr("is not trusted"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST_F(ClientTls, OtherName_IsNotBelieved_UnlessItIsTheOneThatIsMeant) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("DNS:node-7"));
  Peer peer = PeerAt(server);
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("IP address mismatch"));
  EXPECT_EQ(server.calls(), 0u);
  peer.server_name = "node-7";
  EXPECT_EQ(Get(peer).body, "hello");
  EXPECT_EQ(server.asked_name(), "node-7");
  peer.server_name = "node-8";
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("hostname mismatch"));
}

TEST_F(ClientTls, NoVerification_OnlyWhereItIsAskedFor) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("DNS:other"));
  Peer peer = PeerAt(server);
  peer.ca = stranger_.cert;
  peer.verify = false;
  EXPECT_EQ(Get(peer).body, "hello");
}

TEST_F(ClientTls, ClientCertificate) {
  auto certificate = Certificate("IP:127.0.0.1");
  certificate.client_ca = authority_.cert;
  const ScriptedPeer server(SaysOk(hello_), certificate);
  Peer peer = PeerAt(server);
  EXPECT_FALSE(Get(peer).answer);
  const auto own = MakeLeaf(authority_, "system:node");
  peer.cert = own.cert;
  peer.key = own.key;
  EXPECT_EQ(Get(peer).body, "hello");
}

TEST_F(ClientTls, Http2_MustBeChosenByTheServer) {
  auto certificate = Certificate("IP:127.0.0.1");
  const ScriptedPeer old(SaysOk(hello_), certificate);
  certificate.protocol = "h2";
  const ScriptedPeer server(SaysOk(hello_), certificate);
  Peer peer = PeerAt(old);
  peer.http2 = true;
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("does not support HTTP/2"));
  peer.port = server.port();
  EXPECT_TRUE(Get(peer).answer);
}

TEST_F(ClientTls, CertificatesThatAreNone_AreNamed) {
  Peer peer{.host = "127.0.0.1", .port = 1, .ca = "no PEM"};
  const auto authority = Get(peer);
  ASSERT_FALSE(authority.answer);
  EXPECT_EQ(authority.answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(authority.answer.error().message, HasSubstr("certificate authority"));
  peer.ca = authority_.cert;
  peer.cert = "no PEM";
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("client's certificate"));
  peer.cert = authority_.cert;
  peer.key = stranger_.key;
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("client's key"));
}

TEST_F(ClientTls, KeyWithAPassword_IsRefusedAndAsksNobody) {
  const Peer peer{.host = "127.0.0.1",
                  .port = 1,
                  .ca = authority_.cert,
                  .cert = authority_.cert,
                  .key = kepler::testing::EncryptedKey(authority_)};
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("client's key"));
}

}  // namespace
}  // namespace kepler::http::client
