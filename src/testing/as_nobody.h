#pragma once
// For tests of file permissions: root may read every file.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"

namespace kepler::testing {

/// Returns the answer of `ask` in a child process of user nobody, whose parent directories of files must let all users
/// in. Without root, calls it directly.
template <class Ask>
std::string AsNobody(const Ask& ask) {
  constexpr uid_t kNobody = 65'534;
  if (::geteuid() != 0) return ask();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "pipe failed";
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0 ? ask() : "setuid failed";
    const ssize_t written = ::write(out.get(), text.data(), text.size());
    ::_exit(written < 0 ? 1 : 0);
  }
  out.Reset();
  std::string text(4'096, '\0');
  const ssize_t got = ::read(in.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  ::waitpid(child, nullptr, 0);
  return text;
}

}  // namespace kepler::testing
