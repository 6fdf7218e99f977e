#include "apps/kepler-model/server_access.h"

#include <utility>

#include "apps/kepler-model/commands.h"
#include "lab/files/files.h"
#include "modelserver/model_index.h"

namespace kepler::lab::tool {

void CheckServerAccess(settings::Draft& draft, const ServerAccess& access) {
  if (const auto server = http::retrying::ServerAt(access.server); !access.server.empty() && !server)
    draft.Reject("server", server.error().message);
  if (!access.name.empty() && !modelserver::IsModelName(access.name))
    draft.Reject("name", modelserver::NoModelName(access.name));
  if (access.user.empty() != access.password_file.empty())
    draft.Reject(access.user.empty() ? "user" : "password-file", "is missing: set --user and --password-file together");
  if (access.user.contains(':')) draft.Reject("user", "must not contain a colon");
  if (access.cert_file.empty() != access.key_file.empty())
    draft.Reject(access.cert_file.empty() ? "cert-file" : "key-file",
                 "is missing: set cert-file and key-file together");
}

Result<http::retrying::Server> ServerOf(const ServerAccess& access) {
  constexpr size_t kMaxPem = size_t{1} << 20;
  KEPLER_TRY(http::retrying::Server server, http::retrying::ServerAt(access.server));
  if (!access.user.empty()) {
    server.user = access.user;
    KEPLER_TRY(server.password, files::ReadSecret(access.password_file));
  }
  for (const auto& [path, text] :
       {std::pair(&access.ca_file, &server.peer.ca), std::pair(&access.cert_file, &server.peer.cert),
        std::pair(&access.key_file, &server.peer.key)}) {
    if (path->empty()) continue;
    KEPLER_TRY(*text, files::ReadBounded(*path, kMaxPem));
  }
  server.timeout = std::chrono::ceil<std::chrono::milliseconds>(access.timeout);
  server.retries = access.retries;
  server.say = Note;
  return server;
}

}  // namespace kepler::lab::tool
