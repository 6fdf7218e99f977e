#pragma once
// Authority: finds out which user or container made each directory of a cgroup path, from the top down. For owner.cc
// only. Pure, except for TreeView::look_at.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cgroup/owner.h"

namespace kepler::cgroup {

/// Call the functions for each claim on a path, from the top down. `end`: offset behind the component with the claim.
class Authority {
 public:
  /// `path` and `tree` must outlive the object. If `tree` is null, every prefix is "".
  Authority(std::string_view path, const TreeView* tree)
      : path_(path), tree_(tree), uid_(tree != nullptr ? tree->machine_uid : 0) {}

  /// Prefix of an id that this component claims: the authority (cgroup/owner.h).
  [[nodiscard]] const std::string& Of(size_t end);
  /// Notes that this component is the container `id`. Claims below it belong to the container.
  void Enter(std::string_view id, size_t end);
  /// Returns true if the agent itself runs in the container of the latest Enter().
  [[nodiscard]] bool IsOurs() const;

 private:
  [[nodiscard]] size_t DirectoryEnd(size_t end) const;
  [[nodiscard]] std::optional<Directory> LookAt(std::string_view directory) const;
  void LookTo(size_t end);
  void EnterContainer();

  std::string_view path_;
  const TreeView* tree_;
  uint32_t uid_;
  size_t seen_ = 0;      // end of the last directory that was checked
  bool shared_ = false;  // Directory::shared of that directory
  std::string prefix_;
  std::string container_;  // of the latest Enter(); "" after the first claim below it
  size_t container_end_ = 0;
};

}  // namespace kepler::cgroup
