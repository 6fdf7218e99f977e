#pragma once
// Result<T>: the return type of every fallible call in the project. Errors contain the operation, its object and the
// reason.
// std::expected without its monadic members (libstdc++ 12 lacks them); use KEPLER_TRY for the common "or return".
#include <cerrno>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace kepler {

enum class ErrorKind : uint8_t {
  kNotFound,     // vanished or never existed: often normal (a process ended)
  kGone,         // the device behind an open file was removed (ENODEV): rediscover devices
  kPermission,   // EACCES, EPERM: the message contains the capability that helps
  kMalformed,    // bytes that do not parse
  kIo,           // any other failure of the operating system
  kInvalid,      // an invalid request or configuration
  kUnavailable,  // not available on this machine, or not at this time
  kTimeout       // no response in time
};

struct Error {
  ErrorKind kind = ErrorKind::kIo;
  std::string message;  // operation, path, reason; no trailing newline
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return std::unexpected<Error>(Error{kind, std::move(message)});
}

/// Returns "open /proc/1/exe: Permission denied", with the kind for the errno.
[[nodiscard]] std::unexpected<Error> FailErrno(std::string_view operation, std::string_view path, int err = errno);

/// Returns the kind for an errno: ENOENT and ESRCH are kNotFound, ENODEV and ENXIO kGone, EACCES and EPERM kPermission.
ErrorKind KindOfErrno(int err);

}  // namespace kepler

#define KEPLER_CONCAT_INNER(a, b) a##b
#define KEPLER_CONCAT(a, b) KEPLER_CONCAT_INNER(a, b)
/// KEPLER_TRY(auto text, ReadFile(path)): binds the value, or returns the error from the enclosing function.
#define KEPLER_TRY(declaration, expression)                                          \
  auto KEPLER_CONCAT(kepler_try_, __LINE__) = (expression);                          \
  if (!KEPLER_CONCAT(kepler_try_, __LINE__))                                         \
    return std::unexpected(std::move(KEPLER_CONCAT(kepler_try_, __LINE__)).error()); \
  declaration = *std::move(KEPLER_CONCAT(kepler_try_, __LINE__))
/// KEPLER_CHECK_OK(Validate(x)): returns the error of a Status, continues otherwise.
#define KEPLER_CHECK_OK(expression) \
  if (auto kepler_status = (expression); !kepler_status) return std::unexpected(std::move(kepler_status).error())
