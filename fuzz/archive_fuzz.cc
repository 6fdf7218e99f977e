// A zip archive: what is read keeps to the limits, has plain names, none twice, and can be written and read again.
#include <set>

#include "fuzz.h"
#include "lab/files/archive.h"

namespace files = kepler::lab::files;

void Fuzz(std::string_view text) {
  constexpr files::Limits kLimits = {.members = 10, .member_bytes = 100'000, .total_bytes = 200'000};
  const auto members = files::ReadArchive(text, kLimits);
  if (!members) {
    if (members.error().message.empty()) std::abort();
    return;
  }
  std::set<std::string_view> names;
  size_t total = 0;
  for (const files::Member& member : *members) {
    if (member.name.find_first_of("/\\") != std::string::npos || !names.insert(member.name).second) std::abort();
    if (member.bytes.size() > kLimits.member_bytes) std::abort();
    total += member.bytes.size();
  }
  if (names.empty() || names.size() > kLimits.members || total > kLimits.total_bytes) std::abort();
  const auto written = files::WriteArchive(*members);
  if (!written) std::abort();
  const auto again = files::ReadArchive(*written, kLimits);
  if (!again || *again != *members) std::abort();
}
