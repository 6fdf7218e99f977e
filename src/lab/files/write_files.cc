#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/small_file.h"
#include "base/unique_fd.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"

namespace kepler::lab::files {
namespace {

namespace fs = std::filesystem;

/// What the path leads to, to compare it with others.
fs::path Resolved(const std::string& path) {
  std::error_code failed;
  const fs::path target = fs::weakly_canonical(path, failed);
  return failed ? fs::path(path) : target;
}

fs::path DirectoryOf(const std::string& path) {
  fs::path directory = fs::path(path).parent_path();
  return directory.empty() ? fs::path(".") : directory;
}

/// Whether the kernel or the system made the links there: /dev/stdout, and /dev/fd/63 of a shell's >(...).
bool IsOfTheSystem(const std::string& path) {
  std::error_code failed;
  const std::string directory = fs::canonical(DirectoryOf(path), failed).string() + '/';
  return !failed && (directory == "/dev/" || directory.starts_with("/proc/"));
}

/// A link in place of the file is refused: somebody else may have put it there to have another file overwritten. Links
/// on the way to its directory are followed, by the kernel's own rules (fs.protected_symlinks).
Status CheckNoLink(const std::string& path) {
  std::error_code failed;
  if (path == "-" || !fs::is_symlink(path, failed) || IsOfTheSystem(path)) return {};
  const std::string target = fs::read_symlink(path, failed).string();
  return Fail(
      ErrorKind::kInvalid,
      fmt::format("cannot write {}: it is a symbolic link to {}; name that file, or remove the link", path, target));
}

bool IsWrittenDirectly(const std::string& path) {
  std::error_code failed;
  if (path == "-") return true;
  if (fs::is_symlink(path, failed) && !IsOfTheSystem(path)) return false;  // and is refused
  const fs::file_status status = fs::status(path, failed);
  if (fs::is_regular_file(status)) return fs::is_symlink(path, failed);  // an open file, such as /dev/stdout
  return fs::exists(status) && !fs::is_directory(status);
}

/// By whatever name: opened once more, a file would have another place to write at.
bool IsStandardOutput(const std::string& path) {
  struct stat named{}, output{};
  return path == "-" || (::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &output) == 0 &&
                         named.st_dev == output.st_dev && named.st_ino == output.st_ino);
}

/// What is no regular file, to write to. A pipe is opened once a program reads it: else the open itself would wait.
Result<UniqueFd> OpenDirectly(const std::string& path, std::chrono::milliseconds patience) {
  if (IsStandardOutput(path)) return UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  constexpr std::chrono::milliseconds kLook{20};
  const int no_link = IsOfTheSystem(path) ? 0 : O_NOFOLLOW;  // that has come since CheckNoLink()
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | no_link));
    const int why = errno;
    if (file.valid() && ::fcntl(file.get(), F_SETFL, O_APPEND) != 0) return FailErrno("write", path);
    if (file.valid()) return file;
    std::error_code failed;
    if (why != ENXIO || !fs::is_fifo(path, failed)) return FailErrno("open", path, why);
    if (std::chrono::steady_clock::now() >= end) return InFile(path, {ErrorKind::kInvalid, "a pipe without a reader"});
    std::this_thread::sleep_for(kLook);
  }
}

/// Calls `make` with names in the directory of `target` until one is free. Returns that name. A file that a killed
/// program left behind is not in the way.
template <class Make>
Result<std::string> MakeTemporary(const std::string& target, const Make& make) {
  constexpr int kMaxTries = 1000;
  for (int i = 0; i < kMaxTries; ++i) {
    std::string name = DirectoryOf(target) / fmt::format(".kepler-model.{}.{}.tmp", ::getpid(), i);
    if (make(name)) return name;
    if (errno != EEXIST) return FailErrno("write", target);
  }
  return FailErrno("write", target, EEXIST);
}

/// A path to the open file that linkat() can follow.
std::string LinkTo(const UniqueFd& file) { return fmt::format("/proc/self/fd/{}", file.get()); }

/// Files without a name, if the file system has them, else temporary files next to their final paths, and the
/// directories made for them. Removes what was not committed. If the program is killed, files without a name vanish.
class Staging {
 public:
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    for (const Staged& staged : staged_)
      if (!staged.temporary.empty()) ::unlink(staged.temporary.c_str());
    for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().c_str());  // only if empty
  }

  Status Add(const OutputFile& file) {
    KEPLER_CHECK_OK(CheckNoLink(file.path));
    std::error_code failed;
    if (fs::is_directory(file.path, failed)) return FailErrno("write", file.path, EISDIR);
    KEPLER_CHECK_OK(MakeDirectory(DirectoryOf(file.path)));
    KEPLER_TRY(UniqueFd out, OpenTemporary(file.path));
    KEPLER_CHECK_OK(WriteAll(out.get(), file.path, file.text));
    if (::fsync(out.get()) != 0) return FailErrno("write", file.path);
    if (staged_.back().temporary.empty()) staged_.back().unnamed = std::move(out);
    return {};
  }

  /// A rename replaces a link that has come meanwhile, and does not follow it.
  Status Commit() {
    std::string placed;
    for (; !staged_.empty(); staged_.pop_back()) {
      if (const Status done = Place(staged_.back()); !done) {
        if (placed.empty()) return done;
        return Fail(done.error().kind, fmt::format("{}; already written:{}", done.error().message, placed));
      }
      placed += fmt::format(" {}", staged_.back().target);
    }
    made_.clear();
    return {};
  }

 private:
  struct Staged {
    std::string target;
    std::string temporary{};  // its name so far; empty: none
    UniqueFd unnamed{};
  };

  Result<UniqueFd> OpenTemporary(const std::string& target) {
    constexpr size_t kMaxUnnamed = 100;  // each is an open file
    Staged& staged = staged_.emplace_back(Staged{.target = target});
    UniqueFd file;
    if (staged_.size() <= kMaxUnnamed)
      file = UniqueFd(::open(DirectoryOf(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (file.valid() && ::access(LinkTo(file).c_str(), F_OK) == 0) return file;
    KEPLER_TRY(staged.temporary, MakeTemporary(target, [&file](const std::string& name) {
                 file = UniqueFd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
                 return file.valid();
               }));
    return file;
  }

  static Status Place(Staged& staged) {
    if (staged.temporary.empty()) {
      // linkat() replaces no file, so the file gets a temporary name first.
      const auto link = [from = LinkTo(staged.unnamed)](const std::string& name) {
        return ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
      };
      KEPLER_TRY(staged.temporary, MakeTemporary(staged.target, link));
    }
    if (::rename(staged.temporary.c_str(), staged.target.c_str()) != 0) return FailErrno("write", staged.target);
    return {};
  }

  Status MakeDirectory(const fs::path& directory) {
    std::error_code failed;
    if (directory.empty() || fs::exists(directory, failed)) return {};
    KEPLER_CHECK_OK(MakeDirectory(directory.parent_path()));
    if (::mkdir(directory.c_str(), 0777) != 0) return FailErrno("make directory", directory.string());
    made_.push_back(directory);
    return {};
  }

  std::vector<Staged> staged_;
  std::vector<std::string> made_;  // parents first
};

}  // namespace

Status CheckWritable(const std::string& path) {
  if (path.empty()) return Fail(ErrorKind::kInvalid, "the name of the output file is empty");
  KEPLER_CHECK_OK(CheckNoLink(path));
  if (IsWrittenDirectly(path)) return {};
  std::error_code failed;
  if (path.ends_with('/') || fs::is_directory(path, failed)) return FailErrno("write", path, EISDIR);
  fs::path directory = DirectoryOf(path);
  while (directory != directory.parent_path() && !fs::exists(directory, failed))
    directory = DirectoryOf(directory.string());
  if (!fs::is_directory(directory, failed)) return FailErrno("write", path, ENOTDIR);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return FailErrno("write", path);
  return {};
}

Status CheckFile(const std::string& path) {
  KEPLER_CHECK_OK(CheckNoLink(path));
  if (path != "-" && IsWrittenDirectly(path))
    return InFile(path, {ErrorKind::kInvalid, "a pipe or a device; use a file"});
  return CheckWritable(path);
}

Status CheckDistinct(std::span<const std::string> paths) {
  for (size_t i = 0; i < paths.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (!IsWrittenDirectly(paths[i]) && Resolved(paths[i]) == Resolved(paths[k]))
        return Fail(ErrorKind::kInvalid,
                    fmt::format("{} and {} are the same file; use another output", paths[k], paths[i]));
  return {};
}

Status CheckOutput(const std::string& path, std::initializer_list<std::string> inputs) {
  KEPLER_CHECK_OK(CheckWritable(path));
  for (const std::string& input : inputs)
    for (const char* const file : {"", kModelFile, kCardFile})
      if (!input.empty()) KEPLER_CHECK_OK(CheckDistinct(std::array{fmt::format("{}{}", input, file), path}));
  return {};
}

Status WriteFiles(std::span<const OutputFile> files, std::chrono::milliseconds patience) {
  Staging staging;
  for (const OutputFile& file : files)
    if (!IsWrittenDirectly(file.path)) KEPLER_CHECK_OK(staging.Add(file));
  for (const OutputFile& file : files) {
    if (!IsWrittenDirectly(file.path)) continue;
    KEPLER_TRY(const UniqueFd out, OpenDirectly(file.path, patience));
    KEPLER_CHECK_OK(WriteAll(out.get(), file.path == "-" ? "standard output" : file.path, file.text));
  }
  return staging.Commit();
}

Status WriteFile(const std::string& path, std::string text) {
  const OutputFile file{path, std::move(text)};
  return WriteFiles({&file, 1});
}

}  // namespace kepler::lab::files
