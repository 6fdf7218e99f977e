#include "export/push/request_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "base/file_place.h"
#include "base/small_file.h"

namespace kepler::push {
namespace {

constexpr std::string_view kTemporary = ".tmp";
constexpr int kSafely = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

/// Whether `status` is that of a directory which only this user may write to.
Status CheckStatus(const std::string& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return Fail(ErrorKind::kInvalid, path + " is a link; name the directory itself");
  if (!S_ISDIR(status.st_mode)) return Fail(ErrorKind::kInvalid, path + " is not a directory");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Fail(ErrorKind::kInvalid, fmt::format("{0} has mode {1:04o}, so other users may write to it; run chmod go-w "
                                                 "{0}, or name a new directory in it",
                                                 path, status.st_mode & 07777U));
  if (status.st_uid == ::geteuid()) return {};
  return Fail(ErrorKind::kPermission,
              fmt::format("{0} is owned by user {1}, but this process runs as user {2}; run it as "
                          "user {1}, run chown {2} {0}, or name a new directory in it",
                          path, status.st_uid, ::geteuid()));
}

/// Opens `path`, a directory that nobody else may write to.
Result<UniqueFd> OpenDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return FailErrno("create", path);
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | kSafely));
  if (!directory.valid()) return FailErrno("open", path);
  struct stat status{};
  if (::fstat(directory.get(), &status) != 0) return FailErrno("stat", path);
  KEPLER_CHECK_OK(CheckStatus(path, status));
  return directory;
}

Result<UniqueFd> Lock(const UniqueFd& directory, const std::string& path) {
  UniqueFd lock(::openat(directory.get(), "lock", O_RDWR | O_CREAT | kSafely, 0600));
  if (!lock.valid()) return FailErrno("open", path + "/lock");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return Fail(ErrorKind::kUnavailable, path + " is in use by another agent or exporter");
  return FailErrno("lock", path + "/lock");
}

/// As FailErrno, for a file of the directory. Links are refused; the lack of descriptors or memory is not of the file.
std::unexpected<Error> FailFile(std::string_view operation, std::string_view path) {
  const int error = errno;
  auto failed = FailErrno(operation, path, error);
  if (error == ELOOP) failed.error().kind = ErrorKind::kPermission;
  if (error == EMFILE || error == ENFILE || error == ENOMEM) failed.error().kind = ErrorKind::kUnavailable;
  return failed;
}

/// Reads up to `size` bytes from `offset` on.
Result<std::string> ReadAt(const UniqueFd& file, const std::string& path, size_t size, uint64_t offset) {
  std::string text(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file.get(), text.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailFile("read", path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  text.resize(done);
  return text;
}

}  // namespace

Status CheckDirectory(const std::string& given) {
  const std::string path = WithoutEndSlashes(given);
  KEPLER_TRY(const auto found, LookAtPlace(path));
  if (!found) return {};
  KEPLER_CHECK_OK(CheckStatus(path, *found));
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) return FailErrno("write to", path);
  return {};
}

struct RequestDirectory::OpenedFile {
  UniqueFd file;
  FileHeader header;
  std::optional<Error> error{};  // why the body cannot be sent
};

RequestDirectory::RequestDirectory(std::string path, std::string encoding)
    : path_(WithoutEndSlashes(std::move(path))), encoding_(std::move(encoding)) {}

void RequestDirectory::Close() {
  lock_.Reset();
  directory_.Reset();
}

Result<StoredRequests> RequestDirectory::Open() {
  KEPLER_TRY(UniqueFd directory, OpenDirectory(path_));
  KEPLER_TRY(UniqueFd lock, Lock(directory, path_));
  directory_ = std::move(directory);
  lock_ = std::move(lock);
  const auto numbers = Numbers();
  if (!numbers) {
    Close();
    return std::unexpected(numbers.error());
  }
  StoredRequests stored;
  for (const uint64_t number : *numbers) {
    const auto opened = OpenFile(number);
    if (opened && !opened->error) {
      stored.requests.push_back({.number = number, .points = opened->header.points, .bytes = opened->header.body_size});
      continue;
    }
    if (!opened && opened.error().kind == ErrorKind::kUnavailable) {
      Close();
      return std::unexpected(opened.error());
    }
    stored.broken.push_back({.number = number,
                             .points = opened ? opened->header.points : 0,
                             .error = opened ? *opened->error : opened.error()});
    if (IsUseless(stored.broken.back().error)) static_cast<void>(Remove(number));
  }
  return stored;
}

/// Numbers of all requests, sorted. Removes temporary files.
Result<std::vector<uint64_t>> RequestDirectory::Numbers() const {
  UniqueFd list(::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | kSafely));
  if (!list.valid()) return FailErrno("open", path_);
  const std::unique_ptr<DIR, Freer<::closedir>> entries(::fdopendir(list.get()));
  if (!entries) return FailErrno("read", path_);
  static_cast<void>(list.Release());  // closed by closedir()
  std::vector<uint64_t> numbers;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr && errno != 0) return FailErrno("read", path_);
    if (entry == nullptr) break;
    std::string_view name(entry->d_name);
    if (const auto number = FileNumber(name)) {
      numbers.push_back(*number);
    } else if (name.ends_with(kTemporary)) {
      name.remove_suffix(kTemporary.size());
      if (FileNumber(name)) static_cast<void>(::unlinkat(directory_.get(), entry->d_name, 0));
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

Result<RequestDirectory::OpenedFile> RequestDirectory::OpenFile(uint64_t number) const {
  const std::string path = PathOf(number);
  UniqueFd file(::openat(directory_.get(), FileName(number).c_str(), O_RDONLY | kSafely));
  if (!file.valid()) return FailFile("open", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return FailFile("stat", path);
  if (!S_ISREG(status.st_mode)) return Fail(ErrorKind::kInvalid, path + " is not a regular file");
  KEPLER_TRY(const std::string begin, ReadAt(file, path, kMaxFileHeader, 0));
  auto header = ParseHeader(begin);
  if (!header) return Fail(header.error().kind, fmt::format("{}: {}", path, header.error().message));
  OpenedFile opened{.file = std::move(file), .header = *std::move(header)};
  const uint64_t size = static_cast<uint64_t>(status.st_size) - opened.header.size();
  if (opened.header.encoding != encoding_)
    opened.error = Error{ErrorKind::kInvalid, fmt::format("{}: the encoding is \"{}\", not \"{}\"", path,
                                                          opened.header.encoding, encoding_)};
  else if (size != opened.header.body_size)
    opened.error =
        Error{ErrorKind::kMalformed, fmt::format("{}: {} bytes instead of {}", path, size, opened.header.body_size)};
  return opened;
}

Result<Request> RequestDirectory::Read(uint64_t number) const {
  KEPLER_TRY(const OpenedFile opened, OpenFile(number));
  if (opened.error) return std::unexpected(*opened.error);
  KEPLER_TRY(std::string body, ReadAt(opened.file, PathOf(number), opened.header.body_size, opened.header.size()));
  if (body.size() != opened.header.body_size || Crc32(body) != opened.header.body_crc)
    return Fail(ErrorKind::kMalformed, PathOf(number) + ": the checksum is wrong");
  return Request{.body = std::make_shared<const std::string>(std::move(body)), .points = opened.header.points};
}

Status RequestDirectory::WriteFile(const std::string& name, const Request& request) {
  const std::string path = path_ + "/" + name;
  UniqueFd file(::openat(directory_.get(), name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | kSafely, 0600));
  if (!file.valid()) return FailErrno("create", path);
  KEPLER_CHECK_OK(WriteAll(file.get(), path,
                           WriteHeader({.points = request.points,
                                        .body_size = request.body->size(),
                                        .body_crc = Crc32(*request.body),
                                        .encoding = encoding_})));
  KEPLER_CHECK_OK(WriteAll(file.get(), path, *request.body));
  if (::close(file.Release()) != 0) return FailErrno("close", path);  // of a full NFS server
  return {};
}

Status RequestDirectory::Write(uint64_t number, const Request& request) {
  if (number > kMaxFileNumber) return Fail(ErrorKind::kInvalid, path_ + " has the largest possible number");
  const std::string name = FileName(number);
  const std::string temporary = name + std::string(kTemporary);
  Status written = WriteFile(temporary, request);
  if (written && ::renameat(directory_.get(), temporary.c_str(), directory_.get(), name.c_str()) != 0)
    written = FailErrno("rename", path_ + "/" + temporary);
  if (!written) static_cast<void>(::unlinkat(directory_.get(), temporary.c_str(), 0));
  return written;
}

Status RequestDirectory::Remove(uint64_t number) {
  if (::unlinkat(directory_.get(), FileName(number).c_str(), 0) == 0) return {};
  return FailErrno("remove", PathOf(number));
}

}  // namespace kepler::push
