#include "settings/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace kepler::settings {
std::string Draft::Where(int line, std::string_view path) const {
  std::string out = file_;
  if (line > 0) out += fmt::format(":{}", line);
  constexpr size_t kMaxShownPath = 200;
  if (!path.empty()) out += fmt::format(": {}", ShowUnlessSecret(path, kMaxShownPath));
  return out;
}

std::string Draft::Where(const Key& key, std::optional<size_t> item) const {
  const Origin& from = origins_[IndexOf(key)];
  switch (from.from) {
    case From::kDefault:
      return std::string(key.path);
    case From::kFlag:
      return from.flag;
    case From::kFile:
      break;
  }
  if (item && *item < from.name_lines.size()) {
    const auto& [name, line] = *std::next(from.name_lines.begin(), static_cast<std::ptrdiff_t>(*item));
    // The text may be "user:password" instead of a user name.
    const bool shown = !key.details.secret || !name.contains(':');
    return Where(line, shown ? fmt::format("{}.{}", key.path, name) : std::string(key.path));
  }
  const bool own_line = item && *item < from.item_lines.size();
  return Where(own_line ? from.item_lines[*item] : from.line, key.path);
}

void Draft::Reject(const Key& key, const Mistake& mistake) {
  errors_.push_back(fmt::format("{}: {}", Where(key, mistake.item), mistake.reason));
}

void Draft::Reject(std::string_view path, std::string_view reason, std::optional<size_t> item) {
  const Key& key = KeyAt(keys(), path);
  const bool is_rejected = std::ranges::any_of(
      origin(key).broken_rules, [&](const Mistake& broken) { return !item || !broken.item || *broken.item == *item; });
  if (!is_rejected) Reject(key, {std::string(reason), item});
}

void Draft::RejectLine(int line, std::string_view path, std::string_view reason) {
  errors_.push_back(fmt::format("{}: {}", Where(line, path), reason));
}

void Draft::Unknown(int line, std::string_view path, std::string_view meant, std::string_view hint) {
  unknown_.push_back(fmt::format("{}: unknown key{}{}{}", Where(line, path), hint.empty() ? "" : "; ", hint,
                                 meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

void Draft::CheckTable() {
  for (const Key& key : keys()) {
    for (const Mistake& mistake : origin(key).unknown_choices) Reject(key, mistake);
    origin(key).broken_rules = Check(key, field(key));
    for (const Mistake& mistake : origin(key).broken_rules) Reject(key, mistake);
    if (!key.details.missing.empty() && IsBool(key) && *std::get<bool*>(field(key)))
      Warn(fmt::format("not in this version: {}: {}", key.path, key.details.missing));
  }
}

}  // namespace kepler::settings
