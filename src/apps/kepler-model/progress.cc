#include "apps/kepler-model/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace kepler::lab::tool {

Progress::Progress() : is_shown_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Clear(); }

void Progress::Clear() const {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::Show(std::string_view text) const {
  if (is_shown_) std::fputs(fmt::format("\r\x1b[Kkepler-model: {}", text).c_str(), stderr);
}

}  // namespace kepler::lab::tool
