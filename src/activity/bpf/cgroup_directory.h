#pragma once
// CgroupDirectory: which cgroup an id means. The kernel names cgroups by id (the inode of their directory); labels need
// paths. The trees are walked once; from then on the kernel tells of each cgroup that is made or removed, and an id
// that nobody knows makes it walk again. What was removed is known for a while longer: records of its last tasks come
// late. Collection thread only.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "activity/activity_source.h"
#include "base/clock.h"
#include "cgroup/tree.h"
#include "os/process_info.h"

namespace kepler::activity::bpf {

/// Where a task is: kernfs ids in the v2 hierarchy and in that of v1's cpuacct; 0 where there is none.
struct CgroupIds {
  uint64_t unified = 0;
  uint64_t cpuacct = 0;
  bool operator==(const CgroupIds&) const = default;
};

using SharedMembership = std::shared_ptr<const os::CgroupMembership>;

class CgroupDirectory {
 public:
  /// For so long a removed cgroup is known, and a membership that nobody asks for.
  static constexpr Nanoseconds kKept = std::chrono::minutes(1);

  /// `own`: any membership of this machine, for the names of its v1 hierarchies.
  CgroupDirectory(const cgroup::Trees& trees, const os::CgroupMembership& own);

  /// Begins a look: forgets what was removed long enough ago. Appends the numbers that are free from now on.
  void BeginLook(BootTime now, std::vector<uint32_t>& gone_cgroups, std::vector<uint32_t>& gone_memberships);
  /// Reads the whole of both trees, if that was not done in this look. What is not there any more counts as removed.
  void Walk();

  void Made(uint32_t hierarchy, uint64_t id, std::string_view path);
  void Removed(uint32_t hierarchy, uint64_t id);

  /// The membership of tasks with these ids; walks if one of them is new. Where the trees do not show them (a part of
  /// the tree is mounted, or none), `fallback` may say what /proc/PID/cgroup of a task in them says; the answer is
  /// kept.
  using Fallback = std::function<std::optional<os::CgroupMembership>()>;
  [[nodiscard]] uint32_t Find(const CgroupIds& ids, const Fallback& fallback = nullptr);
  [[nodiscard]] const SharedMembership& operator[](uint32_t membership) const { return memberships_[membership].lines; }

  /// The hierarchy whose cgroups account CPU time: that of v1's cpuacct, else v2 (0).
  [[nodiscard]] uint32_t accounted_hierarchy() const { return cpuacct_.place ? cpuacct_.hierarchy : 0; }
  /// Cgroups that exist.
  [[nodiscard]] std::span<const LivingCgroup> living();

 private:
  struct Cgroup {
    std::string path;
    uint32_t number = 0;
    uint64_t walk = 0;  // the latest walk that met it
    std::optional<BootTime> removed;
  };
  struct Tree {
    std::optional<cgroup::Tree> place;
    uint32_t hierarchy = 0;
    std::string controllers;
    std::unordered_map<uint64_t, Cgroup> cgroups;  // whose paths stay where they are: living() has views of them
  };
  struct MembershipEntry {
    CgroupIds ids;
    SharedMembership lines;  // null: free
    BootTime used{};
  };
  struct HashIds {
    size_t operator()(const CgroupIds& ids) const noexcept;
  };

  Tree* TreeOf(uint32_t hierarchy);
  void WalkTree(Tree& tree);
  void Add(Tree& tree, uint64_t id, std::string path);
  void Forget(Tree& tree, std::vector<uint32_t>& gone_cgroups);
  [[nodiscard]] bool Knows(const CgroupIds& ids) const;
  uint32_t NewNumber();
  [[nodiscard]] os::CgroupMembership LinesOf(const CgroupIds& ids) const;
  static const Cgroup* CgroupOf(const Tree& tree, uint64_t id);

  Tree unified_;
  Tree cpuacct_;
  std::vector<MembershipEntry> memberships_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> replaced_;  // by a number that says more; free from the next look on
  boost::unordered_flat_map<CgroupIds, uint32_t, HashIds> by_ids_;
  uint32_t next_number_ = 1;
  uint64_t walks_ = 0;
  bool walked_ = false;  // in this look
  BootTime now_{};
  std::vector<LivingCgroup> living_;
  bool living_changed_ = true;
};

}  // namespace kepler::activity::bpf
