"""The machines of the lab. Each runs the checks of tests/lab/guest/NAME.py."""
import dataclasses

RAPL = ("msr", "intel_rapl_msr", "rapl")


@dataclasses.dataclass
class Guest:
    name: str
    title: str
    package: str  # of Debian's kernel
    cpu: str
    cpus: str
    checks: int  # that run; fewer is a failure
    modules: tuple = ()
    rapl: bool = True
    short: bool = True  # part of `make lab`
    memory_mib: int = 768
    arguments: tuple = ()  # more of QEMU's


# Without "hypervisor" the kernel's RAPL drivers take the machine for a real one.
GUESTS = {guest.name: guest for guest in (
    Guest("intel", "two sockets of Intel with every meter", "linux-image-amd64", "Skylake-Server,-hypervisor",
          "2,sockets=2", checks=7, modules=RAPL),
)}
