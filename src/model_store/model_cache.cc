#include "model_store/model_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/small_file.h"
#include "base/unique_fd.h"
#include "model/sha256.h"
#include "os/dirents.h"

namespace kepler::model_store {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr size_t kKeyDigits = 32;

Status WriteAll(int fd, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return FailErrno("write", path);
    text.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

/// A crash leaves the old file or the new one.
Status WriteWhole(const std::string& temporary, const std::string& path, std::string_view text) {
  const UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.valid()) return FailErrno("write", temporary);
  Status written = WriteAll(file.get(), temporary, text);
  if (written && ::fsync(file.get()) != 0) written = FailErrno("write", temporary);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = FailErrno("write", path);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace

std::string ModelCache::PrefixOf(std::string_view key) { return model::Sha256(key).substr(0, kKeyDigits) + '-'; }

Result<std::string> ModelCache::Load(std::string_view key) const {
  if (directory_.empty()) return Fail(ErrorKind::kNotFound, "there is no cache");
  KEPLER_TRY(const std::vector<std::string> names, os::ListDir(directory_));
  const std::string prefix = PrefixOf(key);
  const auto found = std::ranges::find_if(
      names, [&](const std::string& name) { return name.starts_with(prefix) && name.ends_with(kSuffix); });
  if (found == names.end()) return Fail(ErrorKind::kNotFound, directory_ + ": nothing was kept of it");
  const std::string path = directory_ + '/' + *found;
  KEPLER_TRY(std::string text, ReadSmallFile(path, most_bytes_));
  if (*found != prefix + model::Sha256(text) + std::string(kSuffix))
    return Fail(ErrorKind::kMalformed, path + ": its content is not what was written, by the checksum in its name");
  return text;
}

Status ModelCache::Save(std::string_view key, std::string_view text) const {
  if (directory_.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(directory_, failed);
  if (failed) return Fail(KindOfErrno(failed.value()), fmt::format("make {}: {}", directory_, failed.message()));
  const std::string prefix = PrefixOf(key);
  const std::string name = prefix + model::Sha256(text) + std::string(kSuffix);
  KEPLER_CHECK_OK(WriteWhole(directory_ + '/' + prefix + "new", directory_ + '/' + name, text));
  KEPLER_TRY(const std::vector<std::string> names, os::ListDir(directory_));
  for (const std::string& old : names)
    if (old != name && old.starts_with(prefix)) ::unlink((directory_ + '/' + old).c_str());
  return {};
}

}  // namespace kepler::model_store
