// What is said of a web file whose certificates and keys cannot be used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "http/webconfig/web_settings.h"
#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::http::webconfig {
namespace {

using kepler::testing::MakeAuthority;
using kepler::testing::MakeLeaf;
using ::testing::StartsWith;

class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() { Install(server_); }
  void Install(const kepler::testing::Certificate& certificate) {
    tree_.Write("server.crt", certificate.cert);
    tree_.Write("server.key", certificate.key);
  }
  /// Of a web file with this section.
  std::string ErrorOf(const std::string& section) {
    tree_.Write("web.yml", "tls_server_config:\n" + section);
    const auto checked = WebSettings::Create(tree_.Path("web.yml"), std::chrono::seconds(1));
    return checked ? "no error" : checked.error().message;
  }
  [[nodiscard]] std::string At(const std::string& line, const std::string& key) const {
    return tree_.Path("web.yml") + ":" + line + ": tls_server_config." + key + ": ";
  }

  kepler::testing::FakeTree tree_;
  kepler::testing::Certificate authority_ = MakeAuthority("ca");
  kepler::testing::Certificate server_ = MakeLeaf(authority_, "server");
  const std::string files_ = "  cert_file: server.crt\n  key_file: server.key\n";
  const std::string cert_ = tree_.Path("server.crt"), key_ = tree_.Path("server.key");
};

TEST_F(TlsFilesTest, BadCertificate_IsBlamedOnCertFile) {
  const std::string at = At("2", "cert_file");
  tree_.Write("server.crt", "no pem");
  EXPECT_EQ(ErrorOf(files_), at + "read the certificate from " + cert_ + ": no start line");
  tree_.Write("server.crt", server_.cert.substr(0, server_.cert.size() / 2));
  EXPECT_THAT(ErrorOf(files_), StartsWith(at + "read the certificate from " + cert_ + ": "));
  Install({.cert = server_.key, .key = server_.cert});  // swapped
  EXPECT_EQ(ErrorOf(files_), at + "read the certificate from " + cert_ + ": no start line");
  tree_.Remove("server.crt");
  EXPECT_EQ(ErrorOf(files_), at + "open " + cert_ + ": No such file or directory");
}

TEST_F(TlsFilesTest, BadKey_IsBlamedOnKeyFile) {
  const std::string at = At("3", "key_file");
  tree_.Write("server.key", MakeLeaf(authority_, "another").key);
  EXPECT_THAT(ErrorOf(files_),
              StartsWith(at + "the private key of " + key_ + " does not belong to the certificate of " + cert_ + ": "));
  tree_.Write("server.key", kepler::testing::EncryptedKey(server_));
  EXPECT_THAT(ErrorOf(files_),
              StartsWith(at + "read the private key (it must be PEM, without a password) from " + key_ + ": "));
  tree_.Remove("server.key");
  tree_.MakeDir("server.key");
  EXPECT_EQ(ErrorOf(files_), at + "read " + key_ + ": Is a directory");
}

TEST_F(TlsFilesTest, BadClientCa_IsBlamedOnClientCaFile) {
  const std::string verify = files_ + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n";
  const std::string at = At("5", "client_ca_file");
  EXPECT_EQ(ErrorOf(verify), at + "open " + tree_.Path("ca.crt") + ": No such file or directory");
  tree_.Write("ca.crt", "");
  EXPECT_EQ(ErrorOf(verify), at + "read the client CA from " + tree_.Path("ca.crt") + ": no start line");
}

TEST_F(TlsFilesTest, BadInlinePem_IsBlamedOnItsOwnKey) {
  EXPECT_EQ(ErrorOf("  key_file: server.key\n  cert: none\n"), At("3", "cert") + "read the certificate: no start line");
  EXPECT_THAT(ErrorOf("  cert_file: server.crt\n  key: none\n"), StartsWith(At("3", "key") + "read the private key"));
}

}  // namespace
}  // namespace kepler::http::webconfig
