#pragma once
// LabelLists: labels that somebody else chose (of pods, say) as lists that a page can show: with names that Prometheus
// takes, bounded, and each distinct list once in memory. One thread only.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapshot/identity.h"

namespace kepler::workload {

class LabelLists {
 public:
  static constexpr size_t kMaxLabels = 32;  // of one workload; those after them by name are left out
  static constexpr std::string_view kPrefix = "label_";

  /// "app.kubernetes.io/name" becomes label_app_kubernetes_io_name, as kube-state-metrics names it; of two that become
  /// one the first by their own name stays. Never null.
  [[nodiscard]] std::shared_ptr<const snapshot::LabelList> Intern(
      std::span<const std::pair<std::string, std::string>> labels);

 private:
  std::vector<std::weak_ptr<const snapshot::LabelList>> lists_;
};

}  // namespace kepler::workload
