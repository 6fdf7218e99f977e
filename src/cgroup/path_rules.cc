#include "cgroup/path_rules.h"

#include <algorithm>
#include <array>

#include "cgroup/owner.h"

namespace kepler::cgroup {
namespace {

enum class IdShape : uint8_t {
  kHex64,  // the id of every OCI runtime's front end; ".scope" may follow
  kHex,    // any number of hex digits; ".scope" may follow
  kName,   // chosen by people: any bytes, with systemd's \xNN escapes undone
  kFixed,  // no id in the path: the prefix is the component and the id
};

/// component = prefix + id + suffix. An empty parent, grandparent or not_before fits anything.
struct Rule {
  std::string_view runtime;  // label value; "" for a component that looks like a container but is not one
  std::string_view grandparent;
  std::string_view parent;
  std::string_view prefix;
  std::string_view suffix;
  std::string_view not_before;  // the next component must not be this one
  IdShape shape;
};

constexpr std::string_view kNone;

// The first matching rule decides, so exceptions are above the general rules.
constexpr std::array kRules = {
    // systemd driver, and cgroupfs driver if the runtime adds a prefix. "crio-conmon-" and "libpod-conmon-" do not
    // match, because the text after the prefix is not hex.
    Rule{"docker", "", "", "docker-", "", "", IdShape::kHex64},
    Rule{"containerd", "", "", "cri-containerd-", "", "", IdShape::kHex64},
    Rule{"containerd", "", "", "containerd-", "", "", IdShape::kHex64},
    Rule{"containerd", "", "", "nerdctl-", "", "", IdShape::kHex64},
    Rule{"crio", "", "", "crio-", "", "", IdShape::kHex64},
    Rule{"podman", "", "", "libpod-", "", "", IdShape::kHex64},
    Rule{"podman", "", "", "libpod-payload-", "", "", IdShape::kHex},  // --cgroups=split, used by quadlet units
    // cgroupfs driver, and "slice:prefix:id" as a literal path.
    Rule{"docker", "", "docker", "", "", "", IdShape::kHex64},
    Rule{"docker", "", "ecs", "", "", "", IdShape::kHex64},          // the ECS agent sets docker's cgroup parent
    Rule{"docker", "ecs", "", "", "", "", IdShape::kHex64},          // /ecs/<task>/<id>
    Rule{"docker", "", "actions_job", "", "", "", IdShape::kHex64},  // the GitHub runner sets the cgroup parent too
    Rule{"containerd", "", "cri-containerd", "", "", "", IdShape::kHex64},
    Rule{"containerd", "", "containerd", "", "", "", IdShape::kHex64},
    Rule{"crio", "", "crio", "", "", "", IdShape::kHex64},
    Rule{"podman", "", "libpod", "", "", "", IdShape::kHex64},
    Rule{kNone, "", "libpod_parent", "", "", "", IdShape::kHex64},  // a podman pod
    Rule{"kubernetes", "", kPodComponent, "", "", "", IdShape::kHex64},
    // LXC 4 and later, earlier versions, and LXC by libvirt. "lxc.monitor" is not the container.
    Rule{"lxc", "", "", "lxc.payload.", "", "", IdShape::kName},
    Rule{"lxc", "", "lxc.payload", "", "", "", IdShape::kName},
    Rule{"lxc", "", "lxc", "", "", "", IdShape::kName},
    Rule{"lxc", "", "", "machine-lxc\\x2d", ".scope", "", IdShape::kName},
    Rule{"lxc", "", "machine", "", ".libvirt-lxc", "", IdShape::kName},
    // systemd-nspawn as a unit, or registered with machined from a command line. Virtual machines have scopes there
    // too, but they are detected from their process. nspawn itself runs in "supervisor".
    Rule{"systemd-nspawn", "", "", "systemd-nspawn@", ".service", "supervisor", IdShape::kName},
    Rule{kNone, "", "", "machine-qemu\\x2d", ".scope", "", IdShape::kName},
    Rule{kNone, "", "", "machine-qemu-", ".scope", "", IdShape::kName},
    Rule{kNone, "", "", "machine-xen\\x2d", ".scope", "", IdShape::kName},
    Rule{kNone, "", "", "machine-ch\\x2d", ".scope", "", IdShape::kName},
    Rule{"systemd-nspawn", "", "", "machine-", ".scope", "supervisor", IdShape::kName},
    Rule{"kepler-run", "", "", "kepler-run-", "", "", IdShape::kName},  // command_group.h
    // nspawn --keep-unit from the root cgroup: the container's name is not in the path.
    Rule{"systemd-nspawn", "", kRootComponent, "payload", "", "", IdShape::kFixed},
    // /<namespace>/<id> of nerdctl and other clients of containerd. Other runtimes with bare ids look the same.
    Rule{"containerd", "", "", "", "", "", IdShape::kHex64},
};

constexpr std::array<std::string_view, 5> kHexRuntimes = {"docker", "containerd", "crio", "podman", "kubernetes"};
static_assert(std::ranges::all_of(kRules, [](const Rule& rule) {
  const bool has_hex_ids = rule.shape == IdShape::kHex64 || rule.shape == IdShape::kHex;
  return rule.runtime == kNone || has_hex_ids == (std::ranges::find(kHexRuntimes, rule.runtime) != kHexRuntimes.end());
}));

constexpr bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

constexpr bool IsUidCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

constexpr int HexValue(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

bool IsHex(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsHexDigit); }

/// Undoes the escapes of systemd.unit(5): "\x2d" is the byte 0x2d. All other text is unchanged. An escaped '/' is
/// unchanged too: systemd never writes one, and in ids a '/' ends the authority.
std::string Unescape(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    const bool escaped = text.size() >= 4 && text.starts_with("\\x") && IsHexDigit(text[2]) && IsHexDigit(text[3]);
    const auto byte = escaped ? static_cast<char>(HexValue(text[2]) * 16 + HexValue(text[3])) : '/';
    if (byte != '/') {
      bytes += byte;
      text.remove_prefix(4);
    } else {
      bytes += text.front();
      text.remove_prefix(1);
    }
  }
  return bytes;
}

/// Returns the id in the component, or "" if the id does not have the rule's shape.
std::string IdBy(const Rule& rule, std::string_view component) {
  if (!component.starts_with(rule.prefix)) return {};
  component.remove_prefix(rule.prefix.size());
  if (rule.shape == IdShape::kFixed) return std::string(component.empty() ? rule.prefix : std::string_view());
  if (rule.shape != IdShape::kName) {
    if (component.ends_with(".scope")) component.remove_suffix(std::string_view(".scope").size());
    const bool fits = IsHex(component) && component.size() <= kMaxNameBytes &&
                      (rule.shape == IdShape::kHex || component.size() == 64);
    return std::string(fits ? component : std::string_view());
  }
  if (!component.ends_with(rule.suffix)) return {};
  component.remove_suffix(rule.suffix.size());
  return component.size() <= kMaxNameBytes ? Unescape(component) : std::string();
}

bool FitsNeighbours(const Rule& rule, const Site& site) {
  return (rule.parent.empty() || rule.parent == site.parent) &&
         (rule.grandparent.empty() || rule.grandparent == site.grandparent) &&
         (rule.not_before.empty() || rule.not_before != site.next);
}

/// Recognises a pod's UID if the rest of the path does not identify Kubernetes: a UUID, or the hash of a static pod's
/// manifest.
bool LooksLikeUid(std::string_view text) {
  if (text.size() == 32) return IsHex(text);
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHexDigit(text[i])) return false;
  }
  return true;
}

constexpr std::array<std::string_view, 2> kSharedQos = {"burstable", "besteffort"};

/// Returns the QoS class of the pods in `directory`; "" if the directory is not one of a QoS class.
std::string_view SharedQos(std::string_view directory) {
  const auto* const found = std::ranges::find(kSharedQos, directory);
  return found == kSharedQos.end() ? std::string_view() : *found;
}

/// kubepods[-burstable|-besteffort]-pod<uid>.slice, below any cgroup root: kubelet-kubepods-… in kind.
std::optional<PodName> PodOfSlice(std::string_view component) {
  constexpr std::string_view kSlice = ".slice";
  constexpr std::string_view kPod = "-pod";
  if (!component.ends_with(kSlice)) return std::nullopt;
  component.remove_suffix(kSlice.size());
  const auto at = component.rfind(kPod);
  if (at == std::string_view::npos) return std::nullopt;
  PodName pod{.uid = std::string(component.substr(at + kPod.size())), .qos = "guaranteed"};
  auto above = component.substr(0, at);
  for (const std::string_view qos : kSharedQos) {
    if (!above.ends_with(qos)) continue;
    pod.qos = qos;
    above.remove_suffix(std::min(above.size(), qos.size() + 1));
    break;
  }
  const bool fits = above.ends_with("kubepods") && !pod.uid.empty() && pod.uid.size() <= kMaxNameBytes &&
                    std::ranges::all_of(pod.uid, IsUidCharacter);
  if (!fits) return std::nullopt;
  std::ranges::replace(pod.uid, '_', '-');  // in a slice's name a dash means a parent, so the kubelet writes '_'
  return pod;
}

/// kubepods[/burstable|/besteffort]/pod<uid>. From within a pod's own cgroup namespace the upper part is not visible.
std::optional<PodName> PodOfDirectory(const Site& site) {
  constexpr std::string_view kPod = "pod";
  if (!site.component.starts_with(kPod)) return std::nullopt;
  const auto uid = site.component.substr(kPod.size());
  if (uid.empty() || uid.size() > kMaxNameBytes || !std::ranges::all_of(uid, IsUidCharacter)) return std::nullopt;
  const auto shared = SharedQos(site.parent);
  const bool in_kubepods = site.parent == "kubepods" || (!shared.empty() && site.grandparent == "kubepods");
  if (!in_kubepods && !LooksLikeUid(uid)) return std::nullopt;
  return PodName{.uid = std::string(uid), .qos = site.parent == "kubepods" ? "guaranteed" : shared};
}

}  // namespace

std::span<const std::string_view> RuntimesWithHexIds() { return kHexRuntimes; }

bool HasNamesAsIds(std::string_view runtime) {
  return runtime == "lxc" || runtime == "systemd-nspawn" || runtime == "kepler-run";
}

std::optional<ContainerId> ContainerAt(const Site& site) {
  for (const Rule& rule : kRules) {
    if (!FitsNeighbours(rule, site)) continue;
    auto id = IdBy(rule, site.component);
    if (id.empty()) continue;
    if (rule.runtime == kNone) return std::nullopt;
    return ContainerId{.runtime = std::string(rule.runtime), .id = std::move(id)};
  }
  return std::nullopt;
}

std::optional<PodName> PodAt(const Site& site) {
  if (auto pod = PodOfSlice(site.component)) return pod;
  return PodOfDirectory(site);
}

}  // namespace kepler::cgroup
