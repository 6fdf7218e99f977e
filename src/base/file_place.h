#pragma once
// Checks of paths at which a program will make a file or directory. Nothing is created.
#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace kepler {

/// Returns the status of what is at `path`, without following a link, or nothing if the process may create a file
/// there. Errors: kInvalid for a path that can never be used (relative, too long, or below a file), kNotFound for a
/// missing parent directory, others as FailErrno.
[[nodiscard]] Result<std::optional<struct stat>> LookAtPlace(const std::string& path);

/// Returns `path` without slashes at its end: with them, the system would follow a link.
[[nodiscard]] std::string WithoutEndSlashes(std::string path);

}  // namespace kepler
