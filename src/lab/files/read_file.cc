#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/small_file.h"
#include "base/unique_fd.h"
#include "lab/files/files.h"

namespace kepler::lab::files {
namespace {

Result<UniqueFd> Open(const std::string& path, int flags) {
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file.valid()) return FailErrno("open", path);
  return file;
}

std::unexpected<Error> TooLarge(std::string_view path, size_t max) {
  return Fail(ErrorKind::kInvalid, fmt::format("{}: larger than the maximum of {} MiB", path, max >> 20));
}

/// Whether somebody has written to the pipe, or left it again, within `patience`.
bool HasWriter(int pipe, std::chrono::milliseconds patience) {
  pollfd waited{.fd = pipe, .events = POLLIN, .revents = 0};
  int ready = 0;
  do ready = ::poll(&waited, 1, static_cast<int>(patience.count()));
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// A terminal is read where it is standard input, by whatever name: of others nobody may ever type a line.
bool IsOwnTerminal(int file, const struct stat& status) {
  struct stat input{};
  return ::isatty(file) == 1 && ::fstat(STDIN_FILENO, &input) == 0 && S_ISCHR(input.st_mode) &&
         input.st_rdev == status.st_rdev;
}

}  // namespace

Result<std::string> ReadBounded(const std::string& path, size_t max, std::chrono::milliseconds patience) {
  // A pipe is opened whether anybody writes to it or not.
  KEPLER_TRY(const UniqueFd file,
             path == "-" ? UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) : Open(path, O_RDONLY | O_NONBLOCK));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return FailErrno("read", path);
  if (S_ISDIR(status.st_mode)) return FailErrno("read", path, EISDIR);
  if ((S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) && !IsOwnTerminal(file.get(), status))
    return InFile(path, {ErrorKind::kInvalid, "a device; use a file or a pipe"});
  if (S_ISREG(status.st_mode) && std::cmp_greater(status.st_size, max)) return TooLarge(path, max);
  const bool is_silent = path != "-" && S_ISFIFO(status.st_mode) && !HasWriter(file.get(), patience);
  if (path != "-" && ::fcntl(file.get(), F_SETFL, O_RDONLY) != 0) return FailErrno("read", path);
  std::string text;
  std::vector<char> piece(size_t{1} << 20);
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read", path);
    if (got == 0 && is_silent && text.empty()) return InFile(path, {ErrorKind::kInvalid, "a pipe without a writer"});
    if (got == 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
    if (text.size() > max) return TooLarge(path, max);
  }
}

Result<std::string> ReadSecret(const std::string& path) {
  constexpr size_t kMax = size_t{1} << 20;
  KEPLER_TRY(const std::string text, ReadBounded(path, kMax));
  return InFile(path, SecretIn(text));
}

std::unexpected<Error> InFile(std::string_view path, const Error& error) {
  return Fail(error.kind, fmt::format("{}: {}", path == "-" ? "standard input" : path, error.message));
}

}  // namespace kepler::lab::files
