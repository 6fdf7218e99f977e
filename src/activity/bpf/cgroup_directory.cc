#include "activity/bpf/cgroup_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "os/procfs.h"

namespace kepler::activity::bpf {

size_t CgroupDirectory::HashIds::operator()(const CgroupIds& ids) const noexcept {
  return boost::hash<uint64_t>{}(ids.unified * 0x9E3779B97F4A7C15ULL + ids.cpuacct);
}

CgroupDirectory::CgroupDirectory(const cgroup::Trees& trees, const os::CgroupLines& own)
    : owners_(trees, own, ::getpid()) {
  unified_.place = trees.unified;
  cpuacct_.place = trees.cpuacct;
  for (const os::CgroupLine& line : own) {
    if (!os::HasController(line.controllers, "cpuacct")) continue;
    cpuacct_.hierarchy = static_cast<uint32_t>(line.hierarchy);
    cpuacct_.controllers = line.controllers;
  }
  if (cpuacct_.controllers.empty()) cpuacct_.controllers = "cpuacct";
}

void CgroupDirectory::BeginScan(BootTime now) {
  now_ = now;
  walked_ = false;
  replaced_.clear();
  for (Tree* tree : {&unified_, &cpuacct_})
    std::erase_if(tree->cgroups,
                  [&](const auto& known) { return known.second.removed && now_ - *known.second.removed >= kKept; });
  for (auto& [ids, answer] : answers_)
    if (now_ - answer.used >= kKept) answer.kept.reset();
  boost::unordered::erase_if(answers_, [](const auto& answer) { return answer.second.membership.expired(); });
}

void CgroupDirectory::Walk() {
  if (std::exchange(walked_, true)) return;
  ++walks_;
  WalkTree(unified_);
  WalkTree(cpuacct_);
}

void CgroupDirectory::WalkTree(Tree& tree) {
  if (!tree.place) return;
  const bool open = cgroup::Walk(*tree.place, [&](const std::string& path, int dir) {
    struct stat status = {};
    if (::fstat(dir, &status) == 0) Add(tree, status.st_ino, path.empty() ? "/" : path);
    return true;
  });
  if (!open) return;  // unreadable now: known cgroups stay
  for (auto& [id, known] : tree.cgroups) {
    if (known.walk == walks_ || known.removed) continue;
    known.removed = now_;
    living_changed_ = true;
  }
}

void CgroupDirectory::Add(Tree& tree, uint64_t id, std::string path) {
  const auto [it, fresh] = tree.cgroups.try_emplace(id);
  Known& known = it->second;
  known.walk = walks_;
  if (!fresh && !known.removed) return;
  if (fresh || known.cgroup->path != path) {
    const auto version = &tree == &unified_ ? cgroup::Version::kUnified : cgroup::Version::kCpuacct;
    cgroup::Owner owner = owners_.OfCgroup(version, path);
    known.cgroup = std::make_shared<const cgroup::Cgroup>(std::move(path), std::move(owner));
  }
  known.removed.reset();
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

const cgroup::Cgroup* CgroupDirectory::CgroupOf(const Tree& tree, uint64_t id) {
  const auto it = tree.cgroups.find(id);
  return it == tree.cgroups.end() ? nullptr : it->second.cgroup.get();
}

bool CgroupDirectory::Knows(const CgroupIds& ids) const {
  return (!unified_.place || ids.unified == 0 || CgroupOf(unified_, ids.unified) != nullptr) &&
         (!cpuacct_.place || ids.cpuacct == 0 || CgroupOf(cpuacct_, ids.cpuacct) != nullptr);
}

os::CgroupLines CgroupDirectory::LinesOf(const CgroupIds& ids) const {
  os::CgroupLines lines;
  if (const cgroup::Cgroup* cgroup = CgroupOf(cpuacct_, ids.cpuacct); cgroup != nullptr)
    lines.push_back({static_cast<int>(cpuacct_.hierarchy), cpuacct_.controllers, cgroup->path, ids.cpuacct});
  if (const cgroup::Cgroup* cgroup = CgroupOf(unified_, ids.unified); cgroup != nullptr)
    lines.push_back({0, "", cgroup->path, ids.unified});
  return lines;
}

/// Returns the owner found when the cgroup was first seen. The cgroup's directory may be gone by now.
cgroup::Owner CgroupDirectory::OwnerOf(const CgroupIds& ids, const os::CgroupLines& lines) const {
  const size_t naming = cgroup::NamingLine(lines);
  if (naming == lines.size()) return {};
  const bool unified = lines[naming].hierarchy == 0;
  return CgroupOf(unified ? unified_ : cpuacct_, unified ? ids.unified : ids.cpuacct)->owner;
}

const cgroup::MembershipPtr& CgroupDirectory::Find(const CgroupIds& ids, const Fallback& fallback) {
  Answer& answer = answers_[ids];
  if (!answer.kept) answer.kept = answer.membership.lock();
  answer.used = now_;
  if (answer.kept) {
    const bool says_something = !answer.kept->lines.empty();
    if (answer.complete || ((says_something || !fallback) && !Knows(ids))) return answer.kept;
  }
  if (!Knows(ids)) Walk();
  auto lines = LinesOf(ids);
  cgroup::Owner owner = OwnerOf(ids, lines);
  if (lines.empty() && fallback) {
    lines = fallback().value_or(os::CgroupLines());
    owner = owners_.OfProcess(lines);
  }
  answer.complete = Knows(ids) && !lines.empty();
  if (answer.kept) {
    if (lines.empty() || lines == answer.kept->lines) return answer.kept;
    replaced_.push_back(answer.kept);  // a sample may already point to the old membership
  }
  answer.kept = std::make_shared<const cgroup::Membership>(std::move(lines), std::move(owner));
  answer.membership = answer.kept;
  return answer.kept;
}

std::span<const cgroup::CgroupPtr> CgroupDirectory::living() const {
  if (!std::exchange(living_changed_, false)) return living_;
  living_.clear();
  for (const Tree* tree : {&cpuacct_, &unified_}) {
    for (const auto& [id, known] : tree->cgroups)
      if (!known.removed) living_.push_back(known.cgroup);
  }
  return living_;
}

}  // namespace kepler::activity::bpf
