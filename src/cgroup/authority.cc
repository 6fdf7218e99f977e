#include "cgroup/authority.h"

#include <algorithm>

#include "base/parse.h"

namespace kepler::cgroup {
namespace {

/// Returns the user that systemd delegates a cgroup of this name to.
std::optional<uint32_t> UserOf(std::string_view component) {
  constexpr std::string_view kPrefix = "user@";
  constexpr std::string_view kSuffix = ".service";
  if (!component.starts_with(kPrefix) || !component.ends_with(kSuffix)) return std::nullopt;
  component.remove_prefix(kPrefix.size());
  component.remove_suffix(kSuffix.size());
  return ParseNumber<uint32_t>(component);
}

/// Returns the prefix for claims below a container. Its processes cannot choose its id, so 12 digits are enough.
std::string_view ShortId(std::string_view id) {
  constexpr size_t kHexId = 64;
  constexpr size_t kShort = 12;
  return id.size() == kHexId && id.find_first_not_of("0123456789abcdefABCDEF") == id.npos ? id.substr(0, kShort) : id;
}

}  // namespace

const std::string& Authority::Of(size_t end) {
  if (tree_ == nullptr) return prefix_;
  EnterContainer();
  const auto parent_end = path_.rfind('/', end - 1);
  LookTo(parent_end == std::string_view::npos ? 0 : parent_end);
  if (shared_) LookTo(DirectoryEnd(end));
  return prefix_;
}

void Authority::Enter(std::string_view id, size_t end) {
  container_ = ShortId(id);
  container_end_ = DirectoryEnd(end);
}

bool Authority::IsOurs() const {
  if (tree_ == nullptr) return true;
  return IsAtOrBelow(tree_->own_path, path_.substr(0, container_end_));
}

/// Returns the end of the directory's name. In "a.slice:docker:ID" one directory has several components.
size_t Authority::DirectoryEnd(size_t end) const { return std::min(path_.find('/', end), path_.size()); }

std::optional<Directory> Authority::LookAt(std::string_view directory) const {
  if (auto seen = tree_->look_at ? tree_->look_at(directory) : std::nullopt) return seen;
  const auto user = UserOf(directory.substr(directory.rfind('/') + 1));
  return user ? std::optional(Directory{.uid = *user, .shared = false}) : std::nullopt;
}

void Authority::LookTo(size_t end) {
  while (seen_ < end) {
    seen_ = DirectoryEnd(seen_ + 1);
    const auto directory = LookAt(path_.substr(0, seen_));
    shared_ = directory && directory->shared;
    // The owner of a directory may replace what root creates in it.
    if (!directory || directory->uid == uid_ || directory->uid == tree_->machine_uid) continue;
    uid_ = directory->uid;
    prefix_ += "uid" + std::to_string(uid_) + '/';
  }
}

/// The directory of a container may belong to the user that is root in the container.
void Authority::EnterContainer() {
  if (container_.empty()) return;
  if (const auto directory = LookAt(path_.substr(0, container_end_))) {
    uid_ = directory->uid;
    shared_ = directory->shared;
  }
  seen_ = std::max(seen_, container_end_);
  if (!IsOurs()) prefix_ += container_ + '/';
  container_.clear();
}

}  // namespace kepler::cgroup
