#pragma once
// OwnerReader: the controller of a pod, from the texts of the pod only. The owner reference with `controller: true`
// names it. Two controllers are replaced by the controller above them, whose name they contain:
//   ReplicaSet  a Deployment, if the name ends in "-" and the label pod-template-hash
//   Job         a CronJob, if the name ends in "-" and a scheduled time in minutes since 1970 (Kubernetes 1.21 or
//   newer)
// The agent needs no right to read ReplicaSets or Jobs. Pure.
#include <string>
#include <string_view>

#include "workload/pod_map.h"

namespace kepler::workload::kubernetes {

class OwnerReader {
 public:
  /// `at`: path below the pod, such as ".metadata.ownerReferences[].kind".
  void Text(std::string_view at, std::string_view text);
  void Literal(std::string_view at, bool value);
  void EndObject(std::string_view at);
  /// Returns an empty owner if the pod has no controller. Call once, at the end of the pod.
  [[nodiscard]] PodOwner Take();

 private:
  PodOwner reference_;  // the reference that is being read
  bool is_controller_ = false;
  PodOwner controller_;
  std::string template_hash_;
};

}  // namespace kepler::workload::kubernetes
