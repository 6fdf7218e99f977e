#pragma once
// NodeClient: requests for the pods of one node to its kubelet and to the API server. Each call blocks until the
// answer. One thread.
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "http/client/client.h"
#include "workload/kubernetes/access.h"
#include "workload/kubernetes/pod_json.h"

namespace kepler::workload::kubernetes {

inline constexpr std::chrono::seconds kWatchGrace{10};

struct NodeClientOptions {
  std::string node_name;                  // one that IsNodeName()
  bool verify_kubelet = true;             // false: the token may reach an impostor at the kubelet's address
  AskedTexts asked{};                     // labels and annotations of pods to read
  size_t max_name_bytes = kMaxNameBytes;  // of all pods together
  std::chrono::milliseconds watch_grace = kWatchGrace;
};

/// Errors are those of http::Client::Send(). Answers other than 2xx are errors too, with their message and a remedy:
/// kPermission (401, 403), kGone (410: the resource version is too old), kNotFound (only of the node), kUnavailable
/// (all others).
class NodeClient {
 public:
  static constexpr std::chrono::seconds kSilence{10};           // of a server during a list
  static constexpr std::chrono::seconds kTotal{60};             // for a list
  static constexpr uint64_t kMaxBytes = uint64_t{256} << 20;    // of a list
  static constexpr uint64_t kMaxNodeBytes = uint64_t{2} << 20;  // of a Node; etcd keeps objects of 1.5 MiB
  static constexpr uint64_t kMaxWatchBytes = uint64_t{1} << 30;

  NodeClient(ClusterAccess access, NodeClientOptions options)
      : access_(std::move(access)), options_(std::move(options)) {}

  /// Uses this access from now on. If it differs from the one before, the kubelet's address is fetched again.
  void Use(ClusterAccess access);
  /// Fetches the node from the API server. kNotFound: there is no node of that name.
  [[nodiscard]] Status FindNode(const std::stop_token& stop);
  /// Lists the pods that the kubelet knows. The kubelet's address comes from the API server, until the kubelet has
  /// answered once.
  [[nodiscard]] Result<PodList> AskKubelet(const std::stop_token& stop);
  /// Lists the pods that the API server knows, at least as new as the resource version `from`. "0": from its cache,
  /// which is cheap for the server. "": the latest state, which is expensive.
  [[nodiscard]] Result<PodList> List(const std::string& from, const std::stop_token& stop);
  /// Watches the pods from the resource version `from` on, until an error or until the server ends the watch. The
  /// server should end it after `time`; watch_grace later it is kTimeout. `heard` is called when the watch begins and
  /// after each piece of the answer.
  [[nodiscard]] Status Watch(const std::string& from, std::chrono::seconds time, const PodEventReader::Take& take,
                             const std::function<void()>& heard, const std::stop_token& stop);

 private:
  [[nodiscard]] std::string PodsOfNode() const;

  ClusterAccess access_;
  const NodeClientOptions options_;
  http::client::Client client_;
  std::optional<http::client::Peer> kubelet_;  // its address; nothing: fetch it first
};

}  // namespace kepler::workload::kubernetes
