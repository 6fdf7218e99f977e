#include "http/server/web_warning.h"

namespace kepler::http {

std::string WebWarning(const WebConfig& config, const std::string& path, Reach reach) {
  // Whoever gives a web file means to be protected: a comment for a file, or a section that lost its lines, is a slip.
  if (!config.tls && config.users.empty())
    return path +
           ": neither TLS nor users: everybody is served, in plain text; unless that is meant, add "
           "tls_server_config or basic_auth_users";
  if (!config.tls && reach == Reach::kNetwork)
    return path +
           ": users but no TLS: passwords cross the network in plain text; add tls_server_config, or listen on a "
           "loopback address only";
  // The exporter-toolkit takes such a file, so it is taken here; that it keeps nobody out shows in no answer.
  if (config.tls && !config.tls->client_allowed_sans.empty() && config.tls->client_auth == ClientAuth::kRequireAny)
    return config.tls_places.Of("client_allowed_sans") +
           ": no certificate is verified, and whoever makes one may put any name in it; set client_auth_type to "
           "RequireAndVerifyClientCert, with client_ca_file";
  return "";
}

}  // namespace kepler::http
