#include "base/result.h"

#include <fmt/format.h>

#include <system_error>

namespace kepler {

ErrorKind KindOfErrno(int err) {
  switch (err) {
    case ENOENT:
    case ESRCH:
    case ENOTDIR:
      return ErrorKind::kNotFound;
    case ENODEV:
    case ENXIO:
      return ErrorKind::kGone;
    case EACCES:
    case EPERM:
      return ErrorKind::kPermission;
    default:
      return ErrorKind::kIo;
  }
}

std::unexpected<Error> FailErrno(std::string_view operation, std::string_view path, int err) {
  return Fail(KindOfErrno(err), fmt::format("{} {}: {}", operation, path, std::generic_category().message(err)));
}

}  // namespace kepler
