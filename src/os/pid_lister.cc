#include "os/pid_lister.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "os/file.h"

namespace kepler::os {

Result<PidLister> PidLister::Open(const std::string& procfs) {
  KEPLER_TRY(UniqueFd dir, OpenDir(procfs));
  return PidLister(std::move(dir), procfs);
}

Status PidLister::List(std::vector<ListedPid>& out) {
  out.clear();
  bool ascending = true;
  KEPLER_CHECK_OK(reader_.ForEach(dir_.get(), path_, [&](const DirEntry& entry) {
    if (entry.name.front() < '1' || entry.name.front() > '9') return;
    const auto pid = ParseNumber<int32_t>(entry.name);
    if (!pid) return;
    if (!out.empty() && out.back().pid >= *pid) ascending = false;
    out.push_back({.pid = *pid, .inode = entry.inode});
  }));
  if (ascending) return {};
  std::ranges::sort(out, {}, &ListedPid::pid);
  const auto twins = std::ranges::unique(out, {}, &ListedPid::pid);
  out.erase(twins.begin(), twins.end());
  return {};
}

}  // namespace kepler::os
