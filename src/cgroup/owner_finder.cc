#include "cgroup/owner_finder.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace kepler::cgroup {
namespace {

std::optional<Directory> LookAt(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const bool shared = (status.st_mode & S_IWOTH) != 0 || ((status.st_mode & S_IWGRP) != 0 && status.st_gid != 0);
  return Directory{.uid = status.st_uid, .shared = shared};
}

/// Finds the mount of a v1 hierarchy below `dir`: "name=systemd" in "systemd", "cpu,cpuacct" also in "cpu".
std::optional<Tree> V1Tree(const std::string& dir, std::string_view controllers) {
  constexpr std::string_view kNamed = "name=";
  if (controllers.starts_with(kNamed)) controllers.remove_prefix(kNamed.size());
  for (const std::string_view name : {controllers, controllers.substr(0, controllers.find(','))}) {
    std::string path = dir + '/' + std::string(name);
    if (LookAt(path)) return Tree{.version = Version::kCpuacct, .path = std::move(path)};
  }
  return std::nullopt;
}

}  // namespace

OwnerFinder::OwnerFinder(Trees trees, os::CgroupLines own, int32_t own_pid)
    : trees_(std::move(trees)), own_(std::move(own)), own_pid_(own_pid) {}

Owner OwnerFinder::OfProcess(const os::CgroupLines& lines) {
  const size_t naming = NamingLine(lines);
  if (naming == lines.size()) return {};
  return Judge(HierarchyOf(lines[naming].controllers), lines[naming].path, PathsOf::kProcesses);
}

Owner OwnerFinder::OfCgroup(Version version, std::string_view path) {
  if (OwnerOfPath(path) == Owner{}) return {};
  const bool unified = version == Version::kUnified;
  const auto line = std::ranges::find_if(
      own_, [&](const os::CgroupLine& own) { return !unified && os::HasController(own.controllers, "cpuacct"); });
  const std::string_view controllers = line == own_.end() ? "cpuacct" : std::string_view(line->controllers);
  return Judge(HierarchyOf(unified ? std::string_view() : controllers), path, PathsOf::kTrees);
}

Owner OwnerFinder::Judge(const Hierarchy& hierarchy, std::string_view path, PathsOf paths) {
  TreeView view{.machine_uid = hierarchy.machine_uid, .own_path = hierarchy.own_path};
  const std::string& prefix = hierarchy.paths.prefix();
  std::optional<std::string> name = std::string(path);
  if (paths == PathsOf::kProcesses)
    name = hierarchy.paths.NameOf(path);
  else if (!path.starts_with(prefix))
    name = prefix + *name;
  if (!name) return OwnerOfPath(path, view);
  if (hierarchy.tree)
    view.look_at = [&](std::string_view directory) -> std::optional<Directory> {
      if (directory.size() < prefix.size()) return std::nullopt;
      return LookAt(hierarchy.tree->path + std::string(directory.substr(prefix.size())));
    };
  return OwnerOfPath(*name, view);
}

const OwnerFinder::Hierarchy& OwnerFinder::HierarchyOf(std::string_view controllers) {
  const auto known = std::ranges::find(hierarchies_, controllers, &Hierarchy::controllers);
  return known != hierarchies_.end() ? *known : hierarchies_.emplace_back(Discover(controllers));
}

OwnerFinder::Hierarchy OwnerFinder::Discover(std::string_view controllers) const {
  Hierarchy found{.controllers = std::string(controllers), .tree = TreeOf(controllers), .paths = {}, .own_path = {}};
  const auto own = std::ranges::find(own_, controllers, &os::CgroupLine::controllers);
  const std::string_view own_path = own == own_.end() ? std::string_view() : std::string_view(own->path);
  if (found.tree) {
    found.paths = Paths::Discover(*found.tree, own_path, own_pid_);
    if (const auto top = LookAt(found.tree->path)) found.machine_uid = top->uid;
  }
  found.own_path = found.paths.NameOf(own_path).value_or("");
  if (!found.paths.reliable()) found.tree.reset();
  return found;
}

std::optional<Tree> OwnerFinder::TreeOf(std::string_view controllers) const {
  if (controllers.empty()) return trees_.unified;
  if (os::HasController(controllers, "cpuacct")) return trees_.cpuacct;
  return trees_.v1_dir.empty() ? std::nullopt : V1Tree(trees_.v1_dir, controllers);
}

}  // namespace kepler::cgroup
