"""Debian's packages, unpacked into build/kernels and not installed. A version that is there is not downloaded again.

    debian.py PACKAGE      prints the path of its kernel; linux-image-amd64 and its like name the current one
"""
import functools
import lzma
import re
import struct
import subprocess
import sys
from pathlib import Path

PLACE = Path(__file__).resolve().parents[2] / "build" / "kernels"
WAIT = ("-o", "DPkg::Lock::Timeout=300")


def _apt(*command):
    done = subprocess.run(["apt-cache", *command], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def _update():
    subprocess.run(["apt-get", *WAIT, "update", "-qq"], check=True, stdout=sys.stderr)


def depends(package, pattern):
    """The packages that this one depends on and that the pattern matches."""
    return re.findall(rf"^ *Depends: ({pattern})$", _apt("depends", "--important", package), re.M)


@functools.cache
def version(package):
    for refresh in (True, False):
        if found := re.search(r"^Version: (.+)$", _apt("show", "--no-all-versions", package), re.M):
            return found[1]
        if refresh:
            _update()
    raise SystemExit(f"debian.py: apt knows no package {package!r}")


def _download(package, into):
    command = ["apt-get", "-qq", "-o", "APT::Sandbox::User=", "download", package]
    if subprocess.run(command, cwd=into, stdout=sys.stderr, check=False).returncode != 0:
        _update()  # package lists that are older than the archive name files that are gone
        subprocess.run(command, cwd=into, stdout=sys.stderr, check=True)


def unpacked(package, *more, parts=()):
    """The folder with the files of the packages. parts: patterns of what to unpack; everything without them."""
    room = PLACE / f"{package}_{version(package)}".replace(":", "%3a")
    if not (room / ".complete").exists():
        subprocess.run(["rm", "-rf", room], check=True)
        room.mkdir(parents=True)
        for name in (package, *more):
            _download(name, room)
        for archive in room.glob("*.deb"):
            tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE)
            subprocess.run(["tar", "-x", "-C", room, "--wildcards", *parts], stdin=tar.stdout, check=True)
            if tar.wait() != 0:
                raise SystemExit(f"debian.py: cannot unpack {archive}")
            archive.unlink()
        (room / ".complete").touch()
    return room


@functools.cache
def image(package):
    """The package with the kernel itself: linux-image-amd64 and its like only name the current one."""
    version(package)
    return (depends(package, r"linux-image-[0-9]\S*") or [package])[0]


def kernel(package):
    """(folder with /boot and /lib/modules, path of the kernel)."""
    room = unpacked(image(package), parts=("./boot/*", "./lib/modules/*"))
    found = list(room.glob("boot/vmlinuz-*"))
    if not found:
        raise SystemExit(f"debian.py: package {package} has no kernel in /boot")
    release = found[0].name.removeprefix("vmlinuz-")
    if not (room / "lib/modules" / release / "modules.dep").exists():
        subprocess.run(["depmod", "-b", room, release], check=True)
    return room, found[0]


def release_of(vmlinuz):
    return vmlinuz.name.removeprefix("vmlinuz-")


def fast_kernel(vmlinuz):
    """The same kernel without xz, which takes QEMU's emulation 4 s to unpack: an ELF file that QEMU starts by PVH. The
    kernel itself if it has another compression. Format: Documentation/arch/x86/boot.rst, payload_offset."""
    plain = vmlinuz.with_name(vmlinuz.name.replace("vmlinuz", "vmlinux"))
    if not plain.exists():
        data = vmlinuz.read_bytes()
        start = ((data[0x1F1] or 4) + 1) * 512  # behind the boot sector and its setup sectors
        offset, length = struct.unpack_from("<II", data, 0x248)
        payload = data[start + offset:start + offset + length]
        if not payload.startswith(b"\xfd7zXZ\0"):
            return vmlinuz
        plain.write_bytes(lzma.LZMADecompressor().decompress(payload))
    return plain


def headers(release):
    """The folder in which `make -C` builds modules for this kernel."""
    name = f"linux-headers-{release}"
    version(name)
    room = unpacked(name, *depends(name, r"linux-(?:headers|kbuild|compiler)-\S+"), parts=("./usr/*",))
    tree = room / "usr/src" / name
    makefile = tree / "Makefile"
    makefile.write_text(re.sub(r"\S*/usr/src/", f"{room}/usr/src/", makefile.read_text()))
    return tree


if __name__ == "__main__":
    print(kernel(sys.argv[1])[1])
