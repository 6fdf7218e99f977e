#include "testing/fake_tree.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace kepler::testing {
namespace fs = std::filesystem;

namespace {

/// Memory, where there is such a file system: some tests write thousands of files.
fs::path Parent() {
  const fs::path memory = "/dev/shm";
  return access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
}

}  // namespace

FakeTree::FakeTree() {
  std::string pattern = (Parent() / "kepler-tree-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
  root_ = pattern;
}

FakeTree::~FakeTree() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string FakeTree::Path(std::string_view relative) const { return root_ + "/" + std::string(relative); }

void FakeTree::Write(std::string_view relative, std::string_view content) {
  const fs::path path = Path(relative);
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("write " + path.string());
}

void FakeTree::MakeDir(std::string_view relative) { fs::create_directories(Path(relative)); }

void FakeTree::Symlink(std::string_view relative, std::string_view target) {
  const fs::path path = Path(relative);
  fs::create_directories(path.parent_path());
  fs::remove(path);
  fs::create_symlink(target, path);
}

void FakeTree::Chmod(std::string_view relative, unsigned mode) {
  if (chmod(Path(relative).c_str(), mode) != 0) throw std::runtime_error("chmod " + Path(relative));
}

void FakeTree::Remove(std::string_view relative) { fs::remove_all(Path(relative)); }

void FakeTree::Reincarnate(std::string_view relative) {
  const fs::path path = Path(relative);
  const fs::path copy = path.string() + ".next";
  fs::copy(path, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove_all(path);
  fs::rename(copy, path);
}

}  // namespace kepler::testing
