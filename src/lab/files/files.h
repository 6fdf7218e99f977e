#pragma once
// Files as people name them: whole files, bounded; results appear whole or not at all.
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::lab::files {

/// Of a table of measurements: millions of rows.
inline constexpr size_t kMaxDataBytes = size_t{1} << 30;

/// Reads all of `path`, which may be a pipe; "-" is standard input. Errors name the path. kInvalid for more than `max`
/// bytes, for devices except the terminal of standard input, and for a named pipe without a writer within `patience`. A
/// writer, like standard input, is waited for without limit.
[[nodiscard]] Result<std::string> ReadBounded(const std::string& path, size_t max,
                                              std::chrono::milliseconds patience = std::chrono::seconds(5));

/// As ReadSecretFile(), also from a pipe or standard input. Other errors as ReadBounded().
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

/// CheckWritable(), and that the file does not replace one of `inputs`: files, directories of models, or empty.
[[nodiscard]] Status CheckOutput(const std::string& path, std::initializer_list<std::string> inputs);

/// Makes missing directories, and renames each file to its path once all files are on the disk. Files that are not
/// regular (standard output, a pipe, an open file in /dev/fd) are written directly, before that. A symbolic link as the
/// file is kInvalid, except in /dev and /proc: nothing is ever written through it. After an error no regular file has
/// changed; if one of the final renames fails, the error names the files that are in place already. kInvalid for a
/// named pipe without a reader within `patience`; a reader is waited for without limit.
[[nodiscard]] Status WriteFiles(std::span<const OutputFile> files,
                                std::chrono::milliseconds patience = std::chrono::seconds(5));

/// The same for one file.
[[nodiscard]] Status WriteFile(const std::string& path, std::string text);

}  // namespace kepler::lab::files
