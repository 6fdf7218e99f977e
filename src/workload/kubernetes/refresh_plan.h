#pragma once
// RefreshPlan: schedules the requests for the pods of a node. That is once per interval, earlier if a
// container without a name runs, and after failures as RetryPolicy says. Pure; not thread-safe.
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::workload::kubernetes {

class RefreshPlan {
 public:
  /// Delay of the request for new containers, so that one request serves all containers of a tick. It has no jitter:
  /// each node asks its own kubelet, after its own tick.
  static constexpr std::chrono::milliseconds kGather{20};
  static constexpr std::chrono::milliseconds kMaxJitter{250};  // of further requests for a container
  static constexpr std::chrono::seconds kMinGap{2};            // between two requests
  static constexpr std::chrono::seconds kFirstDelay{1};
  /// Number of answers without a container after which no further request is made for it. A kubelet lists a container
  /// some seconds after its start.
  static constexpr unsigned kMaxAnswers = 3;
  static constexpr size_t kMaxMissed = 4096;  // containers and pods that are remembered

  struct Times {
    Nanoseconds interval;   // between the beginnings of two requests
    Nanoseconds jitter;     // maximum that is added to the interval
    Nanoseconds max_delay;  // after a failure, without its jitter; at least kFirstDelay
  };
  using Knows = std::function<bool(const std::string& id)>;

  /// The first request is sent at once. `seed`: of the jitter.
  RefreshPlan(const Times& times, uint64_t seed) : times_(times), random_(seed) {}

  /// Uses other times, from the next request on.
  void Use(const Times& times) { times_ = times; }
  /// Time of the next request; BootTime::max() while one is in flight.
  [[nodiscard]] BootTime next() const { return next_; }
  /// A request begins. No other one begins before Succeed() or Fail().
  void Begin(BootTime now);
  /// The request was answered. `knows`: whether the answer has the container or pod with this id.
  void Succeed(BootTime now, const Knows& knows);
  void Fail(BootTime now);
  /// Notes that a container of this pod runs whose name is unknown; `container_id` "": the pod's own name is unknown.
  /// Returns whether next() is earlier now, which it never is while requests fail.
  [[nodiscard]] bool Miss(std::string_view pod_uid, std::string_view container_id, BootTime now);

 private:
  struct Missed {
    std::string pod_uid;
    unsigned answers = 0;       // number of answers without it
    bool in_named_pod = false;  // since it was missed, an answer has named another container of its pod
    bool is_sandbox = false;    // it is the sandbox of its pod, which no answer names
  };
  /// Finds the sandbox of each pod, a container that no answer shows: it is the only container without a name, after
  /// two answers. One answer is not enough: CRI-O runs pods without a sandbox container, and the kubelet may show the
  /// second container of such a pod later than the first.
  void FindSandboxes(const std::set<std::string>& named_pods);
  /// From 0 to `most`.
  [[nodiscard]] Nanoseconds Jitter(Nanoseconds most);

  Times times_;
  std::mt19937_64 random_;
  BootTime next_{};
  BootTime begun_{};
  unsigned failures_ = 0;                              // in a row
  std::map<std::string, Missed, std::less<>> missed_;  // by the id of the container, else of the pod
};

}  // namespace kepler::workload::kubernetes
