#include "apps/kepler/push_target.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/small_file.h"
#include "export/push/header_text.h"
#include "http/client/url.h"

namespace kepler::agent {
namespace {

using http::client::ClientRequest;

constexpr size_t kMaxHeadersFile = 64 * 1024;

std::unexpected<Error> At(std::string_view key, const Error& error) {
  return Fail(error.kind, fmt::format("{}: {}", key, error.message));
}

Status ReadPem(const std::string& path, std::string_view key, std::string& to) {
  if (path.empty()) return {};
  auto text = ReadSmallFile(path);
  if (!text) return At(key, text.error());
  if (text->empty()) return Fail(ErrorKind::kInvalid, fmt::format("{}: {} is empty", key, path));
  to = *std::move(text);
  return {};
}

Result<http::client::Url> MakeUrl(const PushKeys& keys, const PushServer& server) {
  auto parsed = http::client::ParseUrl(server.endpoint);
  if (!parsed) return At(fmt::format("{}.{}", keys.section, keys.url), parsed.error());
  const auto key = [&](std::string_view name) { return fmt::format("{}.tls.{}", keys.section, name); };
  KEPLER_CHECK_OK(ReadPem(server.ca_file, key("caFile"), parsed->peer.ca));
  KEPLER_CHECK_OK(ReadPem(server.cert_file, key("certFile"), parsed->peer.cert));
  KEPLER_CHECK_OK(ReadPem(server.key_file, key("keyFile"), parsed->peer.key));
  if (const Status usable = http::client::CheckPeer(parsed->peer); !usable)
    return At(fmt::format("{}.tls", keys.section), usable.error());
  return parsed;
}

/// Adds headers of the environment, and those of the file as it is now.
Status AddSecrets(const std::string& pairs, const std::string& file, ClientRequest& request) {
  if (!pairs.empty()) KEPLER_CHECK_OK(push::AddHeaderPairs(pairs, request));
  if (file.empty()) return {};
  KEPLER_TRY(const std::string lines, ReadSmallFile(file, kMaxHeadersFile));
  const Status added = push::AddHeaderLines(lines, request);
  return added ? added : At(file, added.error());
}

}  // namespace

Result<push::Target> MakeTarget(std::string_view exporter, const PushKeys& keys, const PushServer& server,
                                ClientRequest request, std::string header_pairs) {
  KEPLER_TRY(http::client::Url url, MakeUrl(keys, server));
  request.method = http::client::Method::kPost;
  request.target = std::move(url.target);
  request.may_repeat = true;  // a data point has its time, so a server knows a repeated one
  request.deadlines.total = std::chrono::ceil<std::chrono::milliseconds>(server.timeout);
  push::Target target{.exporter = exporter, .peer = std::move(url.peer), .request = std::move(request)};
  target.add_secrets = [pairs = std::move(header_pairs), file = server.headers_file](ClientRequest& to) {
    return AddSecrets(pairs, file, to);
  };
  ClientRequest probe = target.request;
  if (const Status added = target.add_secrets(probe); !added)
    return At(fmt::format("{}.headersFile", keys.section), added.error());
  if (const Status usable = http::client::CheckRequest(target.peer, probe); !usable)
    return At(keys.section, usable.error());
  log::Info("pushing", {{"exporter", std::string(exporter)}, {"url", target.peer.Url() + target.request.target}});
  return target;
}

}  // namespace kepler::agent
