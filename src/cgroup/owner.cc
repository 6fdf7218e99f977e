#include "cgroup/owner.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "cgroup/authority.h"
#include "cgroup/path_rules.h"
#include "os/procfs.h"

namespace kepler::cgroup {
namespace {

/// Splits a path into components. Colons separate components too, as in "a.slice:docker:ID", a systemd name that a
/// cgroupfs driver used as a directory.
class Components {
 public:
  explicit Components(std::string_view path) : rest_(path) {}

  /// Returns "" at the end; no earlier component is empty.
  std::string_view Next() {
    constexpr std::string_view kSlice = ".slice";
    rest_.remove_prefix(std::min(rest_.find_first_not_of('/'), rest_.size()));
    const auto component = rest_.substr(0, rest_.find('/'));
    if (const auto slice = component.find(".slice:"); slice != std::string_view::npos) {
      in_colons_ = true;
      return Take(slice + kSlice.size());
    }
    const auto colon = in_colons_ ? component.find(':') : std::string_view::npos;
    in_colons_ = colon != std::string_view::npos;
    if (in_colons_ && colon > 0) return Take(colon);
    return Take(component.size());
  }

 private:
  std::string_view Take(size_t size) {
    const auto component = rest_.substr(0, size);
    rest_.remove_prefix(std::min(size + 1, rest_.size()));
    return component;
  }

  std::string_view rest_;
  bool in_colons_ = false;
};

struct Match {
  Owner owner;
  size_t end = 0;  // offset behind the component that matched last; 0: no match
};

/// Applies the component's claim about the owner of the cgroups below it. Returns true for a pod's component.
bool Apply(const Site& site, size_t end, Authority& authority, Match& match) {
  if (auto pod = PodAt(site)) {
    const bool in_pod = !match.owner.pod_uid.empty() && match.owner.container && !authority.IsOurs();
    if (!in_pod)
      match = {.owner = {.container = {}, .pod_uid = authority.Of(end) + pod->uid, .qos = pod->qos}, .end = end};
    return true;
  }
  if (auto container = ContainerAt(site)) {
    const std::string& prefix = authority.Of(end);
    authority.Enter(container->id, end);
    container->id.insert(0, prefix);
    match.owner.container = std::move(container);
    match.end = end;
  }
  return false;
}

/// Calls visit(site, end) for each component; `end` is the offset behind it. `visit` returns true for a pod's
/// component.
template <class Visit>
void ForEachSite(std::string_view path, const Visit& visit) {
  Components components(path);
  Site site{.grandparent = {}, .parent = kRootComponent, .component = components.Next(), .next = {}};
  while (!site.component.empty()) {
    site.next = components.Next();
    const bool pod = visit(site, static_cast<size_t>(site.component.data() - path.data()) + site.component.size());
    site.grandparent = std::exchange(site.parent, pod ? kPodComponent : site.component);
    site.component = site.next;
  }
}

Match MatchPath(std::string_view path, const TreeView* tree = nullptr) {
  Match match;
  path = os::StripDeleted(path);  // a dying process still shows its removed v2 cgroup
  Authority authority(path, tree);
  ForEachSite(path, [&](const Site& site, size_t end) { return Apply(site, end, authority, match); });
  return match;
}

bool IsUnit(std::string_view component) {
  return component.ends_with(".service") || component.ends_with(".scope") ||
         (component.starts_with("user-") && component.ends_with(".slice"));
}

bool IsOfSystemd(const os::CgroupLine& line) { return line.hierarchy == 0 || line.controllers == "name=systemd"; }

bool AccountsCpu(const os::CgroupLine& line) { return os::HasController(line.controllers, "cpuacct"); }

int Rank(const os::CgroupLine& line) { return line.hierarchy == 0 ? 2 : AccountsCpu(line) ? 1 : 0; }

struct Chosen {
  Match match;
  size_t line = 0;  // lines.size() if no line matched
};

Chosen Choose(const os::CgroupLines& lines) {
  Chosen best{.match = {}, .line = lines.size()};
  std::tuple<bool, size_t, int> best_key;
  Match match;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool repeated = i > 0 && lines[i].path == lines[i - 1].path;  // true for nearly every line of v1
    if (!repeated) match = MatchPath(lines[i].path);
    if (match.end == 0) continue;
    const std::tuple key(match.owner.container.has_value(), match.end, Rank(lines[i]));
    if (best.line != lines.size() && key <= best_key) continue;
    best = {.match = match, .line = i};
    best_key = key;
  }
  return best;
}

bool SameOwner(const Owner& a, const Owner& b) {
  return a.container == b.container && (a.container || a.pod_uid == b.pod_uid);
}

}  // namespace

std::string_view PlainId(std::string_view id) { return id.substr(AuthorityOf(id).size()); }

std::string_view AuthorityOf(std::string_view id) { return id.substr(0, id.rfind('/') + 1); }

Owner OwnerOfPath(std::string_view path) { return MatchPath(path).owner; }

Owner OwnerOfPath(std::string_view path, const TreeView& tree) { return MatchPath(path, &tree).owner; }

size_t NamingLine(const os::CgroupLines& lines) { return Choose(lines).line; }

size_t AccountingLine(const os::CgroupLines& lines) {
  const Chosen chosen = Choose(lines);
  if (chosen.line == lines.size()) return chosen.line;
  for (size_t i = 0; i < lines.size(); ++i)
    if (AccountsCpu(lines[i]) && SameOwner(OwnerOfPath(lines[i].path), chosen.match.owner)) return i;
  return chosen.line;
}

std::string_view UnitOfPath(std::string_view path) {
  size_t unit = 0;
  ForEachSite(os::StripDeleted(path), [&](const Site& site, size_t end) {
    if (unit == 0 && (IsUnit(site.component) || ContainerAt(site))) unit = end;
    return PodAt(site).has_value();
  });
  return path.substr(0, unit);
}

std::string_view UnitOfLines(const os::CgroupLines& lines) {
  for (const bool of_systemd : {true, false}) {
    for (const os::CgroupLine& line : lines) {
      if (IsOfSystemd(line) != of_systemd) continue;
      if (const auto unit = UnitOfPath(line.path); !unit.empty()) return unit;
    }
  }
  return {};
}

}  // namespace kepler::cgroup
