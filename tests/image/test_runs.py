"""The agent in containers of the images that tools/image.sh made.

KEPLER_IMAGES: the folder of the archives. Needs root and podman.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from archive import Archive  # noqa: E402
from harness import Agent, require, run_tests, scratch_directory  # noqa: E402
from http_double import make_certificate  # noqa: E402
from image import ARCHIVES, ROOT, run_line  # noqa: E402
from model_text import own  # noqa: E402
from rights import ProcessRights, bits, image_user  # noqa: E402
from test_agent_models import Server  # noqa: E402
from workloads import Podman  # noqa: E402

GRANTED = ["BPF", "PERFMON"]


class Compose(unittest.TestCase):
    def test_compose_runs_it_as_the_dockerfile_says(self):
        service = yaml.safe_load((ROOT / "deploy/compose/compose.yaml").read_text(encoding="utf-8"))["services"]["kepler"]
        self.assertEqual(service["build"], {"context": "../..", "dockerfile": "deploy/Dockerfile"})
        options = ["--name", "kepler", f"--pid={service['pid']}", f"--uts={service['uts']}",
                   *(["--read-only"] if service["read_only"] else []),
                   *(f"--cap-drop={name}" for name in service["cap_drop"]), *(f"--cap-add={name}" for name in service["cap_add"]),
                   *(f"--security-opt={value.removesuffix(':true')}" for value in service["security_opt"])]
        for volume in service["volumes"]:
            options += ["-v", volume]
        self.assertEqual((options, service["command"]), run_line())


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.podman = cls.enterClassContext(Podman())
        for path in ARCHIVES.values():
            cls.podman.run("load", "-i", path)
        version = Archive(ARCHIVES["runtime"]).packages()["kepler"]["Version"]
        cls.runtime = f"localhost/kepler:{version}"
        cls.nonroot = f"localhost/kepler:{version}-nonroot"

    def start(self, name, options, *flags, **more):
        """The agent in a container, in the host's network. podman's own seccomp profile forbids BPF; docker's allows it."""
        prefix = self.podman.command("run", "--rm", *options, "--network=host", "--security-opt=seccomp=unconfined")
        return Agent("--monitor.interval=300ms", *flags, program=name, command_prefix=prefix, env=self.podman.environment(), **more)

    def bpf_works_here(self):
        """Where it does not, the images cannot show that they use it."""
        require(os.path.exists("/sys/kernel/btf/vmlinux"), "the kernel has no BTF")

    def judge(self, agent, uid, capabilities):
        page = agent.scrape_after()
        rights = ProcessRights(self.podman.pid("kepler"))
        self.assertEqual(rights.uids, {uid})
        self.assertEqual(rights.capabilities["CapEff"], bits(capabilities))
        self.assertEqual([labels["source"] for labels, value in page.series("kepler_activity_source_info") if value], ["bpf"])
        # Processes of the host, under the host's name.
        (labels, _), = page.series("kepler_process_cpu_seconds_total", pid=str(os.getpid()))
        self.assertEqual(labels["node_name"], os.uname().nodename)
        self.assertEqual(agent.get("/-/healthy")[0], 200)
        return rights

    def test_version_is_that_of_the_package(self):
        said = self.podman.run("run", "--rm", "--network=none", self.runtime, "--version")
        self.assertIn(f"version {self.runtime.rpartition(':')[2]} ", said)

    def test_run_line_of_the_dockerfile(self):
        self.bpf_works_here()
        options, flags = run_line()
        self.assertIn("--read-only", options)
        with self.start(self.runtime, options, *flags) as agent:
            rights = self.judge(agent, 0, GRANTED)
            self.assertTrue(rights.no_new_privileges)

    def test_nonroot_has_the_rights_of_its_file(self):
        self.bpf_works_here()
        options, flags = run_line()
        options.remove("--security-opt=no-new-privileges")
        with self.start(self.nonroot, [*options, "--cap-add=DAC_READ_SEARCH"], *flags) as agent:
            self.judge(agent, int(image_user().partition(":")[0]), [*GRANTED, "DAC_READ_SEARCH"])

    def test_nonroot_does_not_start_without_a_grant(self):
        with self.assertRaises(subprocess.CalledProcessError) as refused:
            self.podman.run("run", "--rm", "--network=none", "--cap-drop=ALL", self.nonroot, "--version")
        self.assertIn("operation not permitted", refused.exception.stderr)

    def test_without_any_right_proc_is_read(self):
        with self.start(self.runtime, ["--name=kepler", "--read-only", "--cap-drop=ALL", "-v=/sys:/host/sys:ro",
                                       "-v=/proc:/host/proc:ro"], "--host.sysfs=/host/sys", "--host.procfs=/host/proc") as agent:
            page = agent.scrape_after()
            self.assertEqual([labels["source"] for labels, value in page.series("kepler_activity_source_info") if value],
                             ["procfs"])
            self.assertTrue(page.series("kepler_process_cpu_seconds_total", pid=str(os.getpid())))

    def test_https_servers_are_judged_by_the_bundle(self):
        """A model from a server whose authority is mounted over the bundle of the image."""
        folder = scratch_directory()
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        os.makedirs(f"{folder}/sys/class")
        pathlib.Path(folder, "a.json").write_text(own("a", 111), encoding="utf-8")
        files = make_certificate(folder)
        server = self.enterContext(Server(folder, files))
        options = ["--name=kepler", f"-v={folder}/sys:/host/sys:ro"]
        flags = ["--host.sysfs=/host/sys", f"--model.sources={server.url}a.json", "--model.cache-dir="]
        mounted = f"-v={folder}/cert.pem:/etc/ssl/certs/ca-certificates.crt:ro"
        for more, wanted in (([mounted], "a"), ([], None)):
            with self.start(self.runtime, [*options, *more], *flags) as agent:
                names = {labels["name"] for labels, _ in agent.scrape_after().series("kepler_model_info")}
                self.assertEqual("a" in names, wanted == "a", agent.log())


if __name__ == "__main__":
    run_tests()
