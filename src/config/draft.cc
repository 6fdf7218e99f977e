#include "config/draft.h"

#include <fmt/format.h>

#include "base/secret.h"

namespace kepler::config {
namespace {

std::string InFile(std::string_view file, int line, std::string_view path) {
  std::string out(file);
  if (line > 0) out += fmt::format(":{}", line);
  constexpr size_t kMaxShownPath = 200;
  if (!path.empty()) out += fmt::format(": {}", ShowUnlessSecret(path, kMaxShownPath));
  return out;
}

}  // namespace

std::string Draft::Where(size_t key, std::optional<size_t> item) const {
  const Origin& from = origins_[key];
  const std::string_view path = Keys()[key].path;
  switch (from.from) {
    case From::kDefault:
      return std::string(path);
    case From::kFlag:
      return from.flag;
    case From::kFile:
      break;
  }
  const bool own_line = item && *item < from.item_lines.size();
  return InFile(file_, own_line ? from.item_lines[*item] : from.line, path);
}

void Draft::Reject(size_t key, std::string_view reason, std::optional<size_t> item) {
  errors_.push_back(fmt::format("{}: {}", Where(key, item), reason));
}

void Draft::RejectLine(int line, std::string_view path, std::string_view reason) {
  errors_.push_back(fmt::format("{}: {}", InFile(file_, line, path), reason));
}

void Draft::Unknown(int line, std::string_view path, std::string_view meant, std::string_view advice) {
  unknown_.push_back(fmt::format("{}: unknown key{}{}{}{}", InFile(file_, line, path), advice.empty() ? "" : "; ",
                                 advice, meant.empty() ? "" : "; did you mean ", meant));
}

}  // namespace kepler::config
