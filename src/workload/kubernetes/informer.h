#pragma once
// Informer: reads the pods of this node from the kubelet or the API server, on a thread of its own. A server that hangs
// or fails costs names of pods, but never delays a tick.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory_wave.h"
#include "base/result.h"
#include "base/units.h"
#include "workload/kubernetes/access.h"
#include "workload/kubernetes/node_client.h"
#include "workload/kubernetes/pod_cache.h"
#include "workload/kubernetes/refresh_plan.h"
#include "workload/pod_directory.h"

namespace kepler::workload::kubernetes {

enum class InformerMode : uint8_t {
  kAuto,      // the kubelet; while it is unavailable, the API server
  kKubelet,   // one request per interval
  kApiserver  // one list, then watches
};

/// Minimum length of a watch; random by as much again. A server that accepts a watch and then hangs is noticed when the
/// watch should have ended. Bookmarks are no sign of life, because the API server promises none.
inline constexpr std::chrono::seconds kWatchTime{25};
static_assert(2 * kWatchTime + kWatchGrace <= std::chrono::seconds(60), "a hung server is noticed within a minute");

struct InformerOptions {
  NodeClientOptions node;
  InformerMode mode = InformerMode::kKubelet;
  Nanoseconds interval = std::chrono::seconds(15);  // kKubelet
  std::chrono::seconds watch_time = kWatchTime;     // kApiserver
};

using AccessFinder = std::function<Result<ClusterAccess>()>;

class Informer final : public PodDirectory {
 public:
  static constexpr std::chrono::seconds kMinWatch{1};     // a shorter watch without an event has failed
  static constexpr std::chrono::seconds kMaxDelay{60};    // after a failure
  static constexpr std::chrono::hours kKubeletAgain{1};   // kAuto: retry of the kubelet while the API server is in use
  static constexpr size_t kManyNames = size_t{8} << 20;   // bytes from which on memory is given back to the kernel
  static constexpr std::chrono::seconds kReturnDelay{2};  // before that: a tick may still hold the previous map

  /// `find`: finds out how to reach the cluster. It is called at startup and after each failure, because certificates
  /// are renewed. `clock` must outlive the informer.
  Informer(AccessFinder find, InformerOptions options, const Clock& clock);
  ~Informer() override;
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  /// Starts the thread. Error: no access to a cluster is configured, or no thread can be started. Requests that fail
  /// are logged later, not returned.
  [[nodiscard]] Status Start();
  [[nodiscard]] std::shared_ptr<const PodMap> Latest() const override;
  void Miss(std::string_view pod_uid, std::string_view container_id) override;
  [[nodiscard]] status::PodInformerStatus status() const override;

  /// Sends one request now, or lists and watches until the watch ends. For the thread, and for tests without one.
  void Refresh(const std::stop_token& stop);

 private:
  void Loop(const std::stop_token& stop);
  [[nodiscard]] Status Connect();
  [[nodiscard]] Status Ask(const std::stop_token& stop);
  [[nodiscard]] Status AskKubelet(const std::stop_token& stop);
  [[nodiscard]] Status AskEither(const std::stop_token& stop);
  [[nodiscard]] bool IsKubeletDue() const;
  /// Notes that `source` has answered and is the one in use.
  void Use(InformerMode source);
  [[nodiscard]] Status Follow(const std::stop_token& stop);
  [[nodiscard]] Status List(const std::stop_token& stop);
  [[nodiscard]] Status CheckNode(const std::stop_token& stop);
  enum class WatchEnd : uint8_t {
    kInTime,  // the server ended it after the requested time
    kCut,     // a server or load balancer ended it earlier, which is normal
    kTooOld   // the resource version is too old: list again
  };
  [[nodiscard]] Result<WatchEnd> Watch(const std::stop_token& stop);
  [[nodiscard]] Status Take(const PodEvent& event);
  void CountRequest();
  void Succeed();
  void NoteFailure();
  /// Notes a success: the latest answer is in cache_.
  void Publish();
  void Take(PodList list);
  void Count(const LeftOut& left_out);
  /// Gives free memory back to the kernel after a list with many names.
  void ReturnMemory();
  void Complain(const Error& error);
  /// Logs that requests succeed again. The failure after that is logged too, so the latest line is never a recovery
  /// while requests fail. Limited like failures: a server that comes and goes does not fill the log.
  void SayRecovery();

  const AccessFinder find_;
  const InformerOptions options_;
  const Clock& clock_;
  // The thread's own:
  std::optional<NodeClient> client_;
  bool has_access_ = false;                               // false after a failure: certificates are renewed
  mutable PodCache cache_{options_.node.max_name_bytes};  // any thread takes its latest map
  MemoryWave names_{kManyNames};
  std::optional<BootTime> over_since_;  // names_
  bool has_checked_node_ = false;
  std::string version_;          // resource version of cache_; "": list again
  std::string list_from_ = "0";  // of NodeClient::List()
  bool has_complained_ = false;  // the latest line about requests is a failure
  // kAuto:
  std::string kubelet_error_;  // of the latest request to the kubelet
  BootTime kubelet_again_{};   // next retry of the kubelet while the API server is in use
  log::LogLimiter limiter_;
  std::minstd_rand random_{std::random_device{}()};

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  InformerMode source_;  // in use: kKubelet or kApiserver
  RefreshPlan plan_;
  status::PodInformerStatus status_;
  std::jthread thread_;  // keep last: it uses everything above
};

}  // namespace kepler::workload::kubernetes
