#pragma once
// CgroupDirectory: which cgroup an id means. The kernel names cgroups by id (the inode of their directory); labels need
// paths. The trees are walked once; from then on the kernel reports each cgroup that is made or removed, and an id
// that nobody knows makes it walk again. What was removed is known for a while longer: records of its last tasks come
// late. Collection thread only.
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

/// Where a task is: kernfs ids in the v2 hierarchy and in that of v1's cpuacct; 0 where there is none.
struct CgroupIds {
  uint64_t unified = 0;
  uint64_t cpuacct = 0;
  bool operator==(const CgroupIds&) const = default;
};

class CgroupDirectory {
 public:
  /// For so long a removed cgroup is known, and a membership that nobody holds or asks for.
  static constexpr Nanoseconds kKept = std::chrono::minutes(1);

  /// `own`: the membership of this process.
  CgroupDirectory(const cgroup::Trees& trees, const os::CgroupLines& own);

  /// Begins a scan: forgets what was removed, and what nobody has asked for, long enough ago.
  void BeginScan(BootTime now);
  /// Reads the whole of both trees, if that was not done in this scan. What is not there any more counts as removed.
  void Walk();

  void Made(uint32_t hierarchy, uint64_t id, std::string_view path);
  void Removed(uint32_t hierarchy, uint64_t id);

  /// The membership of tasks with these ids; walks if one of them is new. Where the trees do not show them (a part of
  /// the tree is mounted, or none), `fallback` may say what /proc/PID/cgroup of a task in them says; the answer is
  /// kept.
  /// The answer (never null) lives until the next look at least, the reference to it until the next call.
  using Fallback = std::function<std::optional<os::CgroupLines>()>;
  [[nodiscard]] const cgroup::MembershipPtr& Find(const CgroupIds& ids, const Fallback& fallback = nullptr);

  /// The hierarchy whose cgroups account CPU time: that of v1's cpuacct, else v2 (0).
  [[nodiscard]] uint32_t accounted_hierarchy() const { return cpuacct_.place ? cpuacct_.hierarchy : 0; }
  /// Cgroups that exist.
  [[nodiscard]] std::span<const cgroup::CgroupPtr> living() const;

 private:
  struct Known {
    cgroup::CgroupPtr cgroup;
    uint64_t walk = 0;  // the latest walk that met it
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
    cgroup::MembershipPtr
        kept;  // the same, for kKept after `used`: others hold it too (the audit), as long as it is here
    BootTime used{};
    bool complete = false;  // every id was known
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
  std::vector<cgroup::MembershipPtr> replaced_;  // in this scan, by one that says more
  uint64_t walks_ = 0;
  bool walked_ = false;  // in this scan
  BootTime now_{};
  mutable std::vector<cgroup::CgroupPtr> living_;  // listed when it is asked for
  mutable bool living_changed_ = true;
};

}  // namespace kepler::activity::bpf
