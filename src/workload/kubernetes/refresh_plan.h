#pragma once
// RefreshPlan: when to ask for the pods of a node again. Once an interval, and sooner when a container runs of which
// nobody has said anything; after a failure in steps that double. Pure; not thread-safe.
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
  /// One tick sees all containers that started since the tick before, and one question is for all of them. Without a
  /// jitter: all nodes of a cluster hear of a new DaemonSet at once, but each asks its own kubelet, after its own tick.
  static constexpr std::chrono::milliseconds kGather{20};
  static constexpr std::chrono::milliseconds kMaxJitter{250};  // of the questions after the first
  static constexpr std::chrono::seconds kMinGap{2};            // between two questions
  static constexpr std::chrono::seconds kFirstBackOff{1};
  /// A kubelet lists a container some seconds after it has begun: so often an answer may be without it.
  static constexpr unsigned kMaxAnswers = 3;
  static constexpr size_t kMaxMissed = 4096;  // remembered

  struct Times {
    Nanoseconds interval;      // between two questions, from begin to begin
    Nanoseconds jitter;        // at most so much is added, after each success
    Nanoseconds max_back_off;  // after failures; at least kFirstBackOff
  };
  using Knows = std::function<bool(const std::string& id)>;

  /// The first question is due at once. `seed`: of the jitter.
  RefreshPlan(const Times& times, uint64_t seed) : times_(times), random_(seed) {}

  /// From the next question on.
  void Use(const Times& times) { times_ = times; }
  [[nodiscard]] BootTime next() const { return next_; }
  /// Until Succeed() or Fail() none is due.
  void Begin(BootTime now);
  /// `knows`: whether the answer names a container, or a pod.
  void Succeed(BootTime now, const Knows& knows);
  void Fail(BootTime now);
  /// Nobody knows the name of a container of this pod that runs ("": of the pod itself). True: next() is earlier now.
  /// While questions fail, it never is.
  [[nodiscard]] bool Miss(std::string_view pod_uid, std::string_view container_id, BootTime now);

 private:
  struct Missed {
    std::string pod_uid;
    unsigned answers = 0;       // that were without it
    bool in_named_pod = false;  // an answer has named another container of the pod since this one was missed
    bool is_sandbox = false;    // of the pod: no answer will ever name it
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
