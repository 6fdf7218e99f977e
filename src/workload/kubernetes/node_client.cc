#include "workload/kubernetes/node_client.h"

#include <fmt/format.h>

#include "base/text.h"
#include "http/client/redirection.h"
#include "workload/kubernetes/node.h"

namespace kepler::workload::kubernetes {
namespace {

constexpr unsigned kTooOld = 410;

ErrorKind KindOf(unsigned status) {
  if (status == 401 || status == 403) return ErrorKind::kPermission;
  return status == kTooOld ? ErrorKind::kGone : ErrorKind::kUnavailable;
}

/// Returns the URL without the query, because the query has numbers that vary.
std::string Name(const http::client::Peer& peer, const http::client::ClientRequest& request) {
  return peer.Url() + request.target.substr(0, request.target.find('?'));
}

/// `right`: the right that the role lacks if the status is 403. `status`: set to that of the answer; 0: no answer.
Status Ask(http::client::Client& client, const http::client::Peer& peer, const http::client::ClientRequest& request,
           const http::client::OnPiece& take, std::string_view right, const std::stop_token& stop,
           unsigned* status = nullptr) {
  auto fetched = client.Send(peer, request, take, stop);
  if (status != nullptr) *status = fetched ? fetched->status : 0;
  KEPLER_TRY(const http::client::Answer refusal, std::move(fetched));
  if (refusal.ok()) return {};
  const std::string hint = refusal.status == 401   ? "; check whether the token is still valid"
                           : refusal.status == 403 ? fmt::format("; the agent's role needs {}", right)
                                                   : "";
  const std::string redirection = http::client::DescribeRedirection(peer, refusal);
  const std::string reason = redirection.empty() ? MessageOf(HideLogin(refusal.body, request)) : redirection;
  return Fail(KindOf(refusal.status), fmt::format("{} answered {}{}{}{}", Name(peer, request), refusal.status,
                                                  reason.empty() ? "" : ": ", reason, hint));
}

http::client::ClientRequest ListRequest(std::string target, const std::string& token) {
  return {.target = std::move(target),
          .bearer_token = token,
          .deadlines = {.silence = NodeClient::kSilence, .total = NodeClient::kTotal},
          .max_bytes = NodeClient::kMaxBytes};
}

Result<PodList> AskForList(http::client::Client& client, const http::client::Peer& peer,
                           const http::client::ClientRequest& request, const NodeClientOptions& options,
                           std::string_view right, const std::stop_token& stop, unsigned* status = nullptr) {
  PodListReader reader(options.asked, options.max_name_bytes);
  bool is_empty = true;
  const auto read = [&](std::string_view piece) {
    is_empty = is_empty && piece.empty();
    return reader.Read(piece);
  };
  KEPLER_CHECK_OK(Ask(client, peer, request, read, right, stop, status));
  if (is_empty) return Fail(ErrorKind::kMalformed, Name(peer, request) + ": the answer is empty");
  return reader.Finish();
}

/// The version becomes a part of the URL of the next request.
Status CheckVersion(const http::client::Peer& peer, std::string_view version) {
  constexpr size_t kMaxVersion = 253;
  constexpr size_t kMaxShown = 64;
  if (!version.empty() && version.size() <= kMaxVersion &&
      version.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == version.npos)
    return {};
  return Fail(ErrorKind::kMalformed, fmt::format("{} returned no valid resource version: {}", peer.Url(),
                                                 QuoteJson(SanitizeUtf8(version, kMaxShown))));
}

}  // namespace

std::string NodeClient::PodsOfNode() const {
  return "/api/v1/pods?fieldSelector=spec.nodeName%3D" + options_.node_name;
}

Status NodeClient::FindNode(const std::stop_token& stop) {
  KEPLER_TRY(const std::string token, ReadToken(access_));
  std::string node;
  const auto take = [&node](std::string_view piece) -> Status {
    node += piece;
    return {};
  };
  http::client::ClientRequest request = ListRequest("/api/v1/nodes/" + options_.node_name, token);
  request.max_bytes = kMaxNodeBytes;
  unsigned status = 0;
  Status asked = Ask(client_, access_.api, request, take, "get on nodes", stop, &status);
  if (status == 404)
    return Fail(ErrorKind::kNotFound,
                asked.error().message + "; set kube.nodeName to a name that kubectl get nodes shows");
  KEPLER_CHECK_OK(std::move(asked));
  KEPLER_TRY(const KubeletAddress address, ParseNode(node));
  http::client::Peer kubelet{.host = address.host, .port = address.port};
  kubelet.ca = access_.api.ca;
  if (!access_.kubelet_ca.empty()) {
    // The self-signed certificate of a kubelet contains its name, but no address.
    kubelet.ca = access_.kubelet_ca;
    kubelet.server_name = address.name;
  }
  kubelet.verify = options_.verify_kubelet;
  kubelet.cert = access_.api.cert;
  kubelet.key = access_.api.key;
  kubelet_ = std::move(kubelet);
  return {};
}

void NodeClient::Use(ClusterAccess access) {
  if (access == access_) return;
  access_ = std::move(access);
  kubelet_.reset();
}

Result<PodList> NodeClient::AskKubelet(const std::stop_token& stop) {
  if (!kubelet_) KEPLER_CHECK_OK(FindNode(stop));
  KEPLER_TRY(const std::string token, ReadToken(access_));
  unsigned status = 0;
  auto list = AskForList(client_, *kubelet_, ListRequest("/pods", token), options_,
                         "get on nodes/pods (before Kubernetes 1.33: nodes/proxy)", stop, &status);
  if (status == 0) kubelet_.reset();  // it may have moved
  return list;
}

Result<PodList> NodeClient::List(const std::string& from, const std::stop_token& stop) {
  KEPLER_TRY(const std::string token, ReadToken(access_));
  const std::string version = from.empty() ? "" : "&resourceVersion=" + from;
  return AskForList(client_, access_.api, ListRequest(PodsOfNode() + version, token), options_, "list on pods", stop);
}

Status NodeClient::Watch(const std::string& from, std::chrono::seconds time, const PodEventReader::Take& take,
                         const std::function<void()>& heard, const std::stop_token& stop) {
  KEPLER_CHECK_OK(CheckVersion(access_.api, from));
  KEPLER_TRY(const std::string token, ReadToken(access_));
  const http::client::ClientRequest request{
      .target = fmt::format("{}&watch=1&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}", PodsOfNode(),
                            time.count(), from),
      .bearer_token = token,
      .deadlines = {.silence = kSilence,
                    .body_silence = time + options_.watch_grace,  // on a node where no pod changes
                    .total = time + options_.watch_grace},
      .max_bytes = kMaxWatchBytes};
  const auto take_or_end = [&](PodEvent event) -> Status {
    if (!event.resource_version.empty()) KEPLER_CHECK_OK(CheckVersion(access_.api, event.resource_version));
    if (event.kind != PodEvent::Kind::kError) return take(std::move(event));
    return Fail(event.code == kTooOld ? ErrorKind::kGone : ErrorKind::kUnavailable,
                fmt::format("{} ended the watch of pods: {}", access_.api.Url(),
                            EscapeControls(HideLogin(event.message, request))));
  };
  PodEventReader reader(take_or_end, options_.asked, options_.max_name_bytes);
  const auto read = [&](std::string_view piece) -> Status {
    KEPLER_CHECK_OK(reader.Read(piece));
    heard();
    return {};
  };
  return Ask(client_, access_.api, request, read, "watch on pods", stop);
}

}  // namespace kepler::workload::kubernetes
