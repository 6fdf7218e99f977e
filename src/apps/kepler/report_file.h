#pragma once
// Where `kepler run` and `kepler report` write their reports.
#include <cstdio>
#include <string>

#include "base/result.h"

namespace kepler::agent {

/// Writes `text` to the file `path`, or to `stream` if the path is empty. A file is replaced as a whole and
/// keeps its mode (ReplaceFile), or stays as it was. A symbolic link is kInvalid, except in /dev and /proc: nothing is
/// written through it. A full disk is an error.
[[nodiscard]] Status WriteReport(const std::string& path, std::FILE* stream, const std::string& text);

}  // namespace kepler::agent
