"""A BMC for a QEMU guest: Debian's ipmi_sim with the DCMI plug-in ipmi/dcmi.c. Packages: openipmi, libopenipmi-dev.

    with Bmc(folder) as bmc:
        bmc.set_watts(217)
        ... QEMU with *bmc.arguments ...

    ipmi_bmc.py FOLDER      runs one until it is interrupted; write watts and faults into FOLDER
"""
import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

PLUG_IN = Path(__file__).resolve().parent / "ipmi" / "dcmi.c"
HEADER = Path("/usr/include/OpenIPMI/mcserv.h")
# RMCP presence ping (ASF v2.0, 3.2.4.2).
PING = bytes.fromhex("0600ff06 000011be 80000000")
USER, PASSWORD = "labuser", "labpass"

# A full record of a sensor in watts, 4 W per count (IPMI v2.0, 43.1): owner 0x20, number 1, system board, no thresholds.
RECORD = (bytes.fromhex("0100 51 01 37 20 00 01 07 01 7f 68 0b 01 000000000000 00 06 00 00 0400").ljust(34, b"\0") +
          bytes.fromhex("ff").ljust(13, b"\0") + b"\xccSystem Power")


def missing():
    """The package that is not installed, or ""."""
    if not shutil.which("ipmi_sim"):
        return "openipmi"
    return "" if HEADER.exists() else "libopenipmi-dev"


def _free_ports():
    """(UDP, TCP), free a moment ago. ipmi_sim cannot choose one itself."""
    with socket.socket(type=socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
        for opened in (udp, tcp):
            opened.bind(("127.0.0.1", 0))
        return udp.getsockname()[1], tcp.getsockname()[1]


def build(folder):
    """The plug-in, for this version of ipmi_sim."""
    library = folder / "dcmi.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, PLUG_IN], check=True)
    return library


class Bmc:
    """One BMC. `folder` has its files. Without `dcmi` it has only the power sensor."""

    def __init__(self, folder, dcmi=True):
        self.folder = Path(folder)
        self.lan, self.system = _free_ports()
        self.process = None
        self.arguments = ("-chardev", f"socket,id=bmc,host=127.0.0.1,port={self.system},reconnect=1",
                          "-device", "ipmi-bmc-extern,id=bmc0,chardev=bmc", "-device", "isa-ipmi-kcs,bmc=bmc0")
        library = f'loadlib "{build(self.folder)}" "{self.folder}"' if dcmi else ""
        auth = "none md2 md5 straight"
        (self.folder / "lan.conf").write_text(
            f'name "labbmc"\n{library}\nset_working_mc 0x20\n  startlan 1\n    addr 127.0.0.1 {self.lan}\n'
            f"    priv_limit admin\n" + "".join(f"    allowed_auths_{level} {auth}\n" for level in
                                                 ("callback", "user", "operator", "admin")) +
            f"    guid a123456789abcdefa123456789abcdef\n  endlan\n  serial 15 127.0.0.1 {self.system} codec VM\n"
            f'  user 1 true "" "test" user 10 {auth}\n  user 2 true "{USER}" "{PASSWORD}" admin 10 {auth}\n',
            encoding="ascii")
        (self.folder / "commands").write_text(
            "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\nsel_enable 0x20 1000 0x0a\n"
            f'sensor_add 0x20 0 1 0x0b 0x01 poll 200 file "{self.folder}/watts" div=4\n'
            f"sensor_set_event_support 0x20 0 1 enable scanning none {' '.join(['0' * 15] * 4)}\n"
            f"main_sdr_add 0x20 {' '.join(f'{byte:#04x}' for byte in RECORD)}\nmc_enable 0x20\n", encoding="ascii")
        self.set_watts(200)
        self.set_fault("")

    def set_watts(self, watts):
        self._write("watts", watts)

    def set_fault(self, fault):
        """The words are in ipmi/dcmi.c; "" ends a fault."""
        self._write("fault", fault)

    def _write(self, name, text):
        """As a whole: the BMC reads at any time."""
        scratch = self.folder / f"{name}.new"
        scratch.write_text(f"{text}\n", encoding="ascii")
        os.replace(scratch, self.folder / name)

    def start(self):
        with open(self.folder / "ipmi_sim.log", "ab") as log:
            self.process = subprocess.Popen(
                ["ipmi_sim", "-c", self.folder / "lan.conf", "-f", self.folder / "commands", "-s", self.folder / "state",
                 "-n"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # A connection to the system port that ends at once would hang ipmi_sim, so the LAN is pinged.
        with socket.socket(type=socket.SOCK_DGRAM) as probe:
            probe.connect(("127.0.0.1", self.lan))
            probe.settimeout(0.2)
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline and self.process.poll() is None:
                try:
                    probe.send(PING)
                    if probe.recv(64):
                        return self
                except ConnectionRefusedError:
                    time.sleep(0.05)
                except TimeoutError:
                    pass
        self.stop()
        raise AssertionError(f"ipmi_sim does not listen: {(self.folder / 'ipmi_sim.log').read_text(errors='replace')}")

    def stop(self):
        """As if the BMC lost its power. start() brings it back."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ipmitool(self, *words):
        """What ipmitool prints over the LAN; AssertionError if it fails."""
        done = subprocess.run(["ipmitool", "-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", str(self.lan), "-U", USER,
                               "-P", PASSWORD, *words], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise AssertionError(f"ipmitool {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    if missing():
        sys.exit(f"install the package {missing()}")
    options.folder.mkdir(parents=True, exist_ok=True)
    with Bmc(options.folder.resolve()) as bmc:
        print("QEMU:", *bmc.arguments, f"\nipmitool: -I lanplus -C 3 -H 127.0.0.1 -p {bmc.lan} -U {USER} -P {PASSWORD}",
              flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            bmc.process.wait()


if __name__ == "__main__":
    main()
