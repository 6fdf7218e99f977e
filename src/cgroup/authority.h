#pragma once
// Authority: who makes the names on a cgroup path, from the top down. For owner.cc only. Pure, except for
// TreeView::look_at.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cgroup/owner.h"

namespace kepler::cgroup {

/// Is asked for each claim of a path, from the top down. `end`: offset behind the component.
class Authority {
 public:
  /// Both must outlive it. Without a tree every prefix is "".
  Authority(std::string_view path, const TreeView* tree)
      : path_(path), tree_(tree), uid_(tree != nullptr ? tree->machine_uid : 0) {}

  /// The prefix for an id that this component claims.
  [[nodiscard]] const std::string& Of(size_t end);
  /// This component is a container with this id. The container makes the claims below it.
  void Enter(std::string_view id, size_t end);
  /// Whether this process runs in the latest container.
  [[nodiscard]] bool IsOurs() const;

 private:
  [[nodiscard]] size_t DirectoryEnd(size_t end) const;
  [[nodiscard]] std::optional<Directory> LookAt(std::string_view directory) const;
  void LookTo(size_t end);
  void EnterContainer();

  std::string_view path_;
  const TreeView* tree_;
  uint32_t uid_;
  size_t seen_ = 0;      // end of the last directory that was looked at
  bool shared_ = false;  // whether that directory is
  std::string prefix_;
  std::string container_;  // entered, but without a claim in it so far
  size_t container_end_ = 0;
};

}  // namespace kepler::cgroup
