#pragma once
// CgroupLedger: every cgroup of one tree, what it used, and what its known processes used of that.
//
// Invariant, for every cgroup and any moment: residuals given out + time of known processes + what the children got
// <= usage of the cgroup since it was first seen (or since the first scan), up to the bounded error of processes that
// change their cgroup: their time since the last scan is known to the new one, so the old one's residual is too large
// by what they used there, and the new one carries it as a debt.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "activity/residual_account.h"
#include "base/log.h"
#include "cgroup/cgroup.h"
#include "cgroup/owner_finder.h"
#include "cgroup/tree.h"
#include "os/dirents.h"
#include "os/file.h"
#include "snapshot/status.h"

namespace kepler::activity {

using NodeId = uint32_t;

struct CgroupNode {
  cgroup::CgroupPtr cgroup;  // its path is cgroup::Paths' name; null: the place is free
  NodeId parent = 0;
  std::vector<NodeId> children;
  bool active = false;  // gives out residuals
  bool kind_known = false;
  bool threaded = false;  // holds threads of processes that are known elsewhere: never active (cgroup v2)
  bool stale = false;     // could not be read at this scan
  bool blocked = false;   // a child is stale: the exclusive usage is not known
  bool has_reading = false;
  bool rebase = false;     // became readable at this scan
  uint64_t born_at = 0;    // scan
  uint64_t walked_at = 0;  // scan in which the directory was last there; 0: known from a process only
  ino_t inode = 0;
  Nanoseconds raw{0};               // as last read
  Nanoseconds usage{0};             // the same without resets; with all descendants
  Nanoseconds dead_children{0};     // what removed children had when they were last read
  Nanoseconds exclusive{0};         // usage − children − dead_children
  Nanoseconds exclusive_before{0};  // at the previous scan
  ResidualAccount account;
};

class CgroupLedger {
 public:
  enum class Scope : uint8_t {
    kAll,       // every cgroup gives out residuals
    kActivated  // only those for which Activate was called: a second tree that counts the same time
  };

  /// `owners` must outlive the ledger.
  CgroupLedger(cgroup::Tree tree, cgroup::Paths paths, Scope scope, cgroup::OwnerFinder& owners);

  /// Reads every cgroup, parents before their children, so that an exclusive usage errs only downwards.
  void Read(BootTime now, snapshot::ActivityStatus& status);

  [[nodiscard]] std::optional<NodeId> Find(std::string_view name) const;
  /// One that the walk has not met yet (it was made since) begins at 0. `inode`: 0 for unknown.
  [[nodiscard]] NodeId FindOrAdd(std::string_view name, ino_t inode = 0);
  /// Another directory has its path now, which the walk has not met yet: `id` is gone, the new one begins at 0.
  [[nodiscard]] NodeId Replace(NodeId id, ino_t inode);
  void AddKnown(NodeId id, Nanoseconds time) { nodes_[id].account.AddKnown(time); }
  /// From now on `id` gives out residuals, beginning with what it used since the previous scan.
  void Activate(NodeId id);
  /// From now on it gives out none.
  void Deactivate(NodeId id) { nodes_[id].active = false; }

  /// Calls `give(NodeId, Nanoseconds)` for every new residual, and `compare(ResidualAccount&, exclusive)` for every
  /// account that could be settled; both without what is held back for cgroups that were never seen.
  template <class Give, class Compare>
  void Settle(Nanoseconds min, Give&& give, Compare&& compare) {
    HoldBack();
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      CgroupNode& node = nodes_[id];
      if (!CanSettle(node)) continue;
      const Nanoseconds exclusive = node.exclusive - held_back_[id];
      if (const Nanoseconds fresh = node.account.Book(exclusive, min); fresh.count() > 0) give(id, fresh);
      compare(node.account, exclusive);
    }
  }
  /// See ResidualAccount::Doubt.
  void Doubt() {
    HoldBack();
    for (NodeId id = 0; id < nodes_.size(); ++id)
      if (CanSettle(nodes_[id])) nodes_[id].account.Doubt(nodes_[id].exclusive, held_back_[id]);
  }
  /// See ResidualAccount::Repay.
  [[nodiscard]] Nanoseconds Repay(NodeId id, Nanoseconds time) { return nodes_[id].account.Repay(time); }

  static constexpr NodeId kRoot = 0;
  [[nodiscard]] const CgroupNode& operator[](NodeId id) const { return nodes_[id]; }
  [[nodiscard]] const std::vector<CgroupNode>& nodes() const { return nodes_; }
  [[nodiscard]] const cgroup::Paths& paths() const { return paths_; }
  /// Grows whenever a NodeId became invalid.
  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  /// Grows whenever a cgroup came or went.
  [[nodiscard]] uint64_t changes() const { return changes_; }

 private:
  struct Kept {
    cgroup::CgroupPtr cgroup;
    ino_t inode = 0;
    ResidualAccount account;
  };

  [[nodiscard]] static bool CanSettle(const CgroupNode& node) {
    return node.cgroup && node.active && node.kind_known && !node.stale && !node.blocked;
  }
  /// Of `path` and what is above it the nearest that is known, and how much of `path` it is; 0 of the root.
  [[nodiscard]] std::pair<NodeId, size_t> Nearest(std::string_view path) const;
  void LearnKind(CgroupNode& node, int dir);
  NodeId Add(NodeId parent, std::string path);
  void Remove(NodeId id);
  void RemoveTree(NodeId id);
  void Restore(CgroupNode& node);
  void ForgetKept();
  void HoldBack();
  void RemoveUnwalked();
  void Walk(int top, BootTime now, snapshot::ActivityStatus& status);
  [[nodiscard]] bool VisitOne(int top, NodeId id, BootTime now, snapshot::ActivityStatus& status);
  static void TakeReading(CgroupNode& node, Nanoseconds usage);
  void ListChildren(int dir, NodeId id);
  void Relist(int top);
  void Fail(NodeId id, const Error& error, BootTime now, snapshot::ActivityStatus& status);
  void UpdateExclusive();
  [[nodiscard]] const char* RelativePath(const CgroupNode& node) const;

  cgroup::Tree tree_;
  cgroup::Paths paths_;
  Scope scope_;
  cgroup::OwnerFinder& owners_;
  bool top_is_machine_root_ = false;
  uint64_t scan_ = 0;
  uint64_t epoch_ = 1;
  uint64_t changes_ = 0;
  std::vector<CgroupNode> nodes_;
  std::vector<NodeId> free_;
  std::unordered_map<std::string_view, NodeId> by_path_;  // keys are of the nodes
  std::vector<NodeId> open_;                              // still to be visited
  std::vector<NodeId> lost_;                              // parents of what was gone
  std::vector<NodeId> removed_;                           // scratch
  std::vector<Nanoseconds> held_back_;                    // by node, while settling: of its usage, what may be known
  std::vector<Kept> kept_;                                // of removed nodes that nobody has read
  os::ReadBuffer buffer_;
  os::DirReader reader_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::activity
