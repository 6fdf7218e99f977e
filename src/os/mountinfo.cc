#include "os/mountinfo.h"

#include <array>
#include <optional>

#include "base/parse.h"

namespace kepler::os {
namespace {

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

std::string Unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.size() - i > 3 && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// "36 35 98:0 /root /mount/point options optional… - type source super-options"
std::optional<Mount> ParseLine(std::string_view line) {
  const auto dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  Splitter before(line.substr(0, dash), ' ');
  std::array<std::string_view, 5> head;
  for (auto& field : head) {
    const auto next = before.Next();
    if (!next) return std::nullopt;
    field = *next;
  }
  Splitter after(line.substr(dash + 3), ' ');
  const auto type = after.Next();
  const auto source = after.Next();
  const auto options = after.Next();
  if (!type || !source || !options) return std::nullopt;
  return Mount{.root = Unescape(head[3]),
               .mount_point = Unescape(head[4]),
               .type = std::string(*type),
               .source = Unescape(*source),
               .super_options = std::string(*options)};
}

}  // namespace

std::vector<Mount> ParseMountInfo(std::string_view text) {
  std::vector<Mount> mounts;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    if (auto mount = ParseLine(*line)) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

}  // namespace kepler::os
