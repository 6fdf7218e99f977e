#pragma once
// Status of the pod informer. Filled by workload/kubernetes. Counters are totals since startup.
#include <cstdint>
#include <string_view>

#include "base/clock.h"

namespace kepler::status {

/// Status of the pod informer. Filled by workload/kubernetes.
struct PodInformerStatus {
  // Literals: "auto" (mode only), "kubelet", "apiserver".
  std::string_view mode{};
  std::string_view source{};  // in use
  bool up = true;             // the latest request succeeded, or there was no request yet
  uint64_t requests = 0;
  uint64_t failed_requests = 0;
  uint64_t pods = 0;           // number of pods in the last response
  uint64_t left_out_pods = 0;  // pods in the response that exceeded the limit
  uint64_t left_out_containers = 0;
  WallTime last_success{};  // epoch: never
};

}  // namespace kepler::status
