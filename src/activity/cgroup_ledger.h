#pragma once
// CgroupLedger: keeps the CPU usage of every cgroup in one tree, and the part of the usage that known processes used.
//
// Invariant, for every cgroup at any time: residuals given out + time of known processes + time given to the children
// <= usage of the cgroup since it was first seen (or since the first scan).
// A process that changes its cgroup causes a bounded error. Its time since the last scan is booked in the new cgroup.
// The residual of the old cgroup is then too large by the time that the process used there. The new cgroup carries the
// same amount as a debt.
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
#include "status/activity_status.h"

namespace kepler::activity {

using NodeId = uint32_t;

struct CgroupNode {
  cgroup::CgroupPtr cgroup;  // path as named by cgroup::Paths; null: the entry is free
  NodeId parent = 0;
  std::vector<NodeId> children;
  bool active = false;  // the cgroup gives out residuals
  bool kind_known = false;
  bool threaded = false;  // threaded cgroup (v2): its threads belong to processes known elsewhere; never active
  bool stale = false;     // could not be read at this scan
  bool blocked = false;   // a child is stale, so the exclusive usage is unknown
  bool has_reading = false;
  bool rebase = false;     // became readable at this scan
  uint64_t born_at = 0;    // number of the scan
  uint64_t walked_at = 0;  // latest scan in which the directory existed; 0: known only from a process
  ino_t inode = 0;
  Nanoseconds raw{0};               // latest reading
  Nanoseconds usage{0};             // `raw` without counter resets; includes all descendants
  Nanoseconds dead_children{0};     // usage of removed children at their last reading
  Nanoseconds exclusive{0};         // usage − children − dead_children
  Nanoseconds exclusive_before{0};  // exclusive usage at the previous scan
  ResidualAccount account;
};

class CgroupLedger {
 public:
  enum class Scope : uint8_t {
    kAll,       // every cgroup gives out residuals
    kActivated  // only cgroups passed to Activate give out residuals: a second tree that counts the same time
  };

  /// `owners` must outlive the ledger.
  CgroupLedger(cgroup::Tree tree, cgroup::Paths paths, Scope scope, cgroup::OwnerFinder& owners);

  /// Reads every cgroup, parents before children, so the exclusive usage is never too large.
  void Read(BootTime now, status::ActivityStatus& status);

  [[nodiscard]] std::optional<NodeId> Find(std::string_view name) const;
  /// Returns the node of the cgroup. A new cgroup that the walk has not found yet starts at usage 0. `inode`: 0 if
  /// unknown.
  [[nodiscard]] NodeId FindOrAdd(std::string_view name, ino_t inode = 0);
  /// Replaces node `id`: a new directory, not yet found by the walk, now has the path. The new node starts at usage 0.
  [[nodiscard]] NodeId Replace(NodeId id, ino_t inode);
  void AddKnown(NodeId id, Nanoseconds time) { nodes_[id].account.AddKnown(time); }
  /// Starts giving out residuals for `id`, beginning with the usage since the previous scan.
  void Activate(NodeId id);
  /// Stops giving out residuals for `id`.
  void Deactivate(NodeId id) { nodes_[id].active = false; }

  /// Calls `give(NodeId, Nanoseconds)` for every new residual.
  /// Calls `compare(ResidualAccount&, exclusive)` for every account that was settled.
  /// Both exclude the time held back for cgroups that no walk has seen.
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
  /// Increases when a NodeId becomes invalid.
  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  /// Increases when a cgroup is added or removed.
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
  /// Returns the nearest known node at or above `path`, and the length of its part of `path`; length 0 for the root.
  [[nodiscard]] std::pair<NodeId, size_t> Nearest(std::string_view path) const;
  [[nodiscard]] NodeId Above(const cgroup::Cgroup& cgroup) const;
  void LearnKind(CgroupNode& node, int dir);
  NodeId Add(NodeId parent, std::string path);
  void Remove(NodeId id);
  void RemoveTree(NodeId id);
  void Restore(CgroupNode& node);
  void ForgetKept();
  void HoldBack();
  void RemoveUnwalked();
  void Walk(int top, BootTime now, status::ActivityStatus& status);
  [[nodiscard]] bool VisitOne(int top, NodeId id, BootTime now, status::ActivityStatus& status);
  static void TakeReading(CgroupNode& node, Nanoseconds usage);
  void ListChildren(int dir, NodeId id);
  void Relist(int top);
  void Fail(NodeId id, const Error& error, BootTime now, status::ActivityStatus& status);
  void UpdateExclusive(int top);
  [[nodiscard]] Nanoseconds UsedSinceReading(int top, const CgroupNode& node);
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
  std::unordered_map<std::string_view, NodeId> by_path_;  // the nodes own the text of the keys
  std::vector<NodeId> open_;                              // nodes still to be visited
  std::vector<NodeId> lost_;                              // parents of cgroups that were gone
  std::vector<NodeId> removed_;                           // reused memory
  // by node, during Settle: usage that may belong to unseen cgroups
  std::vector<Nanoseconds> held_back_;
  std::vector<Kept> kept_;  // accounts of removed nodes that were never read
  os::ReadBuffer buffer_;
  os::DirReader reader_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::activity
