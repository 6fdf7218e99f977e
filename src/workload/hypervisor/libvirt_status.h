#pragma once
// What libvirt keeps of a domain while it runs, for an emulator whose command line has no UUID: libvirt always writes
// one there (qemu_command.c, qemuBuildCommandLine), other tools that use its directories may not. <state
// directory>/NAME.xml, written before the emulator executes and again whenever something changes, by renaming. Its
// format is domain_conf.c's (virDomainObjFormat):
//   <domstatus state='running' pid='436'> … <domain type='kvm'><name>web</name><uuid>…</uuid> … </domain></domstatus>
// Pure.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::workload::hypervisor {

/// Some 10 KiB for a small domain; its devices, and what is known of their disks' chains, make it grow. Parsing that
/// much takes 3 to 5 ms at worst.
inline constexpr size_t kMaxLibvirtStatusBytes = size_t{256} << 10;

struct LibvirtDomain {
  int32_t pid = 0;   // of its emulator, in libvirt's pid namespace
  std::string name;  // not sanitised, never empty, nor is the UUID
  std::string uuid;
};

/// Errors: kMalformed, with what is wrong and at which byte; also for kMaxLibvirtStatusBytes and more.
[[nodiscard]] Result<LibvirtDomain> ParseLibvirtStatus(std::string_view xml);

/// Where it may be below the root directory of the emulator, for its real user: of the machine's libvirt, of one whose
/// runtime directory is /run (KubeVirt's virt-launcher that is not root), of the user's own.
[[nodiscard]] std::array<std::string, 3> LibvirtStatusPaths(std::string_view domain, uint32_t uid);

}  // namespace kepler::workload::hypervisor
