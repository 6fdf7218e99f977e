#pragma once
// Small sysfs attributes: one value per file. Paths are whole; nothing is kept open.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "base/result.h"
#include "os/file.h"

namespace kepler::os {

/// The names in a directory, sorted by bytes, without "." and "..". Errors: as FailErrno.
[[nodiscard]] Result<std::vector<std::string>> ListDir(const std::string& path);

/// The first `most` bytes of a file that may be longer than kMaxFileBytes (/proc/cpuinfo of a large machine).
[[nodiscard]] Result<std::string> ReadHead(const std::string& path, size_t most);

/// The text of an attribute without the white space around it. The view lives in `buffer`.
[[nodiscard]] Result<std::string_view> ReadAttribute(const std::string& path, ReadBuffer& buffer);

/// "read PATH: "text" is not …" with at most 40 bytes of the text, as valid UTF-8.
[[nodiscard]] std::unexpected<Error> FailMalformed(std::string_view path, std::string_view text,
                                                   std::string_view expected);

/// An attribute that is one whole number.
template <class T>
[[nodiscard]] Result<T> ReadNumber(const std::string& path, ReadBuffer& buffer) {
  KEPLER_TRY(const std::string_view text, ReadAttribute(path, buffer));
  if (const auto value = ParseNumber<T>(text)) return *value;
  return FailMalformed(path, text, "a whole number in range");
}

}  // namespace kepler::os
