#include "workload/kubernetes/access.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/base64.h"
#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"
#include "http/client/client.h"
#include "http/client/url.h"
#include "yaml/value.h"

namespace kepler::workload::kubernetes {
namespace {

using yaml::Value;
using Kind = yaml::Value::Kind;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status SetUrl(std::string_view text, http::client::Peer& peer) {
  KEPLER_TRY(http::client::Url url, http::client::ParseUrl(text));
  if (url.target != "/") return Fail(ErrorKind::kInvalid, "must be a host and a port, without a path");
  peer.tls = url.peer.tls;
  peer.host = std::move(url.peer.host);
  peer.port = url.peer.port;
  return {};
}

/// A mapping in the file and its position. A missing key counts as null.
struct Section {
  const Value* value;
  std::string path;    // of the file
  std::string prefix;  // "clusters[kind].cluster"

  [[nodiscard]] const Value* Find(std::string_view key) const {
    if (value == nullptr) return nullptr;
    for (size_t i = 0; i < value->keys.size(); ++i)
      if (value->keys[i].text == key && value->items[i].kind != Kind::kNull) return &value->items[i];
    return nullptr;
  }
  [[nodiscard]] std::unexpected<Error> Refuse(std::string_view key, std::string_view why) const {
    const Value* const at = Find(key);
    const int line = at != nullptr ? at->line : value != nullptr ? value->line : 1;
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}:{}: {}{}{} {}", path, line, prefix, prefix.empty() ? "" : ".", key, why));
  }
  [[nodiscard]] Result<std::string> Text(std::string_view key) const {
    const Value* const found = Find(key);
    if (found == nullptr) return std::string();
    if (found->kind != Kind::kScalar) return Refuse(key, "must be one text");
    return found->text;
  }
  /// The section below `key` of the entry called `name` in the list `list`.
  [[nodiscard]] Result<Section> Entry(std::string_view list, std::string_view name, std::string_view key) const {
    const Value* const entries = Find(list);
    if (entries != nullptr && entries->kind == Kind::kList) {
      for (const Value& entry : entries->items) {
        const Section section{&entry, path, fmt::format("{}[{}]", list, name)};
        KEPLER_TRY(const std::string own, section.Text("name"));
        if (own != name) continue;
        const Value* const below = section.Find(key);
        return Section{below != nullptr && below->kind == Kind::kMap ? below : nullptr, path,
                       fmt::format("{}.{}", section.prefix, key)};
      }
    }
    return Refuse(list, fmt::format("has no entry called \"{}\"", ShowUnlessSecret(name, 80)));
  }
};

Result<std::string> Decode(const Section& section, std::string_view key, std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t' || c == ' '; });
  if (auto bytes = DecodeBase64(text); bytes && !text.empty()) return *std::move(bytes);
  return section.Refuse(key, "is not base64");
}

/// Paths are relative to the directory of the file that contains them.
std::string NextTo(const std::string& path, const std::string& name) {
  return (std::filesystem::path(path).parent_path() / name).string();
}

/// `key`-data, else the file that `key` names.
Result<std::string> Pem(const Section& section, const std::string& key) {
  KEPLER_TRY(std::string data, section.Text(key + "-data"));
  if (!data.empty()) return Decode(section, key + "-data", std::move(data));
  KEPLER_TRY(const std::string file, section.Text(key));
  if (file.empty()) return std::string();
  auto text = ReadSmallFile(NextTo(section.path, file));
  if (text && Trim(*text).empty()) return section.Refuse(key, "cannot be used: " + file + " is empty");
  if (!text) return section.Refuse(key, "cannot be used: " + text.error().message);
  return text;
}

/// Returns an error that names `path` if a certificate or key is invalid.
Result<ClusterAccess> Checked(ClusterAccess access, const std::string& path) {
  if (const Status usable = http::client::CheckPeer(access.api); !usable)
    return Fail(usable.error().kind, path + ": " + usable.error().message);
  return access;
}

Status SetCluster(const Section& cluster, http::client::Peer& api) {
  const auto server = cluster.Text("server");
  if (!server) return std::unexpected(server.error());
  if (const Status url = SetUrl(*server, api); !url) return cluster.Refuse("server", url.error().message);
  if (cluster.Find("proxy-url") != nullptr)
    return cluster.Refuse("proxy-url", "is not supported; the API server must be reached directly");
  KEPLER_TRY(api.ca, Pem(cluster, "certificate-authority"));
  KEPLER_TRY(api.server_name, cluster.Text("tls-server-name"));
  KEPLER_TRY(const std::string skip, cluster.Text("insecure-skip-tls-verify"));
  const std::optional<bool> skips = skip.empty() ? false : ParseBool(skip);
  if (!skips) return cluster.Refuse("insecure-skip-tls-verify", "must be true or false");
  api.verify = !*skips;
  if (!api.verify && !api.ca.empty())
    return cluster.Refuse("insecure-skip-tls-verify", "excludes a certificate authority; remove one of them");
  return {};
}

/// Returns the error that each request would have because of the token. The error names the file of the token.
Status CheckToken(const ClusterAccess& access) {
  KEPLER_TRY(const std::string token, ReadToken(access));
  const Status usable = http::client::CheckRequest(access.api, {.target = "/", .bearer_token = token});
  if (usable || access.token_file.empty()) return usable;
  return Fail(usable.error().kind, access.token_file + ": " + usable.error().message);
}

/// Sets the login of `access`. Call it after SetCluster(): the checks depend on the server.
Status SetUser(const Section& user, ClusterAccess& access) {
  for (const std::string_view key : {"exec", "auth-provider"})
    if (user.Find(key) != nullptr)
      return user.Refuse(key,
                         "would run a program, which the agent does not; use a service account's token (tokenFile)");
  for (const std::string_view key : {"username", "password"})
    if (user.Find(key) != nullptr) return user.Refuse(key, "is not supported; use a token or a client certificate");
  for (const std::string_view key : {"as", "as-uid", "as-groups", "as-user-extra"})
    if (user.Find(key) != nullptr) return user.Refuse(key, "is not supported; use the credentials of that user");
  KEPLER_TRY(access.token, user.Text("token"));
  KEPLER_TRY(const std::string file, user.Text("tokenFile"));
  if (!file.empty()) access.token_file = NextTo(user.path, file);
  KEPLER_TRY(access.api.cert, Pem(user, "client-certificate"));
  KEPLER_TRY(access.api.key, Pem(user, "client-key"));
  if (access.api.cert.empty() != access.api.key.empty())
    return user.Refuse(access.api.cert.empty() ? "client-certificate" : "client-key", "is missing: both are needed");
  if (!access.api.tls && !access.api.cert.empty())
    return user.Refuse("client-certificate", "cannot be used: " + access.api.Url() + " asks for none; use https");
  if (const Status usable = CheckToken(access); !usable)
    return user.Refuse(file.empty() ? "token" : "tokenFile", "cannot be used: " + usable.error().message);
  return {};
}

}  // namespace

Result<ClusterAccess> InClusterAccess(const std::string& directory) {
  ClusterAccess access;
  access.api.host = Environment("KUBERNETES_SERVICE_HOST");
  const auto port = ParseNumber<uint16_t>(Environment("KUBERNETES_SERVICE_PORT"));
  if (access.api.host.empty() || !port)
    return Fail(ErrorKind::kNotFound,
                "this is no pod of a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; set "
                "kube.config to a kubeconfig file");
  access.api.port = *port;
  KEPLER_TRY(access.api.ca, ReadAuthority(directory + "/ca.crt"));
  access.token_file = directory + "/token";
  const Status usable = CheckToken(access);
  if (!usable)
    return Fail(usable.error().kind, fmt::format("cannot use the token of the service account: {}; mount a token, or "
                                                 "set kube.config to a kubeconfig file",
                                                 usable.error().message));
  return access;
}

Result<ClusterAccess> ReadKubeconfig(const std::string& path) {
  KEPLER_TRY(const std::string text, ReadSmallFile(path));
  return ParseKubeconfig(text, path);
}

Result<ClusterAccess> ParseKubeconfig(const std::string& text, const std::string& path) {
  const auto root = yaml::Parse(text);
  if (!root)
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}:{}: {}", path, std::max(root.error().line, 1), root.error().message));
  const Section file{&*root, path, ""};
  KEPLER_TRY(const std::string current, file.Text("current-context"));
  if (current.empty()) return file.Refuse("current-context", "is missing");
  KEPLER_TRY(const Section context, file.Entry("contexts", current, "context"));
  KEPLER_TRY(const std::string cluster_name, context.Text("cluster"));
  KEPLER_TRY(const std::string user_name, context.Text("user"));
  KEPLER_TRY(const Section cluster, file.Entry("clusters", cluster_name, "cluster"));
  ClusterAccess access;
  KEPLER_CHECK_OK(SetCluster(cluster, access.api));
  if (user_name.empty()) return Checked(std::move(access), path);
  KEPLER_TRY(const Section user, file.Entry("users", user_name, "user"));
  KEPLER_CHECK_OK(SetUser(user, access));
  return Checked(std::move(access), path);
}

Result<std::string> ReadAuthority(const std::string& path) {
  KEPLER_TRY(std::string text, ReadSmallFile(path));
  if (http::client::HasCertificates(text)) return text;
  return Fail(ErrorKind::kInvalid, path + " has no certificate in PEM (-----BEGIN CERTIFICATE-----)");
}

Result<std::string> ReadToken(const ClusterAccess& access) {
  std::string text = access.token;
  if (!access.token_file.empty()) {
    KEPLER_TRY(text, ReadSmallFile(access.token_file));
  }
  std::string token(Trim(text));
  if (token.empty() && !access.token_file.empty())
    return Fail(ErrorKind::kInvalid, access.token_file + " holds no token");
  return token;
}

}  // namespace kepler::workload::kubernetes
