#include "activity/cgroup_ledger.h"

#include <algorithm>

#include "activity/activity_source.h"

namespace kepler::activity {

CgroupLedger::CgroupLedger(cgroup::Tree tree, cgroup::Paths paths, Scope scope, cgroup::OwnerFinder& owners)
    : tree_(std::move(tree)), paths_(std::move(paths)), scope_(scope), owners_(owners) {
  if (const auto top = os::OpenDir(tree_.path); top && tree_.version == cgroup::Version::kUnified)
    top_is_machine_root_ = cgroup::IsUnifiedRoot(top->get());
  Add(kRoot, paths_.prefix().empty() ? "/" : paths_.prefix());
  if (top_is_machine_root_) nodes_[kRoot].active = false;
}

std::optional<NodeId> CgroupLedger::Find(std::string_view name) const {
  const auto found = by_path_.find(name);
  if (found == by_path_.end()) return std::nullopt;
  return found->second;
}

std::pair<NodeId, size_t> CgroupLedger::Nearest(std::string_view path) const {
  for (size_t end = path.size(); end > 0; end = path.rfind('/', end - 1))
    if (const auto found = Find(path.substr(0, end))) return {*found, end};
  return {kRoot, 0};
}

NodeId CgroupLedger::FindOrAdd(std::string_view name, ino_t inode) {
  std::string path(name);
  // Adds the missing cgroups below the known part of the path, from the top down.
  auto [id, known] = Nearest(path);
  while (known < path.size() && path.size() > 1) {
    known = std::min(path.find('/', known + 1), path.size());
    id = Add(id, path.substr(0, known));
  }
  if (nodes_[id].inode == 0) nodes_[id].inode = inode;
  return id;
}

NodeId CgroupLedger::Replace(NodeId id, ino_t inode) {
  const NodeId parent = nodes_[id].parent;
  std::string path = nodes_[id].cgroup->path;
  RemoveTree(id);
  const NodeId fresh = Add(parent, std::move(path));
  nodes_[fresh].inode = inode;
  return fresh;
}

void CgroupLedger::RemoveTree(NodeId id) {
  while (!nodes_[id].children.empty()) RemoveTree(nodes_[id].children.back());
  Remove(id);
}

void CgroupLedger::Activate(NodeId id) {
  CgroupNode& node = nodes_[id];
  if (node.active || node.threaded || (id == kRoot && top_is_machine_root_)) return;
  node.active = true;
  const bool is_new = scan_ > 1 && node.born_at == scan_;
  if (scan_ > 1) node.account.Start(is_new ? Nanoseconds{0} : node.exclusive_before);
}

/// Restores the account of a cgroup that was known below the previous directory of its parent's path. Its processes
/// were already booked there.
void CgroupLedger::Restore(CgroupNode& node) {
  const auto kept = std::ranges::find_if(
      kept_, [&](const Kept& entry) { return entry.inode == node.inode && entry.cgroup->path == node.cgroup->path; });
  if (kept == kept_.end()) return;
  node.account = kept->account;
  kept_.erase(kept);
}

/// Returns the nearest known ancestor of a cgroup that is not in the tree.
NodeId CgroupLedger::Above(const cgroup::Cgroup& cgroup) const {
  const std::string_view path = cgroup.path;
  return Nearest(path.substr(0, path.rfind('/'))).first;
}

/// Drops accounts of cgroups that ended before any reading. Their usage is in the usage of the nearest known ancestor.
void CgroupLedger::ForgetKept() {
  for (const Kept& entry : std::exchange(kept_, {})) {
    const NodeId above = Above(*entry.cgroup);
    if (nodes_[above].active) nodes_[above].account.AddKnown(entry.account.Debt(Nanoseconds{0}));
  }
}

/// Some cgroups are known only from their processes. Such a cgroup either was created after the latest walk, or was
/// removed before it. If it was removed, the usage of its processes is in the usage of the ancestor, and is no
/// residual. The ancestor's settlement therefore excludes that usage. If it was created, the residual appears one scan
/// later.
void CgroupLedger::HoldBack() {
  held_back_.assign(nodes_.size(), Nanoseconds{0});
  const auto hold = [this](NodeId above, const ResidualAccount& account) {
    while (above != kRoot && nodes_[above].walked_at == 0) above = nodes_[above].parent;
    held_back_[above] += account.Debt(Nanoseconds{0});
  };
  for (NodeId id = kRoot + 1; id < nodes_.size(); ++id) {
    const CgroupNode& node = nodes_[id];
    if (node.cgroup && node.walked_at == 0) hold(node.parent, node.account);
  }
  for (const Kept& entry : kept_) hold(Above(*entry.cgroup), entry.account);  // even if the path has a new cgroup
}

NodeId CgroupLedger::Add(NodeId parent, std::string path) {
  const auto id = TakePlace(nodes_, free_);
  CgroupNode& node = nodes_[id];
  cgroup::Owner owner = owners_.OfCgroup(tree_.version, path);
  node.cgroup = std::make_shared<const cgroup::Cgroup>(std::move(path), std::move(owner));
  node.parent = parent;
  node.active = scope_ == Scope::kAll;
  node.born_at = scan_;
  by_path_.emplace(node.cgroup->path, id);
  if (id != kRoot) nodes_[parent].children.push_back(id);
  ++changes_;
  return id;
}

void CgroupLedger::RemoveUnwalked() {
  removed_.clear();
  for (NodeId id = kRoot + 1; id < nodes_.size(); ++id)
    if (nodes_[id].cgroup && nodes_[id].walked_at != scan_) removed_.push_back(id);
  // Remove children first: their paths are longer.
  std::ranges::sort(removed_,
                    [&](NodeId a, NodeId b) { return nodes_[a].cgroup->path.size() > nodes_[b].cgroup->path.size(); });
  for (const NodeId id : removed_) Remove(id);
}

void CgroupLedger::Remove(NodeId id) {
  CgroupNode& node = nodes_[id];
  CgroupNode& parent = nodes_[node.parent];
  std::erase(parent.children, id);
  // Usage of the child after its last reading is only in the parent's usage, so it becomes the parent's residual. Time
  // given out beyond that reading is the parent's debt.
  parent.dead_children += node.usage;
  by_path_.erase(node.cgroup->path);
  if (node.walked_at == 0 && node.inode != 0)
    kept_.push_back({node.cgroup, node.inode, node.account});
  else if (node.active && parent.active)
    parent.account.AddKnown(node.account.Debt(node.exclusive));
  node = {};
  free_.push_back(id);
  ++epoch_;
  ++changes_;
}

const char* CgroupLedger::RelativePath(const CgroupNode& node) const {
  const size_t skip = paths_.prefix().size() + 1;
  return node.cgroup->path.size() > skip ? node.cgroup->path.c_str() + skip : ".";
}

}  // namespace kepler::activity
