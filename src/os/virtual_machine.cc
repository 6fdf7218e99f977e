#include "os/virtual_machine.h"

#include <algorithm>
#include <array>

#include "base/parse.h"
#include "os/file.h"

namespace kepler::os {
namespace {

/// Returns the trimmed text of a file; "" if it is unreadable.
std::string TextOf(const std::string& path) { return std::string(Trim(ReadWholeFile(path).value_or(""))); }

bool IsThere(const std::string& directory) { return OpenDir(directory).has_value(); }

}  // namespace

bool HasHypervisorFlag(std::string_view cpuinfo) {
  Splitter lines(cpuinfo, '\n');
  while (const auto line = lines.Next()) {
    const auto colon = line->find(':');
    if (colon == std::string_view::npos || Trim(line->substr(0, colon)) != "flags") continue;
    Splitter words(Trim(line->substr(colon + 1)), ' ');
    while (const auto word = words.Next())
      if (*word == "hypervisor") return true;
    return false;  // all CPUs have the same flags
  }
  return false;
}

bool IsVirtualProduct(std::string_view vendor, std::string_view product) {
  if (vendor == "Amazon EC2") return !product.ends_with(".metal");
  constexpr std::array<std::string_view, 5> kVendors = {"QEMU", "VMware, Inc.", "Xen", "innotek GmbH",
                                                        "Parallels Software International Inc."};
  constexpr std::array<std::string_view, 7> kProducts = {
      "KVM",   "Virtual Machine", "VirtualBox",         "Google Compute Engine",
      "BHYVE", "OpenStack Nova",  "KVM Virtual Machine"};
  return std::ranges::find(kVendors, vendor) != kVendors.end() ||
         std::ranges::find(kProducts, product) != kProducts.end();
}

bool IsVirtualMachine(const std::string& procfs, const std::string& sysfs) {
  if (TextOf(procfs + "/xen/capabilities").contains("control_d")) return false;
  if (HasHypervisorFlag(TextOf(procfs + "/cpuinfo"))) return true;
  if (!TextOf(sysfs + "/hypervisor/type").empty()) return true;
  if (IsThere(procfs + "/device-tree/hypervisor")) return true;
  const std::string dmi = sysfs + "/class/dmi/id/";
  return IsVirtualProduct(TextOf(dmi + "sys_vendor"), TextOf(dmi + "product_name"));
}

}  // namespace kepler::os
