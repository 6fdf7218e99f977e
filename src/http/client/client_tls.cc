#include "http/client/client_tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <array>
#include <string_view>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>

namespace kepler::http::client {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// Without it OpenSSL would ask for the password of an encrypted key on the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

/// As RFC 6125 wants it, and Go does it: by its alternative names alone.
bool SetExpectedName(SSL_CTX* context, const std::string& name) {
  X509_VERIFY_PARAM* const expected = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return IsAddress(name) ? X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) == 1
                         : X509_VERIFY_PARAM_set1_host(expected, name.c_str(), name.size()) == 1;
}

}  // namespace

bool IsAddress(const std::string& host) {
  error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

Result<std::shared_ptr<TlsContext>> MakeTlsContext(const Peer& peer) {
  if (!peer.tls) return nullptr;
  auto context = std::make_shared<TlsContext>(TlsContext::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_default_passwd_cb(context->native_handle(), NoPassword);
  error_code error;
  const auto failed = [&](std::string_view what) {
    return Fail(ErrorKind::kInvalid, fmt::format("read {} for {}: {}", what, peer.Url(), error.message()));
  };
  if (peer.ca.empty())
    static_cast<void>(context->set_default_verify_paths(error));
  else
    static_cast<void>(context->add_certificate_authority(asio::buffer(peer.ca), error));
  if (error) return failed("the certificate authority");
  if (!peer.cert.empty()) {
    static_cast<void>(context->use_certificate_chain(asio::buffer(peer.cert), error));
    if (error) return failed("the client's certificate");
    static_cast<void>(context->use_private_key(asio::buffer(peer.key), TlsContext::pem, error));
    if (error) return failed("the client's key");
    // A key of another kind has a place of its own in the context.
    if (SSL_CTX_check_private_key(context->native_handle()) != 1)
      return Fail(ErrorKind::kInvalid, fmt::format("read the client's key for {}: it does not belong to the client's "
                                                   "certificate",
                                                   peer.Url()));
  }
  // Returns 0 for success.
  constexpr auto kHttp2 = std::to_array<unsigned char>({2, 'h', '2'});
  if (peer.http2 && SSL_CTX_set_alpn_protos(context->native_handle(), kHttp2.data(), kHttp2.size()) != 0)
    return Fail(ErrorKind::kUnavailable, fmt::format("begin TLS with {}: out of memory", peer.Url()));
  context->set_verify_mode(peer.verify ? asio::ssl::verify_peer : asio::ssl::verify_none);
  if (peer.verify && !SetExpectedName(context->native_handle(), peer.CertificateName()))
    return Fail(ErrorKind::kInvalid, "\"" + peer.CertificateName() + "\" cannot be the name of a server");
  return context;
}

bool HasCertificates(std::string_view pem) {
  if (pem.empty()) return false;  // OpenSSL reports no error for it
  TlsContext context(TlsContext::tls_client);
  error_code error;
  static_cast<void>(context.add_certificate_authority(asio::buffer(pem), error));
  return !error;
}

Status CheckPeer(const Peer& peer) {
  const auto context = MakeTlsContext(peer);
  return context ? Status() : std::unexpected(context.error());
}

}  // namespace kepler::http::client
