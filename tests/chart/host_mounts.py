#!/usr/bin/env python3
"""Mounts directories of the host read-only, as a container runtime does, and starts a program there. Needs root.

  host_mounts.py MOUNTS.json PROGRAM [ARGUMENT]...

MOUNTS.json is a list of {"own": DIRECTORY, "path": MOUNT POINT, "recursive": BOOLEAN}. Runs in a mount namespace of its own.
"""
import ctypes
import json
import os
import sys

CLONE_NEWNS = 0x00020000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
# linux/mount.h, asm-generic/unistd.h
SYS_MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
LIBC = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns_fd")]


def checked(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(source, target, flags):
    checked(LIBC.mount(source.encode(), target.encode(), None, flags, None), f"mount {target}")


def bind(own, path, recursive):
    """Runtimes bind with everything below; without `recursive` only the topmost mount is read-only."""
    os.makedirs(path, exist_ok=True)
    mount(own, path, MS_BIND | MS_REC)
    if not recursive:
        return mount("none", path, MS_REMOUNT | MS_BIND | MS_RDONLY)
    attributes = Attributes(set=MOUNT_ATTR_RDONLY)
    return checked(LIBC.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, path.encode(), AT_RECURSIVE, ctypes.byref(attributes),
                                ctypes.sizeof(attributes)), f"mount_setattr {path}")


def main(mounts, *command):
    checked(LIBC.unshare(CLONE_NEWNS), "unshare")
    mount("none", "/", MS_REC | MS_PRIVATE)
    with open(mounts, encoding="utf-8") as file:
        for one in json.load(file):
            bind(one["own"], one["path"], one["recursive"])
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
