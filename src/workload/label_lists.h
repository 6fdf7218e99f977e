#pragma once
// LabelLists: labels and annotations that somebody else chose (of pods, say) as lists that a page can show: with names
// that Prometheus takes, bounded, and each distinct list once in memory. One thread only.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

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
  /// Lists that were compared or checked for their end, since the start. For tests of the cost.
  [[nodiscard]] uint64_t visited() const { return visited_; }
  /// Lists that are remembered, some of which nobody holds any more.
  [[nodiscard]] size_t size() const { return lists_.size(); }

 private:
  static constexpr size_t kFew = 64;
  /// Drops the lists that nobody holds. Runs when the number of lists has doubled, so each Intern() pays for two.
  void Sweep();

  std::unordered_multimap<size_t, std::weak_ptr<const snapshot::LabelList>> lists_;  // by hash
  size_t sweep_at_ = kFew;
  uint64_t visited_ = 0;
};

}  // namespace kepler::workload
