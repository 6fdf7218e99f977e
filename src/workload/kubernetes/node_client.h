#pragma once
// NodeClient: what is asked about the pods of one node, of its kubelet and of the API server. Waits for the answers on
// the thread that calls; one thread.
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
  bool verify_kubelet = true;             // false: whoever answers at its address hears the token
  AskedTexts asked{};                     // of pods, beyond their names
  size_t max_name_bytes = kMaxNameBytes;  // of all pods together
  std::chrono::milliseconds watch_grace = kWatchGrace;
};

/// Errors are those of http::Fetch(), and for answers other than 200, with what they say and what helps: kPermission
/// (401, 403), kGone (410: a resource version that is too old), kUnavailable; kNotFound only of the node.
class NodeClient {
 public:
  static constexpr std::chrono::seconds kSilence{10};           // of whom is asked for a list
  static constexpr std::chrono::seconds kTotal{60};             // for a list
  static constexpr uint64_t kMaxBytes = uint64_t{256} << 20;    // of a list
  static constexpr uint64_t kMaxNodeBytes = uint64_t{2} << 20;  // of a Node; etcd keeps objects of 1.5 MiB
  static constexpr uint64_t kMaxWatchBytes = uint64_t{1} << 30;

  NodeClient(ClusterAccess access, NodeClientOptions options)
      : access_(std::move(access)), options_(std::move(options)) {}

  /// From now on; where it is another, the kubelet is looked for again.
  void Use(ClusterAccess access);
  /// Asks the API server for the node. kNotFound: it has none of that name.
  [[nodiscard]] Status FindNode(const std::stop_token& stop);
  /// The pods that the kubelet knows. The API server is asked where that is, until the kubelet has answered once.
  [[nodiscard]] Result<PodList> AskKubelet(const std::stop_token& stop);
  /// The pods that the API server knows, at least as new as the resource version `from`; "0": as it remembers them,
  /// which is cheap for it; "": the latest, which is dear.
  [[nodiscard]] Result<PodList> List(const std::string& from, const std::stop_token& stop);
  /// What happens after the resource version `from`, until an error or the server ends it, which it should after
  /// `time`; one that goes on for watch_grace more is kTimeout. `heard`: when the watch begins, and after each piece of
  /// the answer.
  [[nodiscard]] Status Watch(const std::string& from, std::chrono::seconds time, const PodEventReader::Take& take,
                             const std::function<void()>& heard, const std::stop_token& stop);

 private:
  [[nodiscard]] std::string PodsOfNode() const;

  ClusterAccess access_;
  const NodeClientOptions options_;
  std::optional<http::Peer> kubelet_;  // where it was found
};

}  // namespace kepler::workload::kubernetes
