#pragma once
// Address and credentials of the API server, from the service account of the agent's pod or from a kubeconfig file.
#include <string>

#include "base/result.h"
#include "http/client/peer.h"

namespace kepler::workload::kubernetes {

struct ClusterAccess {
  http::client::Peer api;
  std::string token_file{};  // read for each request, because tokens are rotated; "": `token` is used
  std::string token{};       // "": none; `api` may have a client certificate instead
  std::string kubelet_ca{};  // PEM: CA that signed the kubelet's certificate; "": the CA of `api`
  bool operator==(const ClusterAccess&) const = default;
};

/// The access of a pod. `directory`: that of its service account. Reads the environment variables
/// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
[[nodiscard]] Result<ClusterAccess> InClusterAccess(
    const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

/// Cluster and user of the current context of a kubeconfig file. Reads the files that it names; the token file is read
/// again for each request. Errors: a proxy, a password, a user that needs a program (exec, auth-provider), a token that
/// cannot be read or sent.
[[nodiscard]] Result<ClusterAccess> ReadKubeconfig(const std::string& path);
/// The same, from the text of the file at `path`.
[[nodiscard]] Result<ClusterAccess> ParseKubeconfig(const std::string& text, const std::string& path);

/// Reads the certificates of a CA. kInvalid if the file has none: an empty CA would mean every CA that the system
/// trusts.
[[nodiscard]] Result<std::string> ReadAuthority(const std::string& path);

/// The token for "Authorization: Bearer"; "": none.
[[nodiscard]] Result<std::string> ReadToken(const ClusterAccess& access);

}  // namespace kepler::workload::kubernetes
