"""The machines of the lab. Each runs the checks of tests/lab/guest/NAME.py."""
import dataclasses

RAPL = ("msr", "intel_rapl_msr", "rapl")
PLATFORM = ("acpi_power_meter", "battery", "ac", "ipmi_si", "ipmi_devintf", "uhid", "corsair-psu")


@dataclasses.dataclass
class Guest:
    name: str
    title: str
    package: str  # of Debian's kernel
    cpu: str
    cpus: str
    checks: int  # that run; fewer is a failure
    modules: tuple = ()
    programs: tuple = ()  # of the host
    rapl: bool = True
    tables: tuple = ()  # of acpi/
    bmc: bool = False
    dcmi: bool = True  # of the BMC; otherwise it has only a sensor
    psu: bool = False
    redfish: bool = False  # a server in the guest
    fuse: bool = False  # powercap in user space
    node_exporter: bool = False
    short: bool = True  # part of `make lab`
    memory_mib: int = 768
    seconds: int = 180  # limit
    is_virtual: bool = False  # what the kernel and the agent take it for

    @property
    def arguments(self):
        """QEMU's, for the processor and the names of the machine."""
        if self.is_virtual:
            return ("-cpu", self.cpu)
        return ("-cpu", f"{self.cpu},-hypervisor", "-smbios", "type=1,manufacturer=Lab,product=Server")


GUESTS = {guest.name: guest for guest in (
    Guest("intel", "two sockets of Intel with every meter", "linux-image-amd64", "Skylake-Server",
          "2,sockets=2", checks=16, modules=RAPL + PLATFORM, programs=("ipmitool", "ipmi-dcmi"), tables=("machine",), bmc=True, psu=True,
          redfish=True, node_exporter=True),
    Guest("interfaces", "RAPL by powercap, perf and registers", "linux-image-amd64", "Skylake-Server",
          "2,sockets=2", checks=4, modules=RAPL, programs=("setpriv",)),
    Guest("amd", "AMD, RAPL without other meters", "linux-image-amd64", "EPYC-Rome", "2", checks=5, modules=RAPL),
    Guest("cloud", "virtual machine without any meter", "linux-image-cloud-amd64", "Skylake-Server", "2", checks=2,
          rapl=False, is_virtual=True),
    Guest("grace", "ACPI power meters of Grace; powercap in user space", "linux-image-amd64", "EPYC-Rome", "2", checks=5,
          modules=("acpi_power_meter", "fuse"), rapl=False, tables=("grace",), fuse=True),
    Guest("sensors", "power sensors without RAPL and DCMI", "linux-image-amd64", "EPYC-Rome", "2", checks=3,
          modules=PLATFORM, rapl=False, tables=("machine",), bmc=True, dcmi=False, psu=True, short=False,
          seconds=600),
    Guest("bmc", "faults of a BMC", "linux-image-amd64", "EPYC-Rome", "2", checks=5, modules=PLATFORM, rapl=False,
          tables=("machine",), bmc=True, psu=True, short=False, seconds=300),
    Guest("wraps", "counters that wrap every few seconds", "linux-image-amd64", "Skylake-Server", "2,sockets=2", checks=1,
          modules=RAPL, short=False, seconds=300),
    Guest("sockets", "four sockets, again and again", "linux-image-amd64", "Skylake-Server", "4,sockets=4",
          checks=4, modules=RAPL, short=False, seconds=600),
)}
