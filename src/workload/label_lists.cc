#include "workload/label_lists.h"

#include <map>

#include "base/text.h"

namespace kepler::workload {
namespace {

std::string LabelName(std::string_view name) {
  std::string label(LabelLists::kPrefix);
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    label += plain ? c : '_';
  }
  return LabelText(label);
}

}  // namespace

std::shared_ptr<const snapshot::LabelList> LabelLists::Intern(
    std::span<const std::pair<std::string, std::string>> labels) {
  const std::map<std::string, std::string> by_own_name(labels.begin(), labels.end());
  std::map<std::string, std::string> by_name;
  for (const auto& [name, value] : by_own_name) by_name.try_emplace(LabelName(name), LabelText(value));
  snapshot::LabelList list(by_name.begin(), by_name.end());
  if (list.size() > kMaxLabels) list.resize(kMaxLabels);
  std::erase_if(lists_, [](const auto& known) { return known.expired(); });
  for (const auto& known : lists_)
    if (auto same = known.lock(); same && *same == list) return same;
  auto fresh = std::make_shared<const snapshot::LabelList>(std::move(list));
  lists_.push_back(fresh);
  return fresh;
}

}  // namespace kepler::workload
