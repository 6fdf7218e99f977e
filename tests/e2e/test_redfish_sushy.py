"""The agent reads servers that nobody here wrote: sushy-static and sushy-emulator of OpenStack (sushy-tools on PyPI).

Skipped without them. To install them:

    python3 -m venv build/sushy && build/sushy/bin/pip install sushy-tools
"""
import json
import os
import shutil
import subprocess
import unittest

from harness import end, free_port, require, run_tests, scratch_directory, wait_until
from kubernetes import make_certificates
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from test_redfish import NODE
from redfish_shapes import SHAPES

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "sushy", "bin")


def program(name):
    found = shutil.which(name, path=os.pathsep.join((BUILD, os.environ.get("PATH", ""))))
    require(found, f"{name} is not installed")
    return found


class Sushy(unittest.TestCase):
    def setUp(self):
        self.directory = scratch_directory()
        self.addCleanup(shutil.rmtree, self.directory)
        make_certificates(self.directory)
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.tree.start()
        self.port = free_port()

    def serve(self, *command):
        with open(os.path.join(self.directory, "server.log"), "wb") as log:
            server = subprocess.Popen([*command, f"--port={self.port}"], stdout=log, stderr=log)
        self.addCleanup(end, server)

    def start_agent(self, scheme):
        bmc_file = os.path.join(self.directory, "bmc.yaml")
        with open(bmc_file, "w", encoding="ascii") as file:
            file.write(f"nodes: {{{NODE}: bmc}}\nbmcs: {{bmc: {{endpoint: '{scheme}://127.0.0.1:{self.port}', "
                       f"username: kepler, password: s3cret, caFile: ca.crt}}}}\n")
        config = (f"experimental: {{platform: {{redfish: {{enabled: true, nodeName: {NODE}, configFile: {bmc_file}, "
                  "interval: 1s}}}\n")
        self.agent = self.enterContext(metered_agent(self.tree, config=config))

    def test_static_server(self):
        """Without TLS: with it, the server ends an answer without a length by closing the connection without a TLS close,
        which looks like a cut."""
        mockup = os.path.join(self.directory, "mockup")
        for uri, value in SHAPES["modern"](250.0).items():
            folder = os.path.join(mockup, uri.removeprefix("/redfish/v1").strip("/"))
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "index.json"), "w", encoding="ascii") as file:
                json.dump(value, file)
        self.serve(program("sushy-static"), "--interface=127.0.0.1", f"--mockup-files={mockup}")
        self.start_agent("http")
        self.agent.wait_log("password for the BMC bmc is sent in plain text")

        def watts():
            return [float(value) for _, value in self.agent.scrape_after().series("kepler_platform_watts", source="redfish")]
        wait_until(lambda: watts() == [125, 125], "the watts of both supplies")

    def test_emulator_has_no_power(self):
        """Its chassis has temperatures only. The agent walks over it and names the reason."""
        self.serve(program("sushy-emulator"), "--fake", "--interface=127.0.0.1",
                   f"--ssl-certificate={self.directory}/server.crt", f"--ssl-key={self.directory}/server.key")
        self.start_agent("https")
        self.agent.wait_log("the BMC bmc has no power reading in 1 chassis", 40)


if __name__ == "__main__":
    run_tests()
