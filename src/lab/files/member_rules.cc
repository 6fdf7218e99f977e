#include "lab/files/member_rules.h"

#include <fmt/format.h>

#include "base/text.h"
#include "lab/files/archive.h"

namespace kepler::lab::files {
namespace {

constexpr size_t kMaxNameBytes = 255;

/// Whether a part of the path is "..", whichever way it is written.
bool LeadsUp(std::string_view name) {
  while (true) {
    const size_t end = name.find_first_of("/\\");
    if (name.substr(0, end) == "..") return true;
    if (end == std::string_view::npos) return false;
    name.remove_prefix(end + 1);
  }
}

bool HasDrive(std::string_view name) { return name.size() > 1 && name[1] == ':'; }

}  // namespace

std::string_view WhyNoName(std::string_view name) {
  if (name.empty()) return "it has no name";
  if (name.size() > kMaxNameBytes) return "its name is longer than 255 bytes";
  if (!IsValidUtf8(name)) return "its name is not UTF-8";
  if (EscapeControls(name) != name) return "its name has control characters";
  if (name.starts_with('/') || name.starts_with('\\') || HasDrive(name)) return "an absolute path";
  if (LeadsUp(name) || name == ".") return "a path that leads out of the archive";
  if (name.contains('\\')) return "a backslash in its name";
  if (name.contains('/'))
    return "it lies in a directory, but the archive of a model is flat; of a whole pipeline give the archive of one "
           "model";
  return "";
}

std::unexpected<Error> OfMember(std::string_view name, std::string_view reason, ErrorKind kind) {
  return Fail(kind, fmt::format("member '{}': {}", EscapeControls(name.substr(0, 80)), reason));
}

}  // namespace kepler::lab::files
