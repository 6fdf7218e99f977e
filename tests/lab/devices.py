"""The devices of a guest that the host simulates, and the requests by which its checks change their values."""
import contextlib

import build
from ipmi_bmc import Bmc
from live_page import WORDS, LivePage


class Devices(contextlib.AbstractContextManager):
    """arguments: of QEMU; words: of the kernel's command line; obey: requests of the guest, for Desk."""

    def __init__(self, guest, folder):
        self.stack = contextlib.ExitStack()
        self.arguments, self.words, self.obey = [], [], {}
        with self.stack:  # closed if anything below fails
            if guest.tables:
                self._add_tables(guest)
            if guest.bmc:
                self._add_bmc(folder, guest.dcmi)
            self.stack = self.stack.pop_all()

    def __exit__(self, *_):
        self.stack.close()

    def _add_tables(self, guest):
        page = LivePage(guest.memory_mib)
        self.stack.callback(page.close)
        self.arguments += page.arguments
        for name in guest.tables:
            self.arguments += ("-acpitable", f"file={build.table(name)}")
        self.words.append(WORDS)
        self.obey["set"] = page.set

    def _add_bmc(self, folder, dcmi):
        folder.mkdir()
        bmc = self.stack.enter_context(Bmc(folder, dcmi=dcmi))
        self.arguments += bmc.arguments
        self.obey.update({"bmc-watts": bmc.set_watts, "bmc-fault": lambda *words: bmc.set_fault(" ".join(words)),
                          "bmc-stop": bmc.stop, "bmc-start": bmc.start})
