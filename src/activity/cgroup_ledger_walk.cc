// One walk over the tree of cgroups, which reads their usages.
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "activity/activity_source.h"
#include "activity/cgroup_ledger.h"

namespace kepler::activity {
namespace {

bool Vanished(const Error& error) { return error.kind == ErrorKind::kNotFound || error.kind == ErrorKind::kGone; }

}  // namespace

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

}  // namespace kepler::activity
