#pragma once
// TopNode: measures this machine in this process, for `kepler top` without an agent. It has the parts of the agent
// except the server and the exporters.
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler/config.h"
#include "apps/kepler/this_node.h"
#include "apps/kepler/top_source.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/result.h"
#include "export/api/endpoint.h"
#include "pipeline/collector.h"
#include "snapshot/snapshot.h"
#include "workload/kubernetes/informer.h"

namespace kepler::agent {

/// Returns the URL, without TLS, of an agent on this machine that listens on the first of these addresses.
[[nodiscard]] std::string UrlOfAgent(const std::vector<std::string>& listen_addresses);

/// Returns what this user or machine cannot measure, one line each. `wants_bpf`: the configuration allows BPF.
[[nodiscard]] std::vector<std::string> LacksOf(const snapshot::Snapshot& snapshot, bool wants_bpf, bool is_root);

class TopNode final : public TopSource {
 public:
  /// Opens the meters as the agent does at startup, and runs a tick each `interval` on a thread. `remark`: reason why
  /// this process measures; "" if the user requested it.
  [[nodiscard]] static Result<std::unique_ptr<TopNode>> Open(Config config, const BuildInfo& build, Duration interval,
                                                             std::string remark);
  ~TopNode() override;

  /// Waits for the first snapshot. It takes a quarter of a second.
  [[nodiscard]] Result<std::string> Get(const std::string& target, const std::stop_token& stop) const override;
  Status Settle() const override { return WaitFor(2, {}); }
  [[nodiscard]] std::string_view Hint() const override { return "kepler meters shows the state of the meters"; }
  [[nodiscard]] std::vector<std::string> Remarks() const override;

 private:
  TopNode(Config config, std::string remark) : config_(std::move(config)), remark_(std::move(remark)) {}
  [[nodiscard]] Status Start(const BuildInfo& build);
  void Take(const snapshot::Snapshot& snapshot);
  [[nodiscard]] Status WaitFor(size_t snapshots, const std::stop_token& stop) const;

  const Config config_;
  const std::string remark_;
  SystemClock clock_;
  std::unique_ptr<workload::kubernetes::Informer> pods_;  // null: pods get no names
  std::unique_ptr<ThisNode> node_;
  std::unique_ptr<pipeline::Collector> collector_;
  std::unique_ptr<api::Endpoint> api_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any taken_;
  size_t snapshots_ = 0;  // guarded by mutex_
};

}  // namespace kepler::agent
