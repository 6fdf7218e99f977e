#include "workload/kubernetes/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::workload::kubernetes {
namespace {

using ::testing::HasSubstr;

class KubeconfigTest : public ::testing::Test {
 protected:
  Result<ClusterAccess> Read(const std::string& cluster, const std::string& user) {
    tree_.Write("config",
                "apiVersion: v1\nkind: Config\ncurrent-context: here\npreferences: {}\ncontexts:\n- name: here\n"
                "  context: {cluster: c1, user: u1, namespace: n}\nclusters:\n- name: other\n  cluster: {}\n"
                "- name: c1\n  cluster: " +
                    cluster + "\nusers:\n- name: u1\n  user: " + user + "\n");
    return ReadKubeconfig(tree_.Path("config"));
  }
  std::string Refusal(const std::string& cluster, const std::string& user) {
    const auto access = Read(cluster, user);
    return access ? "taken" : access.error().message;
  }
  kepler::testing::FakeTree tree_;
  const kepler::testing::Certificate authority_ = kepler::testing::MakeAuthority("cluster");
};

/// As in certificate-authority-data.
std::string Base64(const std::string& text) {
  std::string out((text.size() + 2) / 3 * 4 + 1, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  out.pop_back();
  return out;
}

const std::string kCluster = "{server: 'https://10.0.0.1:6443'}";

TEST_F(KubeconfigTest, TokenAndDataOfCertificates) {
  const auto access =
      Read("{server: 'https://api.example:6443', certificate-authority-data: " + Base64(authority_.cert) + "}",
           "{token: t0k}");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_TRUE(access->api.tls);
  EXPECT_EQ(access->api.host, "api.example");
  EXPECT_EQ(access->api.port, 6443);
  EXPECT_EQ(access->api.ca, authority_.cert);
  EXPECT_TRUE(access->api.verify);
  EXPECT_EQ(ReadToken(*access), "t0k");
}

TEST_F(KubeconfigTest, CertificatesThatAreEmpty_AreNoPermissionToBelieveTheSystems) {
  tree_.Write("empty", "\n");
  EXPECT_THAT(Refusal("{server: 'https://h:1', certificate-authority: empty}", "{}"), HasSubstr("empty is empty"));
  for (const char* data : {" ", "=", "ab==cd==", "abc=d"})
    EXPECT_THAT(Refusal("{server: 'https://h:1', certificate-authority-data: '" + std::string(data) + "'}", "{}"),
                HasSubstr("is not base64"))
        << data;
}

TEST_F(KubeconfigTest, CertificatesAndKeysThatAreNone_AreNamed) {
  const auto me = kepler::testing::MakeLeaf(authority_, "me");
  const auto other = kepler::testing::MakeLeaf(authority_, "other");
  tree_.Write("text", "no PEM");
  tree_.Write("me.crt", me.cert);
  tree_.Write("other.key", other.key);
  EXPECT_THAT(Refusal("{server: 'https://h:1', certificate-authority: text}", "{}"),
              HasSubstr("config: read the certificate authority for https://h:1"));
  EXPECT_THAT(Refusal("{server: 'https://h:1', certificate-authority-data: aGVsbG8=}", "{}"),
              HasSubstr("config: read the certificate authority for https://h:1"));
  EXPECT_THAT(Refusal(kCluster, "{client-certificate: text, client-key: other.key}"),
              HasSubstr("read the client's certificate for https://10.0.0.1:6443"));
  EXPECT_THAT(Refusal(kCluster, "{client-certificate: me.crt, client-key: other.key}"),
              HasSubstr("read the client's key for https://10.0.0.1:6443"));
  tree_.Write("ed25519.key",  // of RFC 8410, 10.3
              "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
              "-----END PRIVATE KEY-----\n");
  EXPECT_THAT(Refusal(kCluster, "{client-certificate: me.crt, client-key: ed25519.key}"),
              HasSubstr("it does not belong to the client's certificate"));
}

TEST_F(KubeconfigTest, TokenThatCannotBeSent_IsRefusedWithItsLine) {
  for (const char* token : {R"("a\nb")", R"("a\r\nb")", R"("a b")", R"("\u00fc")"})
    EXPECT_THAT(Refusal(kCluster, std::string("{token: ") + token + "}"),
                HasSubstr("config:15: users[u1].user.token cannot be used: the token for https://10.0.0.1:6443 "
                          "contains a blank, a line end"))
        << token;
  EXPECT_EQ(ReadToken(*Read(kCluster, R"({token: "a\n"})")), "a");
  EXPECT_THAT(
      Refusal("{server: 'http://10.0.0.1:8080'}", "{token: t0k}"),
      HasSubstr("config:15: users[u1].user.token cannot be used: http://10.0.0.1:8080 would receive the token in "
                "plain text; use https"));
  EXPECT_TRUE(Read("{server: 'http://127.0.0.1:8001'}", "{}")) << "as kubectl proxy serves it";
}

TEST_F(KubeconfigTest, FileOfATokenThatCannotBeRead_IsRefusedWithItsLine) {
  ASSERT_EQ(::mkfifo(tree_.Path("pipe").c_str(), 0600), 0);
  tree_.Write("empty", "\n");
  tree_.Write("lines", "a\nb\n");
  for (const auto& [file, reason] : {std::pair{"pipe", "it is a pipe"},
                                     {"/dev/zero", "larger than 1 MiB"},
                                     {"none", "No such file"},
                                     {"empty", "empty holds no token"},
                                     {"lines", "a line end"}})
    EXPECT_THAT(Refusal(kCluster, std::string("{tokenFile: ") + file + "}"),
                ::testing::AllOf(HasSubstr("config:15: users[u1].user.tokenFile cannot be used: "), HasSubstr(reason)))
        << file;
}

TEST_F(KubeconfigTest, FilesAreRelativeToIt) {
  const auto me = kepler::testing::MakeLeaf(authority_, "me");
  tree_.Write("pki/ca.crt", authority_.cert);
  tree_.Write("pki/me.crt", me.cert);
  tree_.Write("pki/me.key", me.key);
  tree_.Write("token", "one\n");
  const auto access = Read("{server: 'https://[fd00::1]', certificate-authority: pki/ca.crt, tls-server-name: api}",
                           "{client-certificate: pki/me.crt, client-key: pki/me.key, tokenFile: token}");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->api.host, "fd00::1");
  EXPECT_EQ(access->api.port, 443);
  EXPECT_EQ(access->api.ca, authority_.cert);
  EXPECT_EQ(access->api.server_name, "api");
  EXPECT_EQ(access->api.cert, me.cert);
  EXPECT_EQ(access->api.key, me.key);
  EXPECT_EQ(ReadToken(*access), "one");
  tree_.Write("token", "two");
  EXPECT_EQ(ReadToken(*access), "two");
}

TEST_F(KubeconfigTest, VerificationIsLeftOutOnlyWhereItSaysSo) {
  EXPECT_FALSE(Read("{server: 'https://h', insecure-skip-tls-verify: true}", "{}")->api.verify);
  EXPECT_TRUE(Read("{server: 'https://h', insecure-skip-tls-verify: false}", "{}")->api.verify);
  EXPECT_THAT(Refusal("{server: 'https://h', insecure-skip-tls-verify: perhaps}", "{}"), HasSubstr("true or false"));
}

TEST_F(KubeconfigTest, WhatIsNotSupported_SaysSoWithItsLine) {
  EXPECT_THAT(Refusal(kCluster, "{exec: {command: aws}}"),
              HasSubstr("config:15: users[u1].user.exec would run a program"));
  EXPECT_THAT(Refusal(kCluster, "{auth-provider: {name: gcp}}"), HasSubstr("auth-provider would run"));
  EXPECT_THAT(Refusal(kCluster, "{username: a, password: hunter2}"), HasSubstr("users[u1].user.username"));
  EXPECT_THAT(Refusal(kCluster, "{username: a, password: hunter2}"), ::testing::Not(HasSubstr("hunter2")));
  EXPECT_THAT(Refusal("{server: 'https://h', proxy-url: 'http://p'}", "{}"),
              HasSubstr("config:12: clusters[c1].cluster.proxy-url"));
}

TEST_F(KubeconfigTest, WhatWouldBeLeftOutSilently_IsRefused) {
  const auto me = kepler::testing::MakeLeaf(authority_, "me");
  tree_.Write("ca.crt", authority_.cert);
  tree_.Write("me.crt", me.cert);
  tree_.Write("me.key", me.key);
  EXPECT_THAT(Refusal("{server: 'http://h'}", "{client-certificate: me.crt, client-key: me.key}"),
              HasSubstr("users[u1].user.client-certificate cannot be used: http://h:80 asks for none; use https"));
  EXPECT_THAT(Refusal("{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: ca.crt}", "{}"),
              HasSubstr("config:12: clusters[c1].cluster.insecure-skip-tls-verify excludes a certificate authority"));
  EXPECT_THAT(Refusal(kCluster, "{token: t0k, as: root}"), HasSubstr("config:15: users[u1].user.as is not supported"));
}

TEST_F(KubeconfigTest, WhatIsWrong_SaysWhere) {
  EXPECT_THAT(Refusal("{server: 'h:6443'}", "{}"), HasSubstr("clusters[c1].cluster.server must begin with https://"));
  EXPECT_THAT(Refusal("{server: 'https://h/path'}", "{}"), HasSubstr("without a path"));
  EXPECT_THAT(Refusal("{server: 'https://h:0'}", "{}"), HasSubstr("valid host and port"));
  EXPECT_THAT(Refusal("{server: [a]}", "{}"), HasSubstr("must be one text"));
  EXPECT_THAT(Refusal("[]", "{}"), HasSubstr("server must begin"));
  EXPECT_THAT(Refusal("{server: 'https://h', certificate-authority-data: '*'}", "{}"), HasSubstr("is not base64"));
  EXPECT_THAT(Refusal("{server: 'https://h', certificate-authority: none.crt}", "{}"), HasSubstr("none.crt"));
  EXPECT_THAT(Refusal(kCluster, "{client-certificate-data: aGVsbG8=}"), HasSubstr("client-key is missing"));
}

TEST_F(KubeconfigTest, NoContext_NoCluster_NoUser) {
  for (const auto& [text, reason] :
       {std::pair{"{}", "current-context is missing"},
        {"current-context: a", "contexts has no entry called \"a\""},
        {"current-context: a\ncontexts: [{name: a, context: {cluster: b}}]", "clusters has no entry called \"b\""},
        {"current-context: a\ncontexts: [{name: a, context: {cluster: b, user: u}}]\n"
         "clusters: [{name: b, cluster: {server: 'https://h'}}]",
         "users has no entry called \"u\""},
        {"a: [", "config:"}}) {
    tree_.Write("config", text);
    const auto access = ReadKubeconfig(tree_.Path("config"));
    ASSERT_FALSE(access) << text;
    EXPECT_THAT(access.error().message, HasSubstr(reason));
  }
  EXPECT_FALSE(ReadKubeconfig(tree_.Path("none")));
}

class InCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  }
  void TearDown() override {
    ::unsetenv("KUBERNETES_SERVICE_HOST");
    ::unsetenv("KUBERNETES_SERVICE_PORT");
  }
  kepler::testing::FakeTree tree_;
  const std::string authority_ = kepler::testing::MakeAuthority("cluster").cert;
};

TEST_F(InCluster, ServiceAccount_WhoseTokenRotates) {
  tree_.Write("ca.crt", authority_);
  tree_.Write("token", "one");
  const auto access = InClusterAccess(tree_.Path(""));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->api.Url(), "https://10.96.0.1:443");
  EXPECT_EQ(access->api.ca, authority_);
  tree_.Write("token", "two\n");
  EXPECT_EQ(ReadToken(*access), "two");
}

TEST_F(InCluster, NoTokenOrNoCertificate_SaysWhichFile) {
  EXPECT_THAT(InClusterAccess(tree_.Path("")).error().message, HasSubstr("ca.crt"));
  for (const char* text : {"", "CA"}) {
    tree_.Write("ca.crt", text);
    EXPECT_THAT(InClusterAccess(tree_.Path("")).error().message, HasSubstr("ca.crt has no certificate in PEM"));
  }
  tree_.Write("ca.crt", authority_);
  const auto refusal = [&](const std::string& reason) {
    return ::testing::AllOf(HasSubstr("cannot use the token of the service account: "),
                            HasSubstr(tree_.Path("") + "/token" + reason),
                            HasSubstr("set kube.config to a kubeconfig"));
  };
  EXPECT_THAT(InClusterAccess(tree_.Path("")).error().message, refusal(": No such file"));
  tree_.Write("token", " \n");
  EXPECT_THAT(InClusterAccess(tree_.Path("")).error().message, refusal(" holds no token"));
  tree_.Write("token", "a\nb");
  EXPECT_THAT(InClusterAccess(tree_.Path("")).error().message,
              refusal(": the token for https://10.96.0.1:443 contains a blank, a line end"));
}

TEST_F(InCluster, NoPod_SaysWhatToDo) {
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_THAT(InClusterAccess(tree_.Path("")).error().message, HasSubstr("kube.config"));
}

}  // namespace
}  // namespace kepler::workload::kubernetes
