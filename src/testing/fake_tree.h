#pragma once
// A temporary directory tree that stands for /proc or /sys. Removed with the object.
#include <string>
#include <string_view>

namespace kepler::testing {

class FakeTree {
 public:
  FakeTree();
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;
  ~FakeTree();

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string Path(std::string_view relative) const;
  /// Writes a file, with its parent directories; an existing one is truncated in place (same inode).
  void Write(std::string_view relative, std::string_view content);
  void MakeDir(std::string_view relative);
  void Symlink(std::string_view relative, std::string_view target);
  void Chmod(std::string_view relative, unsigned mode);
  /// Removes a file or a whole directory; absent is fine.
  void Remove(std::string_view relative);
  /// Replaces a directory by a new one with the same content: a new inode, as a reused pid has in /proc.
  void Reincarnate(std::string_view relative);

 private:
  std::string root_;
};

}  // namespace kepler::testing
