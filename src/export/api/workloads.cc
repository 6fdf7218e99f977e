#include "export/api/workloads.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"

namespace kepler::api {
namespace {

using snapshot::Level;

/// Sort key of a row; one of the two is 0.
struct Candidate {
  double watts = 0;
  int64_t exact = 0;  // microjoules or nanoseconds
  size_t row = 0;
};

bool Belongs(const Names& names, Level level, std::string_view under) {
  if (level == Level::kPod) return names.name_space == under;
  return names.pod_id == under || (level == Level::kProcess && (names.container_id == under || names.vm_id == under));
}

/// `search` is in lower case. `lower` is scratch space.
bool Mentions(const Names& names, std::string_view search, std::string& lower) {
  const std::array<std::string_view, 13> texts = {
      names.id,    names.name, names.name_space, names.pod,      names.pod_id,  names.container, names.container_id,
      names.vm_id, names.exe,  names.runtime,    names.instance, names.project, names.project_id};
  return std::ranges::any_of(texts, [&](std::string_view text) {
    if (text.size() < search.size()) return false;
    lower.assign(text);
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower.contains(search);
  });
}

/// By id. A workload whose labels changed has an ended row too: the running one names it.
template <class Identity>
std::unordered_map<std::string_view, const Identity*> IndexOf(const snapshot::Table<Identity>& table) {
  std::unordered_map<std::string_view, const Identity*> index;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto [at, is_new] = index.try_emplace(table.identity[row]->id, table.identity[row].get());
    if (!is_new && table.state[row] == snapshot::State::kRunning) at->second = table.identity[row].get();
  }
  return index;
}

}  // namespace

Workloads::Workloads(const snapshot::Snapshot& snapshot, Level level)
    : snapshot_(snapshot), level_(level), containers_(IndexOf(snapshot.containers)), pods_(IndexOf(snapshot.pods)) {
  Load();
}

void Workloads::Load() {
  switch (level_) {
    case Level::kContainer:
      return Use(snapshot_.containers);
    case Level::kVm:
      return Use(snapshot_.vms);
    case Level::kPod:
      return Use(snapshot_.pods);
    case Level::kNamespace:
      return SumPods();
    default:
      return Use(snapshot_.processes);
  }
}

template <class Table>
void Workloads::Use(const Table& table) {
  rows_ = table.rows();
  zones_ = table.zones;
  energy_ = &table.energy;
  watts_ = &table.watts;
  cpu_ = &table.cpu;
  state_ = &table.state;
}

void Workloads::SumPods() {
  const snapshot::RollUp& spaces = snapshot_.namespaces;
  rows_ = spaces.rows();
  zones_ = spaces.zones;
  energy_ = &spaces.energy;
  summed_watts_.resize(rows_ * zones_);
  watts_ = &summed_watts_;
  std::unordered_map<std::string_view, size_t> row_of;
  for (size_t row = 0; row < rows_; ++row) row_of.emplace(spaces.identity[row]->name_space, row);
  const auto& pods = snapshot_.pods;
  for (size_t pod = 0; pod < pods.rows(); ++pod) {
    const auto found = row_of.find(pods.identity[pod]->name_space);
    if (found == row_of.end()) continue;
    for (size_t z = 0; z < std::min(zones_, pods.zones); ++z)
      summed_watts_[found->second * zones_ + z] += pods.watts_at(pod, z);
  }
}

void Workloads::NamePod(std::string_view id, Names& names) const {
  names.pod_id = id;
  const auto pod = pods_.find(id);
  if (pod == pods_.end()) return;
  names.pod = pod->second->name;
  names.name_space = pod->second->name_space;
}

void Workloads::NameContainer(const snapshot::ContainerIdentity& container, Names& names) const {
  names.container_id = container.id;
  names.container = container.name;
  if (!container.pod_id.empty()) NamePod(container.pod_id, names);
  if (container.pod_name.empty()) return;  // the labels do not show the pod
  names.pod = container.pod_name;
  names.name_space = container.pod_namespace;
}

Names Workloads::NamesOf(size_t row) const {
  Names names;
  switch (level_) {
    case Level::kContainer: {
      const snapshot::ContainerIdentity& container = *snapshot_.containers.identity[row];
      NameContainer(container, names);
      names.id = container.id;
      names.name = container.name;
      names.runtime = container.runtime;
      break;
    }
    case Level::kVm: {
      const snapshot::VmIdentity& vm = *snapshot_.vms.identity[row];
      names.id = names.vm_id = vm.id;
      names.name = vm.name;
      names.runtime = vm.hypervisor;
      names.instance = vm.metadata.instance_name;
      names.project = vm.metadata.project_name;
      names.project_id = vm.metadata.project_id;
      break;
    }
    case Level::kPod: {
      const snapshot::PodIdentity& pod = *snapshot_.pods.identity[row];
      names.id = names.pod_id = pod.id;
      names.name = names.pod = pod.name;
      names.name_space = pod.name_space;
      break;
    }
    case Level::kNamespace:
      names.id = names.name = names.name_space = snapshot_.namespaces.identity[row]->name_space;
      break;
    default: {
      const snapshot::ProcessIdentity& process = *snapshot_.processes.identity[row];
      names.id = std::to_string(process.pid);
      names.pid = process.pid;
      names.name = process.comm;
      names.exe = process.exe;
      names.vm_id = process.vm_id;
      names.container_id = process.container_id;
      const auto container = containers_.find(names.container_id);
      if (container != containers_.end()) NameContainer(*container->second, names);
    }
  }
  return names;
}

bool Workloads::Precedes(size_t a, size_t b) const {
  const auto order = [&](const auto& of) { return of(a) != of(b) ? of(a) < of(b) : a < b; };
  switch (level_) {
    case Level::kContainer:
      return order([&](size_t row) -> std::string_view { return snapshot_.containers.identity[row]->id; });
    case Level::kVm:
      return order([&](size_t row) -> std::string_view { return snapshot_.vms.identity[row]->id; });
    case Level::kPod:
      return order([&](size_t row) -> std::string_view { return snapshot_.pods.identity[row]->id; });
    case Level::kNamespace:
      return order([&](size_t row) -> std::string_view { return snapshot_.namespaces.identity[row]->name_space; });
    default:
      return order([&](size_t row) { return snapshot_.processes.identity[row]->pid; });
  }
}

Workloads::Found Workloads::Find(const Query& query) const {
  const std::string search = ToLowerAscii(query.search);
  const bool selects = !search.empty() || !query.under.empty();
  const size_t zone = snapshot_.primary;
  std::vector<Candidate> candidates;
  candidates.reserve(rows_);
  std::string lower;
  for (size_t row = 0; row < rows_; ++row) {
    if (selects) {
      const Names names = NamesOf(row);
      if (!query.under.empty() && !Belongs(names, level_, query.under)) continue;
      if (!search.empty() && !Mentions(names, search, lower)) continue;
    }
    Candidate next{.row = row};
    if (query.sort == Sort::kCpu && has_cpu())
      next.exact = cpu(row).count();
    else if (query.sort == Sort::kWatts && zone < zones_)
      next.watts = watts(row, zone);
    else if (zone < zones_)
      next.exact = energy(row, zone).microjoules();
    candidates.push_back(next);
  }
  const size_t shown = std::min(query.limit, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(shown), candidates.end(),
                    [&](const Candidate& a, const Candidate& b) {
                      if (a.watts != b.watts) return a.watts > b.watts;
                      return a.exact != b.exact ? a.exact > b.exact : Precedes(a.row, b.row);
                    });
  Found found{.matching = candidates.size()};
  for (size_t i = 0; i < shown; ++i) found.rows.push_back(candidates[i].row);
  return found;
}

}  // namespace kepler::api
