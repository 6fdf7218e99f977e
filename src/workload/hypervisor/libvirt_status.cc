#include "workload/hypervisor/libvirt_status.h"

#include <fmt/format.h>

#include <pugixml.hpp>

#include "base/parse.h"

namespace kepler::workload::hypervisor {
namespace {

std::unexpected<Error> Malformed(std::string_view what) {
  return Fail(ErrorKind::kMalformed, fmt::format("not the state of a libvirt domain: {}", what));
}

/// Name of an element or attribute: "nova:name" has the prefix "nova" and the local name "name".
struct QualifiedName {
  std::string_view prefix;
  std::string_view local;
  explicit QualifiedName(std::string_view name) {
    const size_t colon = name.find(':');
    if (colon != std::string_view::npos) prefix = name.substr(0, colon);
    local = colon == std::string_view::npos ? name : name.substr(colon + 1);
  }
};

/// Returns the namespace that the element or an element around it declares for `prefix`; "" if none does.
std::string_view NamespaceOf(pugi::xml_node element, std::string_view prefix) {
  const std::string declaration = prefix.empty() ? "xmlns" : fmt::format("xmlns:{}", prefix);
  for (; element; element = element.parent())
    if (const auto found = element.attribute(declaration.c_str())) return found.value();
  return {};
}

/// Returns the element of OpenStack in the <metadata> of a domain, in any version of the format; null if there is none.
pugi::xml_node FindNovaInstance(pugi::xml_node metadata) {
  constexpr std::string_view kNamespace = "http://openstack.org/xmlns/libvirt/nova/";
  constexpr size_t kMaxCandidates = 8;  // each costs a search through all attributes of three elements
  size_t candidates = 0;
  for (const pugi::xml_node element : metadata.children()) {
    const QualifiedName name(element.name());
    if (name.local != "instance") continue;
    if (NamespaceOf(element, name.prefix).starts_with(kNamespace)) return element;
    if (++candidates == kMaxCandidates) break;
  }
  return {};
}

snapshot::VmMetadata MetadataOf(pugi::xml_node domain) {
  const pugi::xml_node instance = FindNovaInstance(domain.child("metadata"));
  const std::string_view prefix = QualifiedName(instance.name()).prefix;
  const auto child = [prefix](pugi::xml_node element, std::string_view local) {
    return element.child((prefix.empty() ? std::string(local) : fmt::format("{}:{}", prefix, local)).c_str());
  };
  const pugi::xml_node owner = child(instance, "owner");
  const pugi::xml_node project = child(owner, "project");
  const std::string_view name = child(instance, "name").child_value();
  return {.instance_name = std::string(name.empty() ? domain.child_value("title") : name),
          .flavor = child(instance, "flavor").attribute("name").value(),
          .project_id = project.attribute("uuid").value(),
          .project_name = project.child_value(),
          .user_name = child(owner, "user").child_value()};
}

}  // namespace

Result<LibvirtDomain> ParseLibvirtStatus(std::string_view xml) {
  if (xml.size() >= kMaxLibvirtStatusBytes)
    return Malformed(fmt::format("it has {} bytes or more", kMaxLibvirtStatusBytes));
  pugi::xml_document document;
  // The parser reads neither entities of a document type nor files, whatever the text contains.
  const auto parsed = document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) return Malformed(fmt::format("{} at byte {}", parsed.description(), parsed.offset));
  const pugi::xml_node status = document.child("domstatus");
  if (!status) return Malformed("it has no <domstatus>");
  const auto pid = ParseNumber<int32_t>(status.attribute("pid").value());
  if (!pid || *pid <= 0) return Malformed("<domstatus> has no attribute pid that is a process id");
  const pugi::xml_node domain = status.child("domain");
  LibvirtDomain found{.pid = *pid,
                      .name = domain.child_value("name"),
                      .uuid = domain.child_value("uuid"),
                      .metadata = MetadataOf(domain)};
  if (found.name.empty()) return Malformed("<domain> has no <name>");
  if (found.uuid.empty()) return Malformed("<domain> has no <uuid>");
  return found;
}

std::array<std::string, 3> LibvirtStatusPaths(std::string_view domain, uint32_t uid) {
  return {fmt::format("run/libvirt/qemu/{}.xml", domain), fmt::format("run/libvirt/qemu/run/{}.xml", domain),
          fmt::format("run/user/{}/libvirt/qemu/run/{}.xml", uid, domain)};
}

}  // namespace kepler::workload::hypervisor
