#pragma once
// CgroupDirectory: maps kernel cgroup ids to paths. A cgroup id is the inode of the cgroup's directory; labels need
// paths. The trees are walked once. Afterwards the kernel reports each cgroup that is created or removed. An unknown id
// causes another walk. A removed cgroup stays known for kKept, because records of its last tasks are delayed.
// Collection thread only.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.h"
#include "cgroup/cgroup.h"
#include "cgroup/owner_finder.h"
#include "cgroup/tree.h"

namespace kepler::activity::bpf {

/// Cgroup of a task: kernfs ids in the v2 hierarchy and in v1's cpuacct hierarchy; 0 if the task has none.
struct CgroupIds {
  uint64_t unified = 0;
  uint64_t cpuacct = 0;
  bool operator==(const CgroupIds&) const = default;
};

class CgroupDirectory {
 public:
  /// Time for which a removed cgroup, or an unused membership, stays known.
  static constexpr Nanoseconds kKept = std::chrono::minutes(1);

  /// `own`: the membership of this process.
  CgroupDirectory(const cgroup::Trees& trees, const os::CgroupLines& own);

  /// Begins a scan. Drops cgroups that were removed, and memberships that were last used, at least kKept ago.
  void BeginScan(BootTime now);
  /// Reads both trees completely, at most once per scan. A cgroup that is not found counts as removed.
  void Walk();

  void Made(uint32_t hierarchy, uint64_t id, std::string_view path);
  void Removed(uint32_t hierarchy, uint64_t id);

  /// Returns the membership of tasks with these ids, and walks the trees if an id is new. If the trees do not show the
  /// ids (only a part is mounted, or no tree), `fallback` may return the lines of /proc/PID/cgroup. That result is
  /// cached.
  /// The membership is never null and lives at least until the next lookup. The reference is valid until the next call.
  using Fallback = std::function<std::optional<os::CgroupLines>()>;
  [[nodiscard]] const cgroup::MembershipPtr& Find(const CgroupIds& ids, const Fallback& fallback = nullptr);

  /// The hierarchy that accounts CPU time: v1's cpuacct if it exists, otherwise v2 (0).
  [[nodiscard]] uint32_t accounted_hierarchy() const { return cpuacct_.place ? cpuacct_.hierarchy : 0; }
  /// Cgroups that exist.
  [[nodiscard]] std::span<const cgroup::CgroupPtr> living() const;

 private:
  struct Known {
    cgroup::CgroupPtr cgroup;
    uint64_t walk = 0;  // latest walk that found it
    std::optional<BootTime> removed;
  };
  struct Tree {
    std::optional<cgroup::Tree> place;
    uint32_t hierarchy = 0;
    std::string controllers;
    std::unordered_map<uint64_t, Known> cgroups;
  };
  struct Answer {
    std::weak_ptr<const cgroup::Membership> membership;
    cgroup::MembershipPtr kept;  // the same membership, held for kKept after `used`: the audit relies on it
    BootTime used{};
    bool complete = false;  // every id was resolved
  };
  struct HashIds {
    size_t operator()(const CgroupIds& ids) const noexcept;
  };

  Tree* TreeOf(uint32_t hierarchy);
  void WalkTree(Tree& tree);
  void Add(Tree& tree, uint64_t id, std::string path);
  [[nodiscard]] bool Knows(const CgroupIds& ids) const;
  [[nodiscard]] os::CgroupLines LinesOf(const CgroupIds& ids) const;
  [[nodiscard]] cgroup::Owner OwnerOf(const CgroupIds& ids, const os::CgroupLines& lines) const;
  static const cgroup::Cgroup* CgroupOf(const Tree& tree, uint64_t id);

  cgroup::OwnerFinder owners_;
  Tree unified_;
  Tree cpuacct_;
  boost::unordered_flat_map<CgroupIds, Answer, HashIds> answers_;
  std::vector<cgroup::MembershipPtr> replaced_;  // memberships replaced in this scan by more complete ones
  uint64_t walks_ = 0;
  bool walked_ = false;  // true if a walk ran in this scan
  BootTime now_{};
  mutable std::vector<cgroup::CgroupPtr> living_;  // built on request
  mutable bool living_changed_ = true;
};

}  // namespace kepler::activity::bpf
