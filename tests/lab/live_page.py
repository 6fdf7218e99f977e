"""The page of a guest's memory in which the ACPI tables find their values (acpi/*.asl). The guest's memory is a file."""
import mmap
import os
import struct
import tempfile

ADDRESS = 0x20000000  # in the guest; acpi/*.asl name it, too
FIELDS = ("power_meter", "battery_state", "battery", "mains", "module_power", "grace_power", "cpu_power")
WORDS = f"memmap=1M${ADDRESS:#x}"  # of the kernel's command line


class LivePage:
    def __init__(self, memory_mib):
        # In memory where that exists: QEMU writes the whole of the guest's memory to it.
        self.file = tempfile.NamedTemporaryFile(  # pylint: disable=consider-using-with
            prefix="kepler-lab-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        os.truncate(self.file.fileno(), memory_mib << 20)
        self.page = mmap.mmap(self.file.fileno(), mmap.PAGESIZE, offset=ADDRESS)
        self.arguments = ("-machine", "memory-backend=ram", "-object",
                          f"memory-backend-file,id=ram,size={memory_mib}M,mem-path={self.file.name},share=on")

    def set(self, field, value):
        struct.pack_into("<I", self.page, 4 * FIELDS.index(field), int(value))

    def close(self):
        self.page.close()
        self.file.close()
