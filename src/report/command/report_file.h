#pragma once
// Writes the reports of `kepler run` and `kepler report`.
#include <cstdio>
#include <string>

#include "base/result.h"

namespace kepler::report::command {

/// Returns the error that WriteReport() would return for a link, a directory, a pipe without a reader, or a directory
/// that is missing or read-only. Call it before long work.
[[nodiscard]] Status CheckReportPath(const std::string& path);

/// Writes `text` to the file `path`, or to `stream` if the path is empty. A file is replaced as a whole and
/// keeps its mode (ReplaceFile). After an error it is unchanged. /dev/stdout, /dev/stderr, /dev/fd/N and
/// /proc/self/fd/N are the open files of the process, which are continued. Any other symbolic link is kInvalid: nothing
/// is written through it. A full disk and a pipe without a reader are errors.
[[nodiscard]] Status WriteReport(const std::string& path, std::FILE* stream, const std::string& text);

}  // namespace kepler::report::command
