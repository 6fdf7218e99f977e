#include "apps/kepler/push_target.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/small_file.h"
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

/// Reads the certificates and the key of `server` as they are now.
Status ReadCertificates(std::string_view section, const PushServer& server, http::client::Peer& peer) {
  const auto key = [&](std::string_view name) { return fmt::format("{}.tls.{}", section, name); };
  KEPLER_CHECK_OK(ReadPem(server.ca_file, key("caFile"), peer.ca));
  KEPLER_CHECK_OK(ReadPem(server.cert_file, key("certFile"), peer.cert));
  return ReadPem(server.key_file, key("keyFile"), peer.key);
}

/// Adds headers of the environment, and those of the file as it is now.
Status AddHeaders(const std::string& pairs, const std::string& file, const push::HeaderCheck& check,
                  ClientRequest& request) {
  if (const Status added = push::AddHeaderPairs(pairs, request, check); !added)
    return At("headers of the environment", added.error());
  if (file.empty()) return {};
  KEPLER_TRY(const std::string lines, ReadSmallFile(file, kMaxHeadersFile));
  const Status added = push::AddHeaderLines(lines, request, check);
  return added ? added : At(file, added.error());
}

/// Whether the first request can be sent: a file that cannot be used stops the startup.
Status CheckFirst(const PushKeys& keys, const PushServer& server, const std::string& pairs,
                  const push::HeaderCheck& check, push::Target target) {
  const auto at = [&](std::string_view key, const Error& error) {
    return At(fmt::format("{}.{}", keys.section, key), error);
  };
  http::client::Peer without_cert = target.peer;
  KEPLER_CHECK_OK(ReadCertificates(keys.section, server, target.peer));
  without_cert.ca = target.peer.ca;
  if (const Status usable = http::client::CheckPeer(without_cert); !usable)
    return at(server.ca_file.empty() ? keys.url : "tls.caFile", usable.error());
  if (const Status usable = http::client::CheckPeer(target.peer); !usable) return at("tls.certFile", usable.error());
  if (const Status added = AddHeaders(pairs, server.headers_file, check, target.request); !added)
    return at("headersFile", added.error());
  if (const Status usable = http::client::CheckRequest(target.peer, target.request); !usable)
    return at(server.headers_file.empty() ? keys.url : "headersFile", usable.error());
  return {};
}

}  // namespace

Result<push::Target> MakeTarget(std::string_view exporter, const PushKeys& keys, const PushServer& server,
                                ClientRequest request, std::string header_pairs, push::HeaderCheck check) {
  auto url = http::client::ParseUrl(server.endpoint);
  if (!url) return At(fmt::format("{}.{}", keys.section, keys.url), url.error());
  request.method = http::client::Method::kPost;
  if (request.target.empty())
    request.target = std::move(url->target);
  else if (url->target != "/")
    return Fail(ErrorKind::kInvalid, fmt::format("{}.{}: a URL for gRPC ends after the port", keys.section, keys.url));
  request.may_repeat = true;  // a repeated data point has the same time
  request.deadlines.total = std::chrono::ceil<std::chrono::milliseconds>(server.timeout);
  push::Target target{.exporter = exporter, .peer = std::move(url->peer), .request = std::move(request)};
  KEPLER_CHECK_OK(CheckFirst(keys, server, header_pairs, check, target));
  target.add_secrets = [section = keys.section, server, pairs = std::move(header_pairs), check = std::move(check)](
                           http::client::Peer& peer, ClientRequest& to) -> Status {
    KEPLER_CHECK_OK(ReadCertificates(section, server, peer));
    return AddHeaders(pairs, server.headers_file, check, to);
  };
  log::Info("pushing", {{"exporter", std::string(exporter)}, {"url", target.peer.Url() + target.request.target}});
  return target;
}

}  // namespace kepler::agent
