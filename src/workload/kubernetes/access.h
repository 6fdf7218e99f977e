#pragma once
// How to reach the API server and who we are to it: from the pod that the agent is, or from a kubeconfig file.
#include <string>

#include "base/result.h"
#include "http/client/client.h"

namespace kepler::workload::kubernetes {

struct ClusterAccess {
  http::Peer api;
  std::string token_file{};  // read for each request: what rotates it writes it anew; "": `token`
  std::string token{};       // "": the client's certificate says it, or nothing does
  std::string kubelet_ca{};  // PEM; whose certificates the kubelet may have; "": those that `api` may have
  bool operator==(const ClusterAccess&) const = default;
};

/// `directory`: of the service account. Reads KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of the environment.
[[nodiscard]] Result<ClusterAccess> InClusterAccess(
    const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

/// The cluster and the user of its current context. The files that it names are read now, but for a token's. What a
/// program would have to be run for (exec, auth-provider), a proxy and passwords are refused.
[[nodiscard]] Result<ClusterAccess> ReadKubeconfig(const std::string& path);
/// The same of its text.
[[nodiscard]] Result<ClusterAccess> ParseKubeconfig(const std::string& text, const std::string& path);

/// The certificates of a certificate authority. kInvalid where the file has none: without one, all that the system
/// believes would be believed.
[[nodiscard]] Result<std::string> ReadAuthority(const std::string& path);

/// What to send as "Authorization: Bearer"; "" for nothing.
[[nodiscard]] Result<std::string> ReadToken(const ClusterAccess& access);

}  // namespace kepler::workload::kubernetes
