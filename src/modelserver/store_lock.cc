#include "modelserver/store_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"

namespace kepler::modelserver {
namespace {

constexpr std::chrono::milliseconds kPause{20};  // between two attempts
constexpr size_t kMaxHolder = 256;

std::string HolderIn(const std::string& path) {
  const auto text = ReadSmallFile(path, kMaxHolder);
  return text && !Trim(*text).empty() ? EscapeControls(Trim(*text)) : "another process";
}

/// kTimeout if another process has the lock for longer than `patience`.
Status Lock(int fd, const std::string& path, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return FailErrno("lock", path);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= std::chrono::milliseconds(0))
      return Fail(ErrorKind::kTimeout, fmt::format("{} is publishing this model and has the lock {}; try again later",
                                                   HolderIn(path), path));
    std::this_thread::sleep_for(std::min(left, kPause));
  }
  return {};
}

}  // namespace

Result<StoreLock> StoreLock::Take(const std::string& root, std::string_view name, std::string_view holder,
                                  std::chrono::milliseconds patience) {
  const std::filesystem::path path = std::filesystem::path(root) / ".locks" / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return FailErrno("create", path.parent_path().string(), error.value());
  constexpr mode_t kMode = 0644;
  // The file stays: if the holder removed it, two processes could lock two files of the same name.
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kMode));
  if (fd.get() < 0) return FailErrno("open", path.string());
  KEPLER_CHECK_OK(Lock(fd.get(), path.string(), patience));
  if (ftruncate(fd.get(), 0) != 0) return FailErrno("write", path.string());
  KEPLER_CHECK_OK(WriteAll(fd.get(), path.string(), fmt::format("{} (process {})\n", holder, getpid())));
  return StoreLock(std::move(fd));
}

}  // namespace kepler::modelserver
