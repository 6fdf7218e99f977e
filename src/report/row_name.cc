#include "report/row_name.h"

#include <fmt/format.h>

#include <array>

#include "base/parse.h"

namespace kepler::report {
namespace {

constexpr size_t kShortId = 12;

/// Shortens every part of an id: "uid1000/3e23e8160039/9f8e7d6c5b4a" has the authorities in front.
std::string ShortId(std::string_view id) {
  std::string out;
  Splitter parts(id, '/');
  while (const auto part = parts.Next()) {
    if (!out.empty()) out += '/';
    out += part->substr(0, kShortId);
  }
  return out;
}

std::string Or(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

}  // namespace

std::string RowName(By by, const EnergyLine& line) {
  switch (by) {
    case By::kNamespace:
      return Or(line.Text("namespace"), "(unnamed)");
    case By::kOwner:
      if (line.Text("owner_name").empty()) return fmt::format("{}/(no owner)", line.Text("namespace"));
      return fmt::format("{}/{}/{}", line.Text("namespace"), line.Text("owner_kind"), line.Text("owner_name"));
    case By::kPod:
      if (line.Text("pod_name").empty()) return std::string(line.Text("pod_id"));
      return fmt::format("{}/{}", line.Text("pod_namespace"), line.Text("pod_name"));
    case By::kContainer:
      if (line.Text("container_name").empty()) return std::string(line.Text("container_id"));
      return fmt::format("{} ({})", line.Text("container_name"), ShortId(line.Text("container_id")));
    case By::kVm: {
      const std::string name = Or(line.Text("vm_name"), line.Text("vm_id"));
      const std::string_view instance = line.Text("instance_name");
      return instance.empty() || instance == name ? name : fmt::format("{} ({})", instance, name);
    }
    case By::kProject:
      if (line.Text("project_id").empty()) return Or(line.Text("project_name"), "(no project)");
      return fmt::format("{} ({})", Or(line.Text("project_name"), "(unnamed)"), ShortId(line.Text("project_id")));
    case By::kProcess:
      return Or(line.Text("comm"), "(unnamed)");
    case By::kUser:
      return line.Text("user").empty() ? fmt::format("uid {}", line.Text("uid")) : std::string(line.Text("user"));
    case By::kNode:
      break;
  }
  return line.node;
}

std::string_view RowId(By by, const EnergyLine& line) {
  switch (by) {
    case By::kPod:
      return line.Text("pod_id");
    case By::kContainer:
      return line.Text("container_id");
    case By::kVm:
      return line.Text("vm_id");
    default:
      return {};
  }
}

std::string_view RestName(size_t index) {
  constexpr std::array<std::string_view, 7> kNames = {"ended before their next line",
                                                      "below the limits of the agent's list",
                                                      "came and went between two scans",
                                                      "outside of them",
                                                      "not yet named",
                                                      "caused by no workload",
                                                      "idle"};
  return kNames.at(index);
}

}  // namespace kepler::report
