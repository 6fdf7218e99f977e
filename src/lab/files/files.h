#pragma once
// Files as people name them: whole files, bounded; results appear whole or not at all.
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::lab::files {

/// Of a table of measurements: millions of rows.
inline constexpr size_t kMaxDataBytes = size_t{1} << 30;

/// The whole of `path`, which may be a pipe; "-" is standard input. Errors name the path; kInvalid for more than `max`
/// bytes, for devices (but the terminal that is standard input), of which most have no end, and for a named pipe that
/// nobody writes to within `patience`. Once there is a writer it is waited for, as for standard input.
[[nodiscard]] Result<std::string> ReadBounded(const std::string& path, size_t max,
                                              std::chrono::milliseconds patience = std::chrono::seconds(5));

/// The one line of `path`, a password or token, without the line end; `path` may be a pipe. kInvalid if the file is
/// empty or has several lines; else as ReadBounded(). Errors name the path and do not quote the text.
[[nodiscard]] Result<std::string> ReadSecret(const std::string& path);

/// `error` with the file that it is about; "-" is standard input.
[[nodiscard]] std::unexpected<Error> InFile(std::string_view path, const Error& error);
/// `result`, its error with the file.
template <class T>
[[nodiscard]] Result<T> InFile(std::string_view path, Result<T> result) {
  if (!result) return InFile(path, result.error());
  return result;
}

struct OutputFile {
  std::string path;  // "-" is standard output
  std::string text;
};

/// Whether WriteFiles() can be expected to work there: asked before work that takes long.
[[nodiscard]] Status CheckWritable(const std::string& path);
/// That, and that it is to be a regular file, or "-": of what is read again by its name.
[[nodiscard]] Status CheckFile(const std::string& path);

/// That no two of them are the same file. What is no regular file may be there twice.
[[nodiscard]] Status CheckDistinct(std::span<const std::string> paths);

/// Makes the directories that are missing and puts each file in its place once all of them are on the disk. What is no
/// regular file (standard output, a pipe, an open file by /dev/fd) is written to before that, as it is. A symbolic link
/// in place of the file is kInvalid, but for those of /dev and /proc: nothing is ever written through it. After an
/// error nothing of the regular files is there, and what was there before still is; only where the last step, a rename
/// of each, fails in between does the error name those that are in place already. kInvalid for a named pipe that nobody
/// reads within `patience`; once there is a reader it is waited for.
[[nodiscard]] Status WriteFiles(std::span<const OutputFile> files,
                                std::chrono::milliseconds patience = std::chrono::seconds(5));

/// The same for one file.
[[nodiscard]] Status WriteFile(const std::string& path, std::string text);

}  // namespace kepler::lab::files
