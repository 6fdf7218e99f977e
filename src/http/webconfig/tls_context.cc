#include "http/webconfig/tls_context.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "base/small_file.h"
#include "base/unique_fd.h"

namespace kepler::http::webconfig {
namespace {

using UniqueBio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using UniqueX509 = std::unique_ptr<X509, Freer<X509_free>>;
using UniqueKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

/// The oldest entry of OpenSSL's error queue, which is the cause; empties the queue.
std::string OpenSslReason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "unknown reason";
}

std::unexpected<Error> RefusePem(const std::string& what, const Pem& pem) {
  const std::string from = pem.file.empty() ? "" : " from " + pem.file;
  return Fail(ErrorKind::kInvalid, pem.place + ": read " + what + from + ": " + OpenSslReason());
}

/// The text of `key`, or of the file that `key`_file names.
Result<Pem> LoadPem(const std::string& key, const std::string& text, const std::string& file, const KeyPlaces& places) {
  if (file.empty()) return Pem{.text = text, .file = "", .place = places.at(key)};
  const std::string place = places.at(key + "_file");
  auto content = ReadSmallFile(file);
  if (!content) return Fail(content.error().kind, place + ": " + content.error().message);
  return Pem{.text = *std::move(content), .file = file, .place = place};
}

/// Without it OpenSSL would ask for the password of an encrypted key on the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

Result<std::vector<UniqueX509>> ReadCertificates(const Pem& pem, const std::string& what) {
  const UniqueBio bio(BIO_new_mem_buf(pem.text.data(), static_cast<int>(pem.text.size())));
  std::vector<UniqueX509> certificates;
  while (auto* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr))
    certificates.emplace_back(certificate);
  // The end of the text is reported as "no start line", and so is a text that has none at all.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!at_end || certificates.empty()) return RefusePem(what, pem);
  ERR_clear_error();
  return certificates;
}

Status UseCertificate(SSL_CTX* context, const Pem& cert_pem, const Pem& key_pem) {
  KEPLER_TRY(auto chain, ReadCertificates(cert_pem, "the certificate"));
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) return RefusePem("the certificate", cert_pem);
  for (size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) return RefusePem("the chain", cert_pem);
  const UniqueBio bio(BIO_new_mem_buf(key_pem.text.data(), static_cast<int>(key_pem.text.size())));
  const UniqueKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  if (!key) return RefusePem("the private key (it must be PEM, without a password)", key_pem);
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    const auto of = [](const Pem& pem) { return pem.file.empty() ? "" : " of " + pem.file; };
    return Fail(ErrorKind::kInvalid, key_pem.place + ": the private key" + of(key_pem) +
                                         " does not belong to the certificate" + of(cert_pem) + ": " + OpenSslReason());
  }
  return {};
}

Status UseClientCa(SSL_CTX* context, const Pem& pem) {
  KEPLER_TRY(const auto authorities, ReadCertificates(pem, "the client CA"));
  for (const auto& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return RefusePem("the client CA", pem);
    }
  }
  return {};
}

// In the form of the wire. The choice is handed out as a pointer into it.
constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int AlpnChoice(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* offered,
               unsigned offered_length, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kHttp11.data(), kHttp11.size(), offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

std::string IpText(const ASN1_OCTET_STRING* address) {
  char text[INET6_ADDRSTRLEN] = {};
  const int length = ASN1_STRING_length(address);
  if (length != 4 && length != 16) return {};
  ::inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text, sizeof text);
  return text;
}

std::string Text(const ASN1_IA5STRING* text) {
  const auto* bytes = ASN1_STRING_get0_data(text);
  return {bytes, bytes + ASN1_STRING_length(text)};
}

/// DNS names, e-mail addresses, IP addresses and URIs of a certificate, as text.
std::vector<std::string> SubjectAlternativeNames(X509* certificate) {
  std::vector<std::string> texts;
  const std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (!names) return texts;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const auto* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    if (type == GEN_IPADD) texts.push_back(IpText(static_cast<const ASN1_OCTET_STRING*>(value)));
    if (type == GEN_DNS || type == GEN_EMAIL || type == GEN_URI)
      texts.push_back(Text(static_cast<const ASN1_IA5STRING*>(value)));
  }
  return texts;
}

/// What the verification callback needs; owned by the context.
struct ClientRules {
  bool verify_chain = false;
  std::vector<std::string> allowed_sans;
};

int RulesIndex() {
  static const int kIndex = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* rules, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<ClientRules*>(rules); });
  return kIndex;
}

/// Called for each certificate of the client's chain, its own (depth 0) last.
int VerifyClient(int preverified, X509_STORE_CTX* store) {
  const auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* rules = static_cast<const ClientRules*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), RulesIndex()));
  if (rules->verify_chain && preverified != 1) return 0;
  if (rules->allowed_sans.empty() || X509_STORE_CTX_get_error_depth(store) != 0) return 1;
  const auto names = SubjectAlternativeNames(X509_STORE_CTX_get0_cert(store));
  const bool allowed = std::ranges::find_first_of(names, rules->allowed_sans) != names.end();
  if (!allowed) X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return allowed ? 1 : 0;
}

Status UseClientAuth(SSL_CTX* context, const TlsConfig& config, const Pem& client_ca, const KeyPlaces& places) {
  if (config.client_auth == ClientAuth::kNone) return {};
  if (config.has_client_ca()) KEPLER_CHECK_OK(UseClientCa(context, client_ca));
  auto rules = std::make_unique<ClientRules>(ClientRules{config.verifies(), config.client_allowed_sans});
  if (SSL_CTX_set_ex_data(context, RulesIndex(), rules.get()) != 1)
    return Fail(ErrorKind::kInvalid, places.at("client_auth_type") + ": " + OpenSslReason());
  static_cast<void>(rules.release());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (config.wants_certificate() ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     VerifyClient);
  // A resumed session would skip the rules above; every client shows its certificate again.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  return {};
}

Status UseProtocol(SSL_CTX* context, const TlsConfig& config, const KeyPlaces& places) {
  const auto number = [](TlsVersion version) { return version == TlsVersion::k12 ? TLS1_2_VERSION : TLS1_3_VERSION; };
  SSL_CTX_set_min_proto_version(context, number(config.min_version));
  SSL_CTX_set_max_proto_version(context, number(config.max_version));
  const std::string ciphers = config.ciphers.empty() ? "ECDHE+AESGCM:ECDHE+CHACHA20" : config.ciphers;
  if (SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1)
    return Fail(ErrorKind::kInvalid, places.at("cipher_suites") + ": " + OpenSslReason());
  std::string groups = config.groups;  // OpenSSL's macro wants it mutable
  if (!groups.empty() && SSL_CTX_set1_groups_list(context, groups.data()) != 1)
    return Fail(ErrorKind::kInvalid, places.at("curve_preferences") + ": " + OpenSslReason());
  if (config.prefer_server_ciphers) SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Release buffers: an idle connection costs no record buffers. Partial writes: the body is sent from where it lies.
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, AlpnChoice, nullptr);
  return {};
}

}  // namespace

Result<Pems> ReadPems(const TlsConfig& config, const KeyPlaces& places) {
  Pems pems;
  KEPLER_TRY(pems.cert, LoadPem("cert", config.cert, config.cert_file, places));
  KEPLER_TRY(pems.key, LoadPem("key", config.key, config.key_file, places));
  KEPLER_TRY(pems.client_ca, LoadPem("client_ca", config.client_ca, config.client_ca_file, places));
  return pems;
}

std::optional<WallTime> CertificateExpiry(const SSL_CTX& context) {
  const X509* const certificate = SSL_CTX_get0_certificate(&context);
  tm expiry{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &expiry) != 1) return std::nullopt;
  return WallTime(std::chrono::seconds(::timegm(&expiry)));
}

Result<std::shared_ptr<SSL_CTX>> MakeTlsContext(const TlsConfig& config, const Pems& pems, const KeyPlaces& places) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return Fail(ErrorKind::kUnavailable, pems.cert.place + ": start TLS: " + OpenSslReason());
  KEPLER_CHECK_OK(UseProtocol(context.get(), config, places));
  KEPLER_CHECK_OK(UseCertificate(context.get(), pems.cert, pems.key));
  KEPLER_CHECK_OK(UseClientAuth(context.get(), config, pems.client_ca, places));
  return context;
}

}  // namespace kepler::http::webconfig
