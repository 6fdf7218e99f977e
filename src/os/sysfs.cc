#include "os/sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "base/unique_fd.h"

namespace kepler::os {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

}  // namespace

Result<std::vector<std::string>> ListDir(const std::string& path) {
  const std::unique_ptr<DIR, CloseDir> dir(::opendir(path.c_str()));
  if (!dir) return FailErrno("list", path);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return FailErrno("list", path);
  std::ranges::sort(names);
  return names;
}

Result<std::string> ReadHead(const std::string& path, size_t most) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return FailErrno("open", path);
  std::string text(most, '\0');
  size_t used = 0;
  while (used < most) {
    const ssize_t got = ::read(fd.get(), text.data() + used, most - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read", path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  text.resize(used);
  return text;
}

Result<std::string_view> ReadAttribute(const std::string& path, ReadBuffer& buffer) {
  KEPLER_TRY(const std::string_view text, ReadFileAt(AT_FDCWD, path.c_str(), buffer));
  return Trim(text);
}

std::unexpected<Error> FailMalformed(std::string_view path, std::string_view text, std::string_view expected) {
  constexpr size_t kShown = 40;
  return Fail(ErrorKind::kMalformed,
              fmt::format("read {}: \"{}\" is not {}", path, SanitizeUtf8(text, kShown), expected));
}

}  // namespace kepler::os
