#include "top/keys.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kepler::top {
namespace {

constexpr size_t kMaxFilter = 64;  // bytes, the API's own limit

std::string Utf8Of(char32_t c) {
  const auto tail = [](char32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | (c >> 6)), tail(c)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | (c >> 12)), tail(c >> 6), tail(c)};
  return {static_cast<char>(0xf0 | (c >> 18)), tail(c >> 12), tail(c >> 6), tail(c)};
}

Effect Show(Listing listing, View& view) {
  view.now = std::move(listing);
  view.row = view.first = 0;
  return Effect::kFetch;
}

Effect ShowLevel(Level level, View& view) {
  view.parents.clear();
  return Show({.level = level, .filter = view.now.filter}, view);
}

Effect SetFilter(std::string filter, View& view) {
  view.now.filter = std::move(filter);
  view.now.selected.clear();
  view.row = view.first = 0;
  return Effect::kFetch;
}

void Select(const Readings& readings, size_t row, View& view) {
  if (readings.rows.empty()) return;
  view.row = std::min(row, readings.rows.size() - 1);
  view.now.selected = view.row == 0 ? "" : readings.rows[view.row].id;
}

/// The rows that are part of the selected one.
Effect OpenRow(const Readings& readings, View& view) {
  if (view.row >= readings.rows.size() || readings.level != NameOf(view.now.level)) return Effect::kNone;
  const WorkloadReading& row = readings.rows[view.row];
  Listing inside{.title = row.name.empty() ? row.id : row.name};
  switch (view.now.level) {
    case Level::kNamespace:
      inside.level = Level::kPod;
      inside.under = inside.title;
      break;
    case Level::kPod:
      inside.level = Level::kContainer;
      inside.under = row.id;
      break;
    case Level::kContainer:
    case Level::kVm:
      inside.level = Level::kProcess;
      inside.under = row.id;
      break;
    case Level::kProcess:
      return Effect::kNone;
  }
  view.now.selected = row.id;
  view.parents.push_back(view.now);
  return Show(std::move(inside), view);
}

Effect GoBack(View& view) {
  if (!view.parents.empty()) {
    Listing parent = std::move(view.parents.back());
    view.parents.pop_back();
    return Show(std::move(parent), view);
  }
  return view.now.filter.empty() ? Effect::kNone : SetFilter("", view);
}

Effect Edit(const Input& input, View& view) {
  std::string filter = view.now.filter;
  switch (input.key) {
    case Key::kText:
      filter += Utf8Of(input.text);
      return filter.size() > kMaxFilter ? Effect::kNone : SetFilter(std::move(filter), view);
    case Key::kBackspace:
      while (!filter.empty() && (static_cast<unsigned char>(filter.back()) & 0xc0) == 0x80) filter.pop_back();
      if (!filter.empty()) filter.pop_back();
      return SetFilter(std::move(filter), view);
    case Key::kClear:
      return SetFilter("", view);
    case Key::kEscape:
      view.is_editing = false;
      return SetFilter(view.old_filter, view);
    case Key::kEnter:
      view.is_editing = false;
      return Effect::kNone;
    default:
      return Effect::kNone;
  }
}

Effect ApplyText(char32_t text, View& view) {
  if (text >= '1' && text < '1' + kLevelNames.size()) return ShowLevel(static_cast<Level>(text - '1'), view);
  const auto sort_by = [&](Sort sort) {
    view.sort = sort;
    view.now.selected.clear();
    view.row = view.first = 0;
    return Effect::kFetch;
  };
  switch (text) {
    case 'q':
      return Effect::kQuit;
    case '?':
    case 'h':
      view.help = true;
      return Effect::kNone;
    case 'w':
      return sort_by(Sort::kWatts);
    case 'j':
      return sort_by(Sort::kJoules);
    case 'c':
      return sort_by(Sort::kCpu);
    case '/':
      view.is_editing = true;
      view.old_filter = view.now.filter;
      return Effect::kNone;
    default:
      return Effect::kNone;
  }
}

Effect Click(const Input& at, const Readings& readings, const Placement& placement, View& view) {
  if (placement.header_line != 0 && at.line == placement.header_line) {
    for (const SortArea& area : placement.areas)
      if (at.column >= area.begin && at.column < area.end)
        return ApplyText(U"wjc"[static_cast<size_t>(area.sort)], view);
    return Effect::kNone;
  }
  if (at.line < placement.first_line || at.line >= placement.first_line + placement.rows) return Effect::kNone;
  const size_t row = view.first + at.line - placement.first_line;
  if (row >= readings.rows.size()) return Effect::kNone;
  if (row == view.row) return OpenRow(readings, view);
  Select(readings, row, view);
  return Effect::kNone;
}

}  // namespace

Effect Apply(const Input& input, const Readings& readings, const Placement& placement, View& view) {
  if (input.key == Key::kInterrupt) return Effect::kQuit;
  if (input.key == Key::kNone || input.key == Key::kResize) return Effect::kNone;
  if (view.help) {
    view.help = false;
    return input.key == Key::kText && input.text == 'q' ? Effect::kQuit : Effect::kNone;
  }
  if (view.is_editing) return Edit(input, view);
  const size_t page = std::max<size_t>(placement.rows, 1);
  const auto select = [&](size_t row) {
    const std::string before = Target(view, page);
    Select(readings, row, view);
    return Target(view, page) == before ? Effect::kNone : Effect::kFetch;
  };
  switch (input.key) {
    case Key::kText:
      return ApplyText(input.text, view);
    case Key::kUp:
      return select(view.row - std::min<size_t>(view.row, 1));
    case Key::kDown:
      return select(view.row + 1);
    case Key::kPageUp:
      return select(view.row - std::min(view.row, page));
    case Key::kPageDown:
      return select(view.row + page);
    case Key::kHome:
      return select(0);
    case Key::kEnd:
      return select(SIZE_MAX);
    case Key::kEnter:
      return OpenRow(readings, view);
    case Key::kEscape:
    case Key::kBackspace:
      return GoBack(view);
    case Key::kTab:
      return ShowLevel(static_cast<Level>((static_cast<size_t>(view.now.level) + 1) % kLevelNames.size()), view);
    case Key::kClick:
      return Click(input, readings, placement, view);
    default:
      return Effect::kNone;
  }
}

}  // namespace kepler::top
