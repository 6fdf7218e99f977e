#include "base/file_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kepler {

Result<std::optional<struct stat>> LookAtPlace(const std::string& path) {
  // A service and a shell have different working directories.
  if (!path.starts_with('/'))
    return Fail(ErrorKind::kInvalid, fmt::format("\"{}\" is a relative path; write an absolute path", path));
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) return status;
  if (errno == ENAMETOOLONG)
    return Fail(ErrorKind::kInvalid, path + " is too long for the file system; write a shorter name");
  if (errno != ENOENT && errno != ENOTDIR) return FailErrno("look at", path);
  const std::string parent = WithoutEndSlashes(path.substr(0, path.rfind('/') + 1));
  const bool exists = ::stat(parent.c_str(), &status) == 0;
  if (exists ? !S_ISDIR(status.st_mode) : errno == ENOTDIR)
    return Fail(ErrorKind::kInvalid, parent + " is not a directory");
  if (!exists && errno == ENOENT)
    return Fail(ErrorKind::kNotFound, fmt::format("directory {0} does not exist; run mkdir -p {0}", parent));
  if (!exists || ::faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return FailErrno("write to", parent);
  return std::nullopt;
}

std::string WithoutEndSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace kepler
