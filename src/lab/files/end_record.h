#pragma once
// The end of a zip archive says how large its directory is. Pure; internal to the room.
#include <string_view>

#include "base/result.h"
#include "lab/files/archive.h"

namespace kepler::lab::files {

/// Before the library reads the directory, all of it into memory: a small archive can list millions of members.
/// kMalformed where no end is found, kInvalid where one (a comment may look like another) is over the limits, or of
/// ZIP64, which nothing within them needs. Source: APPNOTE.TXT 4.3.15 and 4.3.16 (PKWARE).
[[nodiscard]] Status CheckEnd(std::string_view bytes, const Limits& limits);

}  // namespace kepler::lab::files
