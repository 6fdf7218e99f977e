#include "workload/hypervisor/libvirt_status.h"

#include <fmt/format.h>

#include <pugixml.hpp>

#include "base/parse.h"

namespace kepler::workload::hypervisor {
namespace {

std::unexpected<Error> Malformed(std::string_view what) {
  return Fail(ErrorKind::kMalformed, fmt::format("not the state of a libvirt domain: {}", what));
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
  LibvirtDomain found{.pid = *pid, .name = domain.child_value("name"), .uuid = domain.child_value("uuid")};
  if (found.name.empty()) return Malformed("<domain> has no <name>");
  if (found.uuid.empty()) return Malformed("<domain> has no <uuid>");
  return found;
}

std::array<std::string, 3> LibvirtStatusPaths(std::string_view domain, uint32_t uid) {
  return {fmt::format("run/libvirt/qemu/{}.xml", domain), fmt::format("run/libvirt/qemu/run/{}.xml", domain),
          fmt::format("run/user/{}/libvirt/qemu/run/{}.xml", uid, domain)};
}

}  // namespace kepler::workload::hypervisor
