#pragma once
// LabelLists: builds label lists from external labels and annotations, for example those of pods. Names are valid in
// Prometheus, and lists are bounded. Each distinct list exists once in memory. One thread only.
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
  // maximum number of labels, and of annotations, per workload; the rest, in order of name, is left out
  static constexpr size_t kMaxEach = 32;
  using Texts = std::span<const std::pair<std::string, std::string>>;

  /// The label "app.kubernetes.io/name" becomes label_app_kubernetes_io_name. The annotation example.com/owner becomes
  /// annotation_example_com_owner, as in kube-state-metrics. If two names become equal, the first original name wins.
  /// Never null.
  [[nodiscard]] std::shared_ptr<const snapshot::LabelList> Intern(Texts labels, Texts annotations = {});
  /// Number of lists compared or checked for expiry since startup. For tests of the cost.
  [[nodiscard]] uint64_t visited() const { return visited_; }
  /// Number of remembered lists, including expired ones.
  [[nodiscard]] size_t size() const { return lists_.size(); }

 private:
  static constexpr size_t kFew = 64;
  /// Drops expired lists. Runs when the number of lists has doubled, so the amortised cost per Intern() is two lists.
  void Sweep();

  std::unordered_multimap<size_t, std::weak_ptr<const snapshot::LabelList>> lists_;  // by hash
  size_t sweep_at_ = kFew;
  uint64_t visited_ = 0;
};

}  // namespace kepler::workload
