#pragma once
// Checks that stay in release builds. Use them for conditions that no input can cause, and after which no value can be
// trusted.
#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace kepler {

[[noreturn]] inline void CheckFailed(const char* what, const std::source_location& where) {
  std::fprintf(stderr, "kepler: %s:%u: check failed: %s\n", where.file_name(), where.line(), what);
  std::abort();
}

/// Ends the program with a core dump if `holds` is false. `what`: the condition that must hold.
inline void Check(bool holds, const char* what, const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    CheckFailed(what, where);
}

}  // namespace kepler
