#include "activity/cgroup_ledger.h"

#include <sys/stat.h>

#include <algorithm>

#include "activity/activity_source.h"

namespace kepler::activity {
namespace {

bool Vanished(const Error& error) { return error.kind == ErrorKind::kNotFound || error.kind == ErrorKind::kGone; }

}  // namespace

CgroupLedger::CgroupLedger(cgroup::Tree tree, cgroup::Paths paths, Scope scope, cgroup::OwnerFinder& owners)
    : tree_(std::move(tree)), paths_(std::move(paths)), scope_(scope), owners_(owners) {
  if (const auto top = os::OpenDir(tree_.path); top && tree_.version == cgroup::Version::kUnified)
    top_is_machine_root_ = cgroup::IsUnifiedRoot(top->get());
  Add(kRoot, paths_.prefix().empty() ? "/" : paths_.prefix());
  if (top_is_machine_root_) nodes_[kRoot].active = false;
}

void CgroupLedger::Read(BootTime now, status::ActivityStatus& status) {
  for (CgroupNode& node : nodes_) node.stale = node.blocked = false;
  const auto top = os::OpenDir(tree_.path);
  if (!top) {
    // No usage is known. Therefore no cgroup gives out a residual, and no cgroup is removed.
    for (CgroupNode& node : nodes_) node.stale = true;
    Fail(kRoot, top.error(), now, status);
    return;
  }
  ++scan_;
  open_.assign(1, kRoot);
  Walk(top->get(), now, status);
  RemoveUnwalked();
  // A new cgroup may replace a removed one: the number of the parent's children is then unchanged.
  Relist(top->get());
  Walk(top->get(), now, status);
  RemoveUnwalked();
  lost_.clear();
  ForgetKept();
  UpdateExclusive(top->get());
}

void CgroupLedger::Walk(int top, BootTime now, status::ActivityStatus& status) {
  while (!open_.empty()) {
    const NodeId id = open_.back();
    open_.pop_back();
    if (!VisitOne(top, id, now, status)) {
      lost_.push_back(nodes_[id].parent);
      continue;
    }
    nodes_[id].walked_at = scan_;
    open_.insert(open_.end(), nodes_[id].children.begin(), nodes_[id].children.end());
  }
}

/// Returns false if the cgroup is gone.
bool CgroupLedger::VisitOne(int top, NodeId id, BootTime now, status::ActivityStatus& status) {
  const bool is_top = id == kRoot;
  const auto dir = os::OpenDirAt(top, RelativePath(nodes_[id]));
  if (!dir) {
    if (!is_top && Vanished(dir.error())) return false;
    Fail(id, dir.error(), now, status);
    return true;
  }
  const bool readable = !(is_top && top_is_machine_root_);
  const auto usage = readable ? cgroup::ReadUsage(dir->get(), tree_.version, buffer_) : Nanoseconds{0};
  if (!usage && !is_top && Vanished(usage.error())) return false;
  // List the children after reading the usage. A child included in the usage is then in the list, or dead.
  struct stat file = {};
  if (::fstat(dir->get(), &file) != 0) return false;
  CgroupNode& node = nodes_[id];
  if (node.inode != 0 && node.inode != file.st_ino && !is_top) return false;
  node.inode = file.st_ino;
  if (node.walked_at == 0 && !kept_.empty()) Restore(node);
  if (!usage) {
    Fail(id, usage.error(), now, status);
  } else {
    TakeReading(node, *usage);
    LearnKind(node, dir->get());
  }
  // A kernfs directory has 2 + (number of subdirectories) links. Directories of other file systems that show 1 link are
  // always listed.
  if (file.st_nlink < 2 || file.st_nlink - 2 != node.children.size()) ListChildren(dir->get(), id);
  return true;
}

void CgroupLedger::TakeReading(CgroupNode& node, Nanoseconds usage) {
  if (!node.has_reading && node.walked_at != 0) {
    // This is the first reading of a known cgroup. Its earlier usage was in the parent's exclusive usage, and stays
    // there.
    node.rebase = true;
  } else {
    // The owner of cpuacct.usage can reset it to 0. The usage from before the reset is kept.
    node.usage += usage >= node.raw ? usage - node.raw : usage;
  }
  node.raw = usage;
  node.has_reading = true;
}

void CgroupLedger::ListChildren(int dir, NodeId id) {
  const cgroup::CgroupPtr cgroup = nodes_[id].cgroup;
  const std::string& path = cgroup->path;
  // The next scan detects a directory that is removed during the listing.
  static_cast<void>(reader_.ForEach(dir, path, [&](const os::DirEntry& entry) {
    if (!entry.is_dir) return;
    std::string child = (path == "/" ? std::string() : path) + "/" + std::string(entry.name);
    if (!by_path_.contains(child)) Add(id, std::move(child));
  }));
}

void CgroupLedger::Relist(int top) {
  std::ranges::sort(lost_);
  lost_.erase(std::ranges::unique(lost_).begin(), lost_.end());
  for (const NodeId id : lost_) {
    if (!nodes_[id].cgroup || nodes_[id].walked_at != scan_) continue;
    const auto dir = os::OpenDirAt(top, RelativePath(nodes_[id]));
    if (!dir) continue;
    ListChildren(dir->get(), id);
    for (const NodeId child : nodes_[id].children)
      if (nodes_[child].walked_at != scan_) open_.push_back(child);
  }
}

void CgroupLedger::Fail(NodeId id, const Error& error, BootTime now, status::ActivityStatus& status) {
  nodes_[id].stale = true;
  ++status.failed_cgroup_reads;
  limiter_.Say(log::Level::kWarn, "cgroup", now,
               "failed to read a cgroup; short-lived processes in it are not counted until a read succeeds",
               {{"cgroup", nodes_[id].cgroup->path}, {"tree", tree_.path}, {"err", error.message}});
}

/// Returns what a cgroup with children used since its reading, which preceded those of its children. Without this time
/// the first exclusive usage is too small, and the next one, if it is read faster, shows the difference as missing.
Nanoseconds CgroupLedger::UsedSinceReading(int top, const CgroupNode& node) {
  if (node.children.empty() || node.stale || !node.has_reading) return Nanoseconds{0};
  const auto dir = os::OpenDirAt(top, RelativePath(node));
  if (!dir) return Nanoseconds{0};
  const auto usage = cgroup::ReadUsage(dir->get(), tree_.version, buffer_);
  return usage ? std::max(*usage - node.raw, Nanoseconds{0}) : Nanoseconds{0};
}

void CgroupLedger::UpdateExclusive(int top) {
  for (CgroupNode& node : nodes_) {
    node.exclusive_before = node.exclusive;
    node.exclusive = node.usage - node.dead_children;
  }
  for (NodeId id = kRoot + 1; id < nodes_.size(); ++id) {
    const CgroupNode& node = nodes_[id];
    if (!node.cgroup) continue;
    nodes_[node.parent].exclusive -= node.usage;
    if (node.stale) nodes_[node.parent].blocked = true;
  }
  for (CgroupNode& node : nodes_) {
    if (node.rebase) nodes_[node.parent].account.AddKnown(node.account.Debt(node.exclusive_before));
    if (node.rebase || scan_ == 1) node.account.Start(node.exclusive + UsedSinceReading(top, node));
    node.rebase = false;
  }
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

/// Reads whether the cgroup is threaded, once a task has run in it. A cgroup becomes threaded before threads enter it,
/// and never changes back. The root and v1 cgroups have no cgroup.type.
void CgroupLedger::LearnKind(CgroupNode& node, int dir) {
  if (node.kind_known || node.raw.count() == 0) return;
  if (tree_.version == cgroup::Version::kUnified) {
    const auto type = os::ReadFileAt(dir, "cgroup.type", buffer_);
    if (!type && type.error().kind != ErrorKind::kNotFound) return;
    node.threaded = type && type->starts_with("threaded");
  }
  node.kind_known = true;
  if (node.threaded) node.active = false;
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
