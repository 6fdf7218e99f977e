#include "activity/bpf/cgroup_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "os/dirents.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::activity::bpf {

size_t CgroupDirectory::HashIds::operator()(const CgroupIds& ids) const noexcept {
  return boost::hash<uint64_t>{}(ids.unified * 0x9E3779B97F4A7C15ULL + ids.cpuacct);
}

CgroupDirectory::CgroupDirectory(const cgroup::Trees& trees, const os::CgroupMembership& own) {
  unified_.place = trees.unified;
  cpuacct_.place = trees.cpuacct;
  for (const os::CgroupLine& line : own.lines) {
    if (!os::HasController(line.controllers, "cpuacct")) continue;
    cpuacct_.hierarchy = static_cast<uint32_t>(line.hierarchy);
    cpuacct_.controllers = line.controllers;
  }
  if (cpuacct_.controllers.empty()) cpuacct_.controllers = "cpuacct";
}

void CgroupDirectory::BeginLook(BootTime now, std::vector<uint32_t>& gone_cgroups,
                                std::vector<uint32_t>& gone_memberships) {
  now_ = now;
  walked_ = false;
  for (const uint32_t number : std::exchange(replaced_, {})) {
    memberships_[number] = {};
    free_.push_back(number);
    gone_memberships.push_back(number);
  }
  Forget(unified_, gone_cgroups);
  Forget(cpuacct_, gone_cgroups);
  for (uint32_t number = 0; number < memberships_.size(); ++number) {
    MembershipEntry& entry = memberships_[number];
    if (!entry.lines || now_ - entry.used < kKept) continue;
    by_ids_.erase(entry.ids);
    entry = {};
    free_.push_back(number);
    gone_memberships.push_back(number);
  }
}

void CgroupDirectory::Forget(Tree& tree, std::vector<uint32_t>& gone_cgroups) {
  for (auto it = tree.cgroups.begin(); it != tree.cgroups.end();) {
    const auto& [id, cgroup] = *it;
    if (cgroup.removed && now_ - *cgroup.removed >= kKept) {
      gone_cgroups.push_back(cgroup.number);
      it = tree.cgroups.erase(it);
    } else {
      ++it;
    }
  }
}

void CgroupDirectory::Walk() {
  if (std::exchange(walked_, true)) return;
  ++walks_;
  WalkTree(unified_);
  WalkTree(cpuacct_);
}

void CgroupDirectory::WalkTree(Tree& tree) {
  if (!tree.place) return;
  const auto root = os::OpenDir(tree.place->path);
  // Not readable now: what is known stays.
  if (!root) return;
  os::DirReader reader;
  std::vector<std::string> open{""};
  while (!open.empty()) {
    const std::string path = std::exchange(open.back(), {});
    open.pop_back();
    const auto dir = path.empty() ? os::OpenDir(tree.place->path) : os::OpenDirAt(root->get(), path.c_str() + 1);
    struct stat status = {};
    if (!dir || ::fstat(dir->get(), &status) != 0) continue;  // vanished meanwhile
    Add(tree, status.st_ino, path.empty() ? "/" : path);
    static_cast<void>(reader.ForEach(dir->get(), path, [&](const os::DirEntry& entry) {
      if (entry.is_dir) open.push_back(path + "/" + std::string(entry.name));
    }));
  }
  for (auto& [id, cgroup] : tree.cgroups) {
    if (cgroup.walk == walks_ || cgroup.removed) continue;
    cgroup.removed = now_;
    living_changed_ = true;
  }
}

void CgroupDirectory::Add(Tree& tree, uint64_t id, std::string path) {
  const auto [it, fresh] = tree.cgroups.try_emplace(id);
  Cgroup& cgroup = it->second;
  cgroup.walk = walks_;
  if (!fresh && !cgroup.removed && !cgroup.path.empty()) return;
  if (fresh) cgroup.number = next_number_++;
  cgroup.path = std::move(path);
  cgroup.removed.reset();
  living_changed_ = true;
}

CgroupDirectory::Tree* CgroupDirectory::TreeOf(uint32_t hierarchy) {
  if (hierarchy == 0) return &unified_;
  return cpuacct_.place && hierarchy == cpuacct_.hierarchy ? &cpuacct_ : nullptr;
}

void CgroupDirectory::Made(uint32_t hierarchy, uint64_t id, std::string_view path) {
  Tree* const tree = TreeOf(hierarchy);
  if (tree != nullptr && !path.empty()) Add(*tree, id, std::string(path));
}

void CgroupDirectory::Removed(uint32_t hierarchy, uint64_t id) {
  Tree* const tree = TreeOf(hierarchy);
  if (tree == nullptr) return;
  const auto it = tree->cgroups.find(id);
  if (it == tree->cgroups.end() || it->second.removed) return;
  it->second.removed = now_;
  living_changed_ = true;
}

const CgroupDirectory::Cgroup* CgroupDirectory::CgroupOf(const Tree& tree, uint64_t id) {
  const auto it = tree.cgroups.find(id);
  return it == tree.cgroups.end() ? nullptr : &it->second;
}

bool CgroupDirectory::Knows(const CgroupIds& ids) const {
  return (!unified_.place || ids.unified == 0 || CgroupOf(unified_, ids.unified) != nullptr) &&
         (!cpuacct_.place || ids.cpuacct == 0 || CgroupOf(cpuacct_, ids.cpuacct) != nullptr);
}

os::CgroupMembership CgroupDirectory::LinesOf(const CgroupIds& ids) const {
  os::CgroupMembership membership;
  if (const Cgroup* cgroup = CgroupOf(cpuacct_, ids.cpuacct); cgroup != nullptr)
    membership.lines.push_back({static_cast<int>(cpuacct_.hierarchy), cpuacct_.controllers, cgroup->path, ids.cpuacct});
  if (const Cgroup* cgroup = CgroupOf(unified_, ids.unified); cgroup != nullptr)
    membership.lines.push_back({0, "", cgroup->path, ids.unified});
  return membership;
}

uint32_t CgroupDirectory::NewNumber() {
  if (free_.empty()) {
    memberships_.emplace_back();
    return static_cast<uint32_t>(memberships_.size() - 1);
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

uint32_t CgroupDirectory::Find(const CgroupIds& ids, const Fallback& fallback) {
  const auto known = by_ids_.find(ids);
  if (known != by_ids_.end()) {
    MembershipEntry& entry = memberships_[known->second];
    entry.used = now_;
    if (!entry.lines->lines.empty() || (!fallback && !Knows(ids))) return known->second;
  }
  if (!Knows(ids)) Walk();
  auto lines = LinesOf(ids);
  if (lines.lines.empty() && fallback) {
    if (auto told = fallback()) lines = *std::move(told);
  }
  if (known != by_ids_.end()) {
    if (lines.lines.empty()) return known->second;
    replaced_.push_back(known->second);
  }
  const uint32_t number = NewNumber();
  by_ids_.insert_or_assign(ids, number);
  memberships_[number] = {ids, std::make_shared<const os::CgroupMembership>(std::move(lines)), now_};
  return number;
}

std::span<const LivingCgroup> CgroupDirectory::living() {
  if (!std::exchange(living_changed_, false)) return living_;
  living_.clear();
  for (const Tree* tree : {&cpuacct_, &unified_}) {
    for (const auto& [id, cgroup] : tree->cgroups) {
      if (!cgroup.removed) living_.push_back({.cgroup = cgroup.number, .path = cgroup.path});
    }
  }
  return living_;
}

}  // namespace kepler::activity::bpf
