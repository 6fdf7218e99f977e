#include "export/push/request_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kepler::push {
namespace {

constexpr int kSafely = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

/// Opens `path`, a directory that nobody else may write to.
Result<UniqueFd> OpenDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return FailErrno("create", path);
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | kSafely));
  if (!directory.valid()) return FailErrno("open", path);
  struct stat status{};
  if (::fstat(directory.get(), &status) != 0) return FailErrno("stat", path);
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Fail(ErrorKind::kInvalid, fmt::format("other users may write to {}; name a new directory in it", path));
  return directory;
}

Result<UniqueFd> Lock(const UniqueFd& directory, const std::string& path) {
  UniqueFd lock(::openat(directory.get(), "lock", O_RDWR | O_CREAT | kSafely, 0600));
  if (!lock.valid()) return FailErrno("open", path + "/lock");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return Fail(ErrorKind::kUnavailable, path + " is in use by another agent or exporter");
  return FailErrno("lock", path + "/lock");
}

}  // namespace

RequestDirectory::RequestDirectory(std::string path) : path_(std::move(path)) {}

void RequestDirectory::Close() {
  lock_.Reset();
  directory_.Reset();
}

Status RequestDirectory::Open() {
  KEPLER_TRY(UniqueFd directory, OpenDirectory(path_));
  KEPLER_TRY(UniqueFd lock, Lock(directory, path_));
  directory_ = std::move(directory);
  lock_ = std::move(lock);
  return {};
}

}  // namespace kepler::push
