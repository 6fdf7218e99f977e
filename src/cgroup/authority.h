#pragma once
// Authority: who makes the names on a cgroup path, from its top down. For owner.cc only; pure but for
// TreeView::look_at.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cgroup/owner.h"

namespace kepler::cgroup {

/// Asked for the claims of a path in their order. An offset is that behind a component.
class Authority {
 public:
  /// Both must outlive it. Without a tree nobody asks: every prefix is "".
  Authority(std::string_view path, const TreeView* tree)
      : path_(path), tree_(tree), uid_(tree != nullptr ? tree->machine_uid : 0) {}

  /// The prefix of an id that the component claims which ends at `end`: by who could make it.
  [[nodiscard]] const std::string& Of(size_t end);
  /// The component that ends at `end` is a container: what is below it is made in it.
  void Enter(std::string_view id, size_t end);
  /// Whether the latest container is one that this process is in.
  [[nodiscard]] bool IsOurs() const;

 private:
  [[nodiscard]] size_t DirectoryEnd(size_t end) const;
  [[nodiscard]] std::optional<Directory> LookAt(std::string_view directory) const;
  void LookTo(size_t end);
  void EnterContainer();

  std::string_view path_;
  const TreeView* tree_;
  uint32_t uid_;
  size_t seen_ = 0;  // end of the last directory that was looked at
  bool shared_ = false;
  std::string prefix_;
  std::string container_;  // entered, but nothing was claimed in it yet
  size_t container_end_ = 0;
};

}  // namespace kepler::cgroup
