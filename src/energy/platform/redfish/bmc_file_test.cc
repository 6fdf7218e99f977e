#include "energy/platform/redfish/bmc_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::energy::platform::redfish {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Result<NodeBmc> Parse(std::string_view text, std::string_view node = "worker-1") {
  return ParseBmcFile(text, "/etc/kepler/bmc.yaml", node);
}
std::string ErrorOf(std::string_view text, std::string_view node = "worker-1") {
  const auto found = Parse(text, node);
  return found ? "no error" : found.error().message;
}

// As in the example of upstream's documentation.
constexpr std::string_view kUpstream = R"(
nodes:
  worker-1: bmc-1
  worker-2: bmc-2
bmcs:
  bmc-1:
    endpoint: "https://192.168.1.100"
    username: "admin"
    password: "secret"
    insecure: true
  bmc-2:
    endpoint: http://bmc-2.example:8000/
)";

TEST(ParseBmcFile, UpstreamsFormat) {
  const auto first = Parse(kUpstream);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->id, "bmc-1");
  EXPECT_EQ(first->peer.host, "192.168.1.100");
  EXPECT_EQ(first->peer.port, 443);
  EXPECT_EQ(first->bmc.username, "admin");
  EXPECT_EQ(first->bmc.password, "secret");
  EXPECT_TRUE(first->bmc.insecure);
  EXPECT_EQ(first->bmc.auth, Auth::kBasic);
  EXPECT_THAT(first->chassis, IsEmpty());
  const auto second = Parse(kUpstream, "worker-2");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(second->peer.tls);
  EXPECT_EQ(second->peer.port, 8000);
  EXPECT_EQ(second->bmc.username, "");
  EXPECT_FALSE(second->bmc.insecure);
}

TEST(ParseBmcFile, EveryKey) {
  const auto found = Parse(R"(
nodes: {worker-1: shared}
chassis: {worker-1: [Blade1, Blade2]}
bmcs:
  shared: {endpoint: "https://[fd00::1]:8443/redfish/v1", username: kepler, passwordFile: password, caFile: /ca.pem,
           certFile: client.pem, keyFile: keys/client.key, auth: session}
)");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->peer.host, "fd00::1");
  EXPECT_EQ(found->peer.port, 8443);
  EXPECT_THAT(found->chassis, ElementsAre("Blade1", "Blade2"));
  EXPECT_EQ(found->bmc.password_file, "/etc/kepler/password");
  EXPECT_EQ(found->bmc.ca_file, "/ca.pem");
  EXPECT_EQ(found->bmc.cert_file, "/etc/kepler/client.pem");
  EXPECT_EQ(found->bmc.key_file, "/etc/kepler/keys/client.key");
  EXPECT_EQ(found->bmc.auth, Auth::kSession);
}

TEST(ParseBmcFile, PasswordIsTakenAsWritten) {
  const auto found = Parse("nodes: {worker-1: b}\nbmcs: {b: {endpoint: https://h, username: u, password: ' p#1: '}}");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->bmc.password, " p#1: ");
}

TEST(ParseBmcFile, MissingParts) {
  EXPECT_THAT(ErrorOf(""),
              AllOf(StartsWith("/etc/kepler/bmc.yaml: nodes: is required"), HasSubstr("bmcs: is required")));
  EXPECT_THAT(ErrorOf("nodes: {worker-1: b}\nbmcs:\n  b: {username: u}\n"),
              StartsWith("/etc/kepler/bmc.yaml:3: bmcs.b.endpoint: is required"));
  EXPECT_THAT(ErrorOf("nodes: {worker-1: other}\nbmcs: {b: {endpoint: https://h}}"),
              StartsWith("/etc/kepler/bmc.yaml:1: nodes.worker-1: \"other\" is not one of the bmcs"));
  EXPECT_THAT(ErrorOf(kUpstream, "worker-3"),
              AllOf(StartsWith("/etc/kepler/bmc.yaml:2: nodes: has no entry for this node, \"worker-3\""),
                    HasSubstr("redfish.nodeName"), HasSubstr("such as \"worker-1\"")));
}

TEST(ParseBmcFile, MistakesNameTheirLineAndNoPassword) {
  const auto with = [](std::string_view keys) {
    return ErrorOf("nodes: {worker-1: b}\nbmcs:\n  b: {" + std::string(keys) + "}\n");
  };
  const std::string place = "/etc/kepler/bmc.yaml:3: bmcs.b: ";
  EXPECT_THAT(with("endpoint: 10.0.0.1"), StartsWith(place + "endpoint must begin with https:// or http://"));
  EXPECT_THAT(with("endpoint: 'https://u:geheim@h'"), AllOf(StartsWith(place), Not(HasSubstr("geheim"))));
  EXPECT_THAT(with("endpoint: https://h/rest/v1"), StartsWith(place + "endpoint has a path"));
  EXPECT_THAT(with("endpoint: https://h, password: geheim"),
              AllOf(StartsWith(place + "has a password without username"), Not(HasSubstr("geheim"))));
  EXPECT_THAT(with("endpoint: https://h, username: u"), StartsWith(place + "has username without a password"));
  EXPECT_THAT(with("endpoint: https://h, username: u, password: geheim, passwordFile: f"),
              AllOf(StartsWith(place + "has password and passwordFile"), Not(HasSubstr("geheim"))));
  EXPECT_THAT(with("endpoint: https://h, username: 'a:b', password: c"), StartsWith(place + "username contains"));
  EXPECT_THAT(with("endpoint: https://h, auth: session"), StartsWith(place + "auth is session, which needs"));
  EXPECT_THAT(with("endpoint: https://h, certFile: c"), StartsWith(place + "needs both certFile and keyFile"));
  EXPECT_THAT(with("endpoint: https://h, insecure: true, caFile: c"), StartsWith(place + "has caFile, but insecure"));
  EXPECT_THAT(with("endpoint: https://h, auth: digest"), HasSubstr("bmc.yaml:3: bmcs.b.auth: \"digest\""));
  EXPECT_THAT(with("endpoint: https://h, insecre: true"), HasSubstr("did you mean bmcs.b.insecure?"));
  EXPECT_THAT(with("endpoint: https://h, insecure: 5"), HasSubstr("bmcs.b.insecure: \"5\" is neither true nor false"));
}

TEST(ParseBmcFile, MistakesInChassis) {
  const std::string bmcs = "nodes: {worker-1: b}\nbmcs: {b: {endpoint: https://h}}\n";
  EXPECT_THAT(ErrorOf(bmcs + "chassis: {worker-9: [a]}"),
              StartsWith("/etc/kepler/bmc.yaml:3: chassis.worker-9: is not one of the nodes"));
  EXPECT_THAT(ErrorOf(bmcs + "chassis: {worker-1: Blade1}"), HasSubstr("bmc.yaml:3: chassis: must be a list"));
  EXPECT_THAT(ErrorOf(bmcs + "chassis: {worker-1: ['']}"), HasSubstr("bmc.yaml:3: chassis"));
}

TEST(ParseBmcFile, MalformedAndTruncated) {
  EXPECT_THAT(ErrorOf("nodes: [a, b]"), HasSubstr("bmc.yaml:1: nodes: must be a"));
  EXPECT_THAT(ErrorOf("nodes: {worker-1: b"), StartsWith("/etc/kepler/bmc.yaml:"));
  EXPECT_THAT(ErrorOf("- a"), HasSubstr("must contain a mapping of keys to values"));
  EXPECT_THAT(ErrorOf("nodes: {worker-1: b, worker-1: c}"), StartsWith("/etc/kepler/bmc.yaml:1"));
  for (size_t cut = 0; cut < kUpstream.size(); ++cut) {
    const auto found = Parse(kUpstream.substr(0, cut));
    if (!found) {
      EXPECT_THAT(found.error().message, StartsWith("/etc/kepler/bmc.yaml")) << cut;
    }
  }
}

class ReadBmcFileTest : public ::testing::Test {
 protected:
  Result<BmcAccess> Read(const std::string& keys) {
    tree_.Write("bmc.yaml", "nodes: {worker-1: b}\nbmcs: {b: {username: u, " + keys + "}}\n");
    return ReadBmcFile(tree_.Path("bmc.yaml"), "worker-1", stamps_);
  }
  testing::FakeTree tree_;
  FileStamps stamps_;
};

TEST_F(ReadBmcFileTest, FilesThatItNames) {
  const auto authority = testing::MakeAuthority("bmc");
  const auto client = testing::MakeLeaf(authority, "client");
  tree_.Write("ca.pem", authority.cert);
  tree_.Write("client.pem", client.cert);
  tree_.Write("client.key", client.key);
  tree_.Write("password", "geheim \n");
  const auto access =
      Read("endpoint: https://h, passwordFile: password, caFile: ca.pem, certFile: client.pem, keyFile: client.key");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->password, "geheim ");
  EXPECT_EQ(access->peer.ca, authority.cert);
  EXPECT_EQ(access->peer.cert, client.cert);
  EXPECT_EQ(access->peer.key, client.key);
  EXPECT_TRUE(access->peer.verify);
  EXPECT_EQ(access->warning, "");
  EXPECT_EQ(stamps_.size(), 5U);
  EXPECT_FALSE(HaveChanged(stamps_));
  tree_.Write("password", "another one\n");
  EXPECT_TRUE(HaveChanged(stamps_));
}

TEST_F(ReadBmcFileTest, UnsafeSettings_AreWarnings) {
  const auto plain = Read("endpoint: http://h, password: p");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_THAT(plain->warning, HasSubstr("password for the BMC b is sent in plain text"));
  const auto unverified = Read("endpoint: https://h, password: p, insecure: true");
  ASSERT_TRUE(unverified) << unverified.error().message;
  EXPECT_FALSE(unverified->peer.verify);
  EXPECT_THAT(unverified->warning, HasSubstr("certificate of the BMC b is not verified"));
}

TEST_F(ReadBmcFileTest, UnusableFiles_AreNamed) {
  tree_.Write("none.pem", "not a certificate");
  tree_.Write("empty", "\n");
  tree_.Write("lines", "a\nb\n");
  const auto error = [this](const std::string& keys) {
    const auto access = Read(keys);
    return access ? "no error" : access.error().message;
  };
  EXPECT_THAT(error("endpoint: https://h, password: p, caFile: none.pem"),
              AllOf(StartsWith(tree_.Path("none.pem")), HasSubstr("contains no certificate")));
  EXPECT_THAT(error("endpoint: https://h, password: p, caFile: gone.pem"), HasSubstr(tree_.Path("gone.pem")));
  EXPECT_THAT(error("endpoint: https://h, passwordFile: empty"), HasSubstr("empty: contains no password"));
  EXPECT_THAT(error("endpoint: https://h, passwordFile: lines"), HasSubstr("lines: contains more than one line"));
  EXPECT_THAT(error("endpoint: https://h, password: p, certFile: none.pem, keyFile: none.pem"),
              StartsWith(tree_.Path("none.pem")));
}

TEST_F(ReadBmcFileTest, MissingFile_IsNoticedWhenItAppears) {
  const auto missing = ReadBmcFile(tree_.Path("bmc.yaml"), "worker-1", stamps_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(HaveChanged(stamps_));
  ASSERT_TRUE(Read("endpoint: https://h, password: p"));
  tree_.Write("bmc.yaml", "nodes: {}");
  EXPECT_TRUE(HaveChanged(stamps_));
}

}  // namespace
}  // namespace kepler::energy::platform::redfish
