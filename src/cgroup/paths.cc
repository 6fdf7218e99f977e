#include "cgroup/paths.h"

#include <vector>

#include "base/parse.h"
#include "os/dirents.h"

namespace kepler::cgroup {
namespace {

/// Resolves "." and ".."; nothing if it climbs above the top. "" stands for "/".
std::optional<std::string> Normalise(std::string_view path) {
  std::string plain;
  Splitter parts(path, '/');
  while (const auto part = parts.Next()) {
    if (part->empty() || *part == ".") continue;
    if (*part != "..") {
      plain += '/';
      plain += *part;
    } else if (plain.empty()) {
      return std::nullopt;
    } else {
      plain.resize(plain.rfind('/'));
    }
  }
  return plain;
}

std::string_view WithoutSlash(std::string_view path) { return path == "/" ? std::string_view() : path; }

bool PathHolds(const std::string& dir, int32_t pid, os::ReadBuffer& buffer) {
  const auto fd = os::OpenDir(dir);
  return fd && Holds(fd->get(), pid, buffer);
}

/// Path below `top` ("" for itself) of the cgroup that holds `pid`.
std::optional<std::string> FindHolder(const std::string& top, int32_t pid) {
  os::ReadBuffer buffer;
  os::DirReader reader;
  std::vector<std::string> open{""};
  while (!open.empty()) {
    std::string path = std::move(open.back());  // not const: returned by a move
    open.pop_back();
    const auto fd = os::OpenDir(top + path);
    if (!fd) continue;
    if (Holds(fd->get(), pid, buffer)) return path;
    // A directory that vanishes meanwhile does not hold us.
    static_cast<void>(reader.ForEach(fd->get(), path, [&](const os::DirEntry& entry) {
      if (entry.is_dir) open.push_back(path + "/" + std::string(entry.name));
    }));
  }
  return std::nullopt;
}

}  // namespace

Paths Paths::Discover(const Tree& tree, std::string_view own_path, int32_t own_pid) {
  Paths paths;
  if (own_path.empty()) return paths;
  const std::string_view own = WithoutSlash(own_path);
  os::ReadBuffer buffer;
  if (PathHolds(tree.path + std::string(own), own_pid, buffer)) return paths;
  const auto found = FindHolder(tree.path, own_pid);
  if (found && found->ends_with(own)) {
    paths.namespace_root_ = found->substr(0, found->size() - own.size());
  } else if (found && own.ends_with(*found)) {
    paths.prefix_ = own.substr(0, own.size() - found->size());
  } else {
    paths.reliable_ = false;
  }
  return paths;
}

std::optional<std::string> Paths::NameOf(std::string_view path) const {
  auto name = Normalise(namespace_root_ + std::string(path));
  if (!name) return std::nullopt;
  if (!prefix_.empty()) {
    const bool inside =
        name->starts_with(prefix_) && (name->size() == prefix_.size() || (*name)[prefix_.size()] == '/');
    if (!inside) return std::nullopt;
  }
  if (name->empty()) name = "/";
  return name;
}

}  // namespace kepler::cgroup
