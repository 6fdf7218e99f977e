#include "lab/files/secret_file.h"

#include "base/parse.h"
#include "lab/files/files.h"

namespace kepler::lab::files {

Result<std::string> ReadSecret(const std::string& path) {
  constexpr size_t kMost = size_t{1} << 20;
  KEPLER_TRY(std::string text, ReadBounded(path, kMost));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (Trim(text).empty()) return InFile(path, {ErrorKind::kInvalid, "it is empty"});
  if (text.contains('\n'))
    return InFile(path, {ErrorKind::kInvalid, "it has more than one line; the password or token must be alone there"});
  return text;
}

}  // namespace kepler::lab::files
