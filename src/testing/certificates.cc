#include "testing/certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <memory>

#include "base/unique_fd.h"

namespace kepler::testing {
namespace {

using UniqueBio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using UniqueX509 = std::unique_ptr<X509, Freer<X509_free>>;
using UniqueKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

std::string Contents(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<size_t>(size)};
}

UniqueX509 ReadCert(const std::string& pem) {
  const UniqueBio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return UniqueX509(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

UniqueKey ReadKey(const std::string& pem) {
  const UniqueBio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return UniqueKey(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

void AddExtension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate Make(const Certificate* authority, const std::string& name, const std::string& names) {
  static std::atomic<long> serial{1};
  const UniqueKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const UniqueX509 cert(X509_new());
  X509_set_version(cert.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
  X509_set_pubkey(cert.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(cert.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  const UniqueX509 issuer = authority != nullptr ? ReadCert(authority->cert) : nullptr;
  const UniqueKey issuer_key = authority != nullptr ? ReadKey(authority->key) : nullptr;
  X509* const signer = issuer ? issuer.get() : cert.get();
  X509_set_issuer_name(cert.get(), X509_get_subject_name(signer));
  if (!issuer) AddExtension(cert.get(), signer, NID_basic_constraints, "critical,CA:TRUE");
  if (!names.empty()) AddExtension(cert.get(), signer, NID_subject_alt_name, names);
  X509_sign(cert.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256());

  const UniqueBio cert_bio(BIO_new(BIO_s_mem())), key_bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(cert_bio.get(), cert.get());
  PEM_write_bio_PrivateKey(key_bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {Contents(cert_bio.get()), Contents(key_bio.get())};
}

}  // namespace

Certificate MakeAuthority(const std::string& name) { return Make(nullptr, name, ""); }

Certificate MakeLeaf(const Certificate& authority, const std::string& name, const std::string& names) {
  return Make(&authority, name, names);
}

std::string EncryptedKey(const Certificate& certificate) {
  const UniqueKey key = ReadKey(certificate.key);
  const UniqueBio bio(BIO_new(BIO_s_mem()));
  const unsigned char password[] = "password";
  PEM_write_bio_PrivateKey(bio.get(), key.get(), EVP_aes_128_cbc(), password, sizeof password - 1, nullptr, nullptr);
  return Contents(bio.get());
}

}  // namespace kepler::testing
