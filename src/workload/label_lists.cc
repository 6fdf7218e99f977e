#include "workload/label_lists.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>

#include <boost/container_hash/hash.hpp>

#include "base/text.h"

namespace kepler::workload {
namespace {

std::string LabelName(std::string_view prefix, std::string_view name) {
  std::string label(prefix);
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    label += plain ? c : '_';
  }
  return LabelText(label);
}

/// Appends `texts`, sorted, to `list`.
void Append(snapshot::LabelList& list, std::string_view prefix, LabelLists::Texts texts) {
  const std::map<std::string, std::string> by_own_name(texts.begin(), texts.end());
  std::map<std::string, std::string> by_name;
  for (const auto& [name, value] : by_own_name) by_name.try_emplace(LabelName(prefix, name), LabelText(value));
  std::ranges::copy(by_name | std::views::take(LabelLists::kMaxEach), std::back_inserter(list));
}

}  // namespace

std::shared_ptr<const snapshot::LabelList> LabelLists::Intern(Texts labels, Texts annotations) {
  snapshot::LabelList list;
  Append(list, "annotation_", annotations);
  Append(list, "label_", labels);
  const size_t hash = boost::hash_range(list.begin(), list.end());
  for (auto [known, end] = lists_.equal_range(hash); known != end; ++known) {
    ++visited_;
    if (auto same = known->second.lock(); same && *same == list) return same;
  }
  if (lists_.size() >= sweep_at_) Sweep();
  auto fresh = std::make_shared<const snapshot::LabelList>(std::move(list));
  lists_.emplace(hash, fresh);
  return fresh;
}

void LabelLists::Sweep() {
  visited_ += lists_.size();
  std::erase_if(lists_, [](const auto& known) { return known.second.expired(); });
  sweep_at_ = std::max(kFew, 2 * lists_.size());
}

}  // namespace kepler::workload
