#pragma once
// LabelLists: labels and annotations that somebody else chose (of pods, say) as lists that a page can show: with names
// that Prometheus takes, bounded, and each distinct list once in memory. One thread only.
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
  static constexpr size_t kMaxEach = 32;  // labels, and annotations, of one workload; the rest by name is left out
  using Texts = std::span<const std::pair<std::string, std::string>>;

  /// The label "app.kubernetes.io/name" becomes label_app_kubernetes_io_name, the annotation example.com/owner
  /// annotation_example_com_owner, as kube-state-metrics names them; of two that become one the first by their own name
  /// stays. Never null.
  [[nodiscard]] std::shared_ptr<const snapshot::LabelList> Intern(Texts labels, Texts annotations = {});

 private:
  std::vector<std::weak_ptr<const snapshot::LabelList>> lists_;
};

}  // namespace kepler::workload
