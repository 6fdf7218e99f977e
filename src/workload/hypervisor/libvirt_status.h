#pragma once
// libvirt's status file of a running domain. It names an emulator without a UUID in its command line. libvirt always
// writes a UUID there (qemu_command.c, qemuBuildCommandLine); other tools that use libvirt's directories may not. It
// also contains the metadata of OpenStack. The file is <state directory>/NAME.xml. libvirt writes it before the
// emulator executes, and replaces it by a rename after every change. domain_conf.c defines the format
// (virDomainObjFormat):
//   <domstatus state='running' pid='436'> … <domain type='kvm'><name>web</name><uuid>…</uuid> … </domain></domstatus>
// nova/virt/libvirt/config.py defines the metadata (LibvirtConfigGuestMetaNovaInstance), in <domain>:
//   <metadata><nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.1"><nova:name>shop-1</nova:name>
//     <nova:flavor name="m1.small"/><nova:owner><nova:user uuid="…">anna</nova:user>
//     <nova:project uuid="…">shop</nova:project></nova:owner></nova:instance></metadata>
// Pure.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "snapshot/identity.h"

namespace kepler::workload::hypervisor {

/// The file of a small domain has about 10 KiB. Devices and the chains of their disks make it grow. Parsing the maximum
/// size takes at most 3 to 5 ms.
inline constexpr size_t kMaxLibvirtStatusBytes = size_t{256} << 10;

struct LibvirtDomain {
  int32_t pid = 0;   // pid of the emulator in libvirt's pid namespace
  std::string name;  // not sanitised; name and uuid are never empty
  std::string uuid;
  // Not sanitised; "" for missing parts. The instance's name is that of OpenStack, else the domain's <title>.
  snapshot::VmMetadata metadata{};
};

/// Errors: kMalformed with the reason and the byte offset, also for kMaxLibvirtStatusBytes or more.
[[nodiscard]] Result<LibvirtDomain> ParseLibvirtStatus(std::string_view xml);

/// Returns the possible paths below the emulator's root directory, for the emulator's real user. They are those of the
/// system's libvirt, of a libvirt with the runtime directory /run (KubeVirt's non-root virt-launcher), and of the
/// user's own libvirt.
[[nodiscard]] std::array<std::string, 3> LibvirtStatusPaths(std::string_view domain, uint32_t uid);

}  // namespace kepler::workload::hypervisor
