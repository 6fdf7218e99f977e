"""Starting and stopping: bad configuration, no meter, no rights, signals."""
import contextlib
import glob
import json
import os
import re
import select
import signal
import socket
import subprocess
import time
import unittest

from exposition import Exposition
from harness import Agent, free_port, require, run_tests, run_to_end, scratch_directory, wait_until
from kubernetes import make_certificates
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from scratch import ScratchTest
from workloads import Cgroup

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
# bcrypt of "correct horse", cost 4.
USERS = 'basic_auth_users:\n  alice: "$2y$04$8fAB9oQ2d78gJJZBx9000ut.241WB.swLXzVxqJ7Y62JFzKzgZfyG"\n'


class Configuration(unittest.TestCase):
    def setUp(self):
        self.directory = scratch_directory()
        os.chmod(self.directory, 0o755)
        self.path = os.path.join(self.directory, "kepler.yaml")
        self.addCleanup(subprocess.run, ["rm", "-rf", self.directory], check=True)

    def refuse(self, text, *needles, args=(), **popen):
        """The start fails with exit code 1 and one line that holds every needle."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        status, output = run_to_end(f"--config.file={self.path}", *args, **popen)
        self.assertEqual(status, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        for needle in needles:
            self.assertIn(needle, output)

    def test_config_check_reads_the_web_configuration_too(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("basic_auth_user: {}\n")
        status, output = run_to_end("--config.check", f"--web.config-file={self.path}")
        self.assertEqual(status, 1, output)
        self.assertIn(f"{self.path}:1", output)
        self.assertIn("basic_auth_users", output)

    def test_config_check_warns_of_a_web_configuration_that_protects_less_than_it_seems(self):
        for text, address, warning in (("basic_auth_users:\n", "127.0.0.1:1", "without TLS and users"),
                                       (USERS, ":1", "passwords are sent in plain text"),
                                       (USERS, "127.0.0.1:1", "")):
            with self.subTest(text, address=address):
                with open(self.path, "w", encoding="utf-8") as file:
                    file.write(text)
                status, output = run_to_end("--config.check", f"--web.config-file={self.path}",
                                            f"--web.listen-address={address}")
                self.assertEqual(status, 0, output)
                self.assertEqual(f"warning: {self.path}" in output, bool(warning), output)
                self.assertIn(warning, output)

    def test_ends_when_its_only_exporter_has_no_reader(self):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([os.environ["KEPLER_BIN"], "--exporter.stdout", "--no-exporter.prometheus",
                                    f"--web.listen-address=127.0.0.1:{free_port()}"],
                                   stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        self.assertEqual(process.wait(timeout=20), 0)

    def test_output_that_cannot_be_written_is_an_error(self):
        for flag in ("--config.print", "--config.check", "--version"):
            with self.subTest(flag), open("/dev/full", "wb") as full:
                ended = subprocess.run([os.environ["KEPLER_BIN"], flag], stdout=full, stderr=subprocess.PIPE,
                                       check=False, timeout=20)
                self.assertEqual((ended.returncode, ended.stderr),
                                 (1, b"kepler: cannot write to stdout: No space left on device\n"))
        with self.subTest("closed"):
            ended = subprocess.run(["sh", "-c", 'exec "$KEPLER_BIN" --config.print >&-'], stderr=subprocess.PIPE,
                                   check=False, timeout=20)
            self.assertEqual((ended.returncode, ended.stderr),
                             (1, b"kepler: cannot write to stdout: Bad file descriptor\n"))
        with self.subTest("--help"), open("/dev/full", "wb") as full:  # goes to stderr: nobody is left to be told
            ended = subprocess.run([os.environ["KEPLER_BIN"], "--help"], stderr=full, check=False, timeout=20)
            self.assertEqual(ended.returncode, 1)

    def test_address_given_twice_is_refused_by_the_check(self):
        status, output = run_to_end("--config.check", "--web.listen-address=:31020",
                                    "--web.listen-address=127.0.0.1:31020")
        self.assertEqual((status, len(output.splitlines())), (1, 1), output)
        for needle in ("--web.listen-address", '":31020"', '"127.0.0.1:31020"'):
            self.assertIn(needle, output)

    def test_fraction_of_upstream_s_files_only_warns(self):
        with Agent(config="monitor:\n  minTerminatedEnergyThreshold: 0.5\n") as agent:
            self.assertRegex(agent.log(), r"level=WARN .*:2: monitor\.minTerminatedEnergyThreshold: .* is read as 0")

    def test_wrong_type_is_refused_with_its_line(self):
        self.refuse("log:\n  level: info\nmonitor: 5s\n", f"{self.path}:3", "monitor")

    def test_bad_duration_is_refused_with_its_line(self):
        self.refuse("monitor:\n  interval: 5 parsecs\n", f"{self.path}:2", "monitor.interval", "5 parsecs")

    def test_duplicate_key_is_refused_with_its_line(self):
        self.refuse("monitor:\n  interval: 1s\n  interval: 2s\n", f"{self.path}:3", "interval")

    def test_no_yaml_is_refused_with_its_line(self):
        self.refuse("log: [\n", self.path)

    def test_unknown_key_is_refused_by_the_check_with_the_nearest_name(self):
        self.refuse("monitor:\n  intervall: 1s\n", f"{self.path}:2", "did you mean monitor.interval?\n",
                    args=["--config.check"])

    def test_unknown_key_only_warns_at_the_start(self):
        with Agent(config="monitor:\n  interval: 1s\n  intervall: 1s\n") as agent:
            self.assertRegex(agent.log(), r"level=WARN .*intervall")

    def test_missing_file_is_refused(self):
        status, output = run_to_end("--config.file=/nonexistent/kepler.yaml")
        self.assertEqual((status, len(output.splitlines())), (1, 1), output)
        self.assertIn("/nonexistent/kepler.yaml", output)

    def test_unreadable_file_is_refused(self):
        require(os.geteuid() == 0, "only root can become somebody who may not read a file")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("log:\n  level: info\n")
        os.chmod(self.path, 0o400)
        status, output = run_to_end(f"--config.file={self.path}", **NOBODY)
        self.assertEqual((status, len(output.splitlines())), (1, 1), output)
        self.assertRegex(output, f"{re.escape(self.path)}.*[Pp]ermission")

    def test_port_in_use_is_refused_with_the_address(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            status, output = run_to_end(f"--web.listen-address={address}")
        self.assertEqual(status, 1, output)
        errors = [line for line in output.splitlines() if "level=ERROR" in line]
        self.assertEqual(len(errors), 1, output)
        self.assertIn(address, errors[0])
        self.assertIn("in use", errors[0])


class CheckedAsStarted(unittest.TestCase):
    """What the start refuses, --config.check refuses, with the same words."""

    def setUp(self):
        self.directory = scratch_directory()
        os.chmod(self.directory, 0o755)
        self.addCleanup(subprocess.run, ["rm", "-rf", self.directory], check=True)
        self.outside = {name: value for name, value in os.environ.items() if not name.startswith("KUBERNETES_")}

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def kubeconfig(self, cluster="", name="kubeconfig", user="{}", server="https://127.0.0.1:1"):
        return self.write(name, "current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n"
                          f"clusters: [{{name: b, cluster: {{server: '{server}'{cluster}}}}}]\n"
                          f"users: [{{name: c, user: {user}}}]\n")

    def run_with(self, *args, **popen):
        return run_to_end(f"--web.listen-address=127.0.0.1:{free_port()}", *args, env=self.outside, **popen)

    def assert_refused(self, needle, *args, **popen):
        status, said = self.run_with("--config.check", *args, **popen)
        self.assertEqual((status, len(said.splitlines())), (1, 1), said)
        self.assertIn(needle, said)
        status, output = self.run_with(*args, **popen)
        self.assertEqual(status, 1, output)
        # A setting that is wrong by itself is refused before there is a log.
        logged = re.search(r'msg="kepler cannot start" err=("(?:[^"\\]|\\.)*")\n', output)
        self.assertEqual(json.loads(logged[1]) + "\n" if logged else output, said)

    def test_clusters(self):
        text, here = self.write("text", "no PEM\n"), self.kubeconfig()
        kube = ("--kube.enable", "--kube.node-name=node-1")
        for needle, arguments in (
                ("this is no pod of a cluster", kube),
                ('"a/../b" cannot be the name of a node',
                 ("--kube.enable", "--kube.node-name=a/../b", f"--kube.config={here}")),
                ("current-context", (*kube, f"--kube.config={text}")),
                ("bad.yaml:1: ", (*kube, f"--kube.config={self.write('bad.yaml', 'a: [' + chr(10))}")),
                ("certificate authority", (*kube, f"--kube.config={self.kubeconfig(', certificate-authority: text', 'c')}")),
                (f"{text} has no certificate in PEM",
                 (*kube, f"--kube.config={here}", f"--config.file={self.write('kepler.yaml', self.kubelet_ca(text))}"))):
            with self.subTest(needle):
                self.assert_refused(needle, *arguments)

    @staticmethod
    def kubelet_ca(path):
        return f"kube: {{podInformer: {{kubeletCaFile: {path}}}}}\n"

    def test_tokens_that_no_request_could_send(self):
        os.mkfifo(os.path.join(self.directory, "pipe"))
        for needle, user, server in (
                ("token cannot be used: http://127.0.0.1:1 would receive the token in plain text", "{token: t0k}", "http://127.0.0.1:1"),
                ("tokenFile cannot be used: read", "{tokenFile: pipe}", "https://127.0.0.1:1"),
                ("larger than 1 MiB", "{tokenFile: /dev/zero}", "https://127.0.0.1:1"),
                ("a line end", '{token: "t0k\\r\\nX-Evil: 1"}', "https://127.0.0.1:1")):
            with self.subTest(user):
                path = self.kubeconfig(user=user, server=server)
                config = self.write("kepler.yaml", f"kube:\n  enabled: true\n  nodeName: node-1\n  config: {path}\n")
                self.assert_refused(f"{config}:4: kube.config: {path}:4: users[c].user.", f"--config.file={config}")
                self.assert_refused(needle, f"--config.file={config}")

    def test_keys_of_kube_are_named_with_their_line(self):
        here = self.kubeconfig()
        for needle, lines in (
                (":3: kube.nodeName: \"N1_Upper\" cannot be", ["enabled: true", "nodeName: N1_Upper", f"config: {here}"]),
                (":2: kube.enabled: this is no pod", ["enabled: true", "nodeName: node-1"])):
            with self.subTest(needle):
                config = self.write("kepler.yaml", "kube:\n" + "".join(f"  {line}\n" for line in lines))
                self.assert_refused(config + needle, f"--config.file={config}")

    def test_web_files(self):
        text = self.write("text", "no PEM\n")
        make_certificates(self.directory)
        for needle, web in (
                ("basic_auth_usrs", "basic_auth_usrs: {}\n"),
                ("text", f"tls_server_config: {{cert_file: {text}, key_file: server.key}}\n"),
                ("server.crt", "tls_server_config: {cert_file: server.crt, key_file: ca.key}\n"),
                ("text", f"tls_server_config: {{cert_file: server.crt, key_file: server.key, client_ca_file: {text}, "
                         "client_auth_type: RequireAndVerifyClientCert}\n")):
            with self.subTest(web):
                self.assert_refused(needle, f"--web.config-file={self.write('web.yaml', web)}")

    def test_keys_of_models(self):
        anybodys = self.write("zero.pem", "-----BEGIN PUBLIC KEY-----\n"
                              "MCowBQYDK2VwAyEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END PUBLIC KEY-----\n")
        for needle, path in (("not a public key", self.write("text", "no PEM\n")), ("anybody can sign", anybodys)):
            with self.subTest(needle):
                self.assert_refused(needle, f"--model.public-key={path}")

    def test_addresses(self):
        for needle, address in (("no interface of this machine", "192.0.2.1:28282"), ("nowhere.invalid", "nowhere.invalid:1"),
                                ("not a number from 1", "127.0.0.1:0")):
            with self.subTest(address):
                self.assert_refused(needle, f"--web.listen-address={address}")
        config = self.write("kepler.yaml", "log: {level: info}\nweb:\n  listenAddresses: ['256.0.0.1:1']\n")
        for flags in ((), ("--config.check",)):
            status, output = run_to_end(f"--config.file={config}", *flags, env=self.outside)
            self.assertEqual(status, 1, output)
            self.assertIn(f'{config}:3: web.listenAddresses: listen on "256.0.0.1:1"', output.replace('\\"', '"'))

    def test_what_the_machine_lacks(self):
        os.mkdir(os.path.join(self.directory, "class"))
        self.assert_refused("--meter.require", "--meter.require", "--host.sysfs", self.directory)
        require(os.geteuid() == 0, "only root can become somebody who may not load BPF")
        self.assert_refused("activity.source: bpf: ", "--activity.source=bpf", **NOBODY)

    def test_running_agent_is_in_the_way_of_no_check(self):
        with Agent("--monitor.interval=1s") as agent:
            status, output = run_to_end("--config.check", f"--web.listen-address=127.0.0.1:{agent.port}")
        self.assertEqual((status, output), (0, "flags: configuration is valid\n"))


class Shortage(unittest.TestCase):
    """What the agent needs to start, and a machine that does not give it."""

    def refused(self, *prefix, args=()):
        """The lines of a start that fails: the last one is the one error."""
        done = subprocess.run([*prefix, os.environ["KEPLER_BIN"], f"--web.listen-address=127.0.0.1:{free_port()}",
                               *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=30, check=False)
        output = done.stdout.decode()
        self.assertEqual(done.returncode, 1, output)
        self.assertNotIn("terminate called", output)
        self.assertEqual(output.count("level=ERROR"), 1, output)
        self.assertIn('msg="kepler cannot start"', output.splitlines()[-1])
        return output.splitlines()

    def test_thread_that_cannot_be_made_ends_the_start_and_is_named(self):
        with Cgroup(f"/kepler-e2e-{os.getpid()}") as cgroup:
            # From the third on one has been made that may be missing: it reads command lines.
            for most, name in ((1, "log"), (2, "collector"), (4, "scrapes"), (5, "handlers"), (6, "http"), (7, "stdout")):
                with self.subTest(name):
                    cgroup.limit_tasks(most)
                    line = self.refused(*cgroup.command_prefix(), args=["--exporter.stdout"])[-1]
                    self.assertIn(f"start thread {name}: Resource temporarily unavailable", line)
                    self.assertIn("pids.max", line)

    def test_too_little_memory_ends_the_start(self):
        step = 128 << 10
        # The least with which it is loaded. A step more has room for the exceptions that say what there is no room for.
        loaded = next((size for size in range(8 << 20, 64 << 20, step) if subprocess.run(
            ["prlimit", f"--as={size}", os.environ["KEPLER_BIN"], "--version"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False).returncode == 0), None)
        require(loaded, "this build is not loaded with 64 MiB")
        for size in range(loaded + 2 * step, loaded + 64 * step, 7 * step):
            with self.subTest(size):
                self.assertIn("memory", self.refused("prlimit", "--stack=8388608:", f"--as={size}")[-1])

    def test_descriptors_that_end_end_the_start(self):
        for most in (4, 5, 7, 10, 20):
            with self.subTest(most):
                lines = self.refused("prlimit", f"--nofile={most}")
                self.assertRegex(lines[-1], f"the limit of open files is {most}, but|Too many open files")
                self.assertEqual([line for line in lines if "level=WARN" in line], [], "one line for one cause")

    def test_bpf_under_a_small_memlock_limit_loads_or_names_it(self):
        def start(*limit):
            agent = Agent("--activity.source=bpf", "--monitor.interval=500ms", ready=False, command_prefix=limit)
            self.addCleanup(agent.abandon)
            agent.__enter__()  # not as a context: it may end by itself
            wait_until(lambda: agent.process.poll() is not None or self.is_ready(agent), "the start or its end")
            return agent.process.poll(), agent.log()
        require(start()[0] is None, "BPF cannot be loaded here")
        limited = ["setpriv", "--inh-caps=-sys_resource,-ipc_lock", "--bounding-set=-sys_resource,-ipc_lock", "prlimit"]
        for size in (0, 64 << 10, 1 << 20):
            with self.subTest(size):
                status, log = start(*limited, f"--memlock={size}:{size}")
                # Since Linux 5.11 maps are not charged to it.
                if status is not None:
                    self.assertEqual(status, 1, log)
                    self.assertIn("RLIMIT_MEMLOCK", log.splitlines()[-1])

    @staticmethod
    def is_ready(agent):
        with contextlib.suppress(OSError):
            return agent.get("/-/ready")[0] == 200
        return False

    def test_closed_standard_descriptors_stay_out_of_use(self):
        closing = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
        with Agent("--monitor.interval=500ms", command_prefix=closing) as agent:
            for number in range(3):
                self.assertEqual(os.readlink(f"/proc/{agent.process.pid}/fd/{number}"), "/dev/null")
            self.assertEqual(agent.get("/metrics")[0], 200)


class Meters(unittest.TestCase):
    def setUp(self):
        self.empty = scratch_directory()
        os.mkdir(os.path.join(self.empty, "class"))
        os.chmod(self.empty, 0o755)
        self.addCleanup(subprocess.run, ["rm", "-rf", self.empty], check=True)

    def sources(self, agent):
        return {labels["source"] for labels, _ in agent.scrape().series("kepler_node_energy_source_info")}

    def in_namespace(self, *steps):
        """A command prefix: the steps in a mount namespace of its own, then the command."""
        script = " && ".join([*steps, 'exec "$@"'])
        prefix = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
        probe = subprocess.run([*prefix, "true"], check=False, stderr=subprocess.PIPE)
        require(probe.returncode == 0, f"no mount namespace: {probe.stderr!r}")
        return prefix

    def test_no_meter_where_one_is_required_ends_the_start(self):
        status, output = run_to_end("--host.sysfs", self.empty, "--meter.require",
                                    f"--web.listen-address=127.0.0.1:{free_port()}")
        self.assertEqual(status, 1, output)
        errors = [line for line in output.splitlines() if "level=ERROR" in line]
        self.assertEqual(len(errors), 1, output)
        for source in ("rapl", "hwmon", "--meter.require"):
            self.assertIn(source, errors[0])

    def test_empty_sysfs_runs_on_the_model_and_says_so(self):
        with Agent("--host.sysfs", self.empty, "--monitor.interval=500ms") as agent:
            self.assertEqual(self.sources(agent), {"model"})
            self.assertIn("using the power model", agent.log())
            page = agent.scrape_after()
            zones = {labels["zone"]: labels["path"] for labels, _ in page.series("kepler_node_energy_source_info")}
            self.assertEqual(zones, {"package": "model", "dram": "model", "platform": "model"})
            shared = {labels["zone"] for labels, _ in page.series("kepler_node_cpu_joules_total")}
            self.assertEqual(shared, {"package", "dram"})
            models = {labels["zone"]: labels for labels, _ in page.series("kepler_model_info")}
            self.assertEqual(set(models), set(zones))
            for labels in models.values():
                self.assertEqual((labels["source"], labels["features"]), ("built-in", "BPFOnly"))
            errors = page.series("kepler_conservation_error_joules")
            self.assertEqual({labels["zone"] for labels, _ in errors}, set(zones))
            self.assertEqual({value for _, value in errors}, {0})
            whole = page.value("kepler_node_platform_joules_total", path="model", zone="platform")
            parts = sum(value for _, value in page.series("kepler_node_cpu_joules_total"))
            self.assertGreaterEqual(whole, parts)
            self.assertGreaterEqual(page.value("kepler_model_predictions_total"), 2)
            self.assertGreater(page.value("kepler_node_cpu_seconds_total"), 0)

    def test_guest_is_charged_for_its_load_only_unless_it_asks_for_idle(self):
        with Agent("--host.sysfs", self.empty, "--monitor.interval=500ms") as agent:
            page = agent.scrape_after()
            scopes = {labels["scope"] for labels, _ in page.series("kepler_model_info")}
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                guest = re.search(r"(?m)^flags\b.* hypervisor\b", file.read())
            if guest:
                self.assertEqual({value for _, value in page.series("kepler_node_cpu_idle_joules_total")}, {0})
            self.assertEqual(scopes, {"load" if guest else "machine"})
        whole = "model: {guestIdle: true}\n"
        with Agent("--host.sysfs", self.empty, "--monitor.interval=500ms", config=whole) as agent:
            page = agent.scrape_after()
            self.assertEqual({labels["scope"] for labels, _ in page.series("kepler_model_info")}, {"machine"})

    def test_whole_machine_is_estimated_beside_the_meter_of_its_processors(self):
        fake = "cpu: {preferredMeters: [fake]}\n"
        with Agent("--monitor.interval=500ms", config=fake + "model: {guestIdle: true}\n") as agent:
            page = agent.scrape_after()
            sources = {labels["zone"]: labels["source"] for labels, _ in page.series("kepler_node_energy_source_info")}
            self.assertEqual(sources, {"package": "fake", "core": "fake", "dram": "fake", "platform": "model"})
            self.assertEqual([labels["zone"] for labels, _ in page.series("kepler_model_info")], ["platform"])
            measured = sum(page.value("kepler_node_cpu_joules_total", zone=zone) for zone in ("package", "dram"))
            self.assertGreaterEqual(page.value("kepler_node_platform_joules_total"), measured)
            self.assertEqual({value for _, value in page.series("kepler_conservation_error_joules")}, {0})
        with Agent("--monitor.interval=500ms", config=fake + "model: {platform: false}\n") as agent:
            page = agent.scrape_after()
            self.assertEqual(page.series("kepler_node_platform_joules_total"), [])
            self.assertEqual(page.series("kepler_model_info"), [])

    def test_missing_sys_runs_on_the_model(self):
        without_sys = self.in_namespace("umount -l /sys")
        with Agent("--monitor.interval=500ms", command_prefix=without_sys) as agent:
            self.assertEqual(self.sources(agent), {"model"})

    def test_read_only_sysfs_is_all_it_needs(self):
        with PowercapTree(ONE_PACKAGE) as tree:
            read_only = self.in_namespace(f"mount --bind {tree.root} {tree.root}",
                                          f"mount -o remount,bind,ro {tree.root}")
            with metered_agent(tree, command_prefix=read_only) as agent:
                self.assertEqual(self.sources(agent), {"rapl"})

    def test_unreadable_counter_names_the_missing_capability(self):
        require(os.geteuid() == 0, "only root can become somebody who may not read a counter")
        with PowercapTree(ONE_PACKAGE) as tree:
            os.chmod(tree.path("intel-rapl:0", "energy_uj"), 0o400)
            arguments = ["--host.sysfs", tree.root, "--monitor.interval=500ms"]
            with Agent(*arguments, **NOBODY) as agent:
                self.assertEqual(self.sources(agent), {"model"})
                self.assertRegex(agent.log(), r"energy_uj.*CAP_DAC_READ_SEARCH")
            status, output = run_to_end(*arguments, "--meter.require", f"--web.listen-address=127.0.0.1:{free_port()}",
                                        **NOBODY)
        self.assertEqual(status, 1, output)
        self.assertIn("CAP_DAC_READ_SEARCH", output.splitlines()[-1])


class Signals(ScratchTest):
    def test_sigterm_and_sigint_end_it_with_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number), Agent("--monitor.interval=1s") as agent:
                self.assertEqual(agent.stop(number), 0)
                self.assertIn(number.name, agent.log())

    def test_sigterm_before_the_first_snapshot_ends_it_with_0(self):
        with Agent("--monitor.interval=1h", ready=False) as agent:
            agent.wait_log("msg=started")
            self.assertEqual(agent.stop(), 0)

    def test_sighup_while_it_ends_changes_nothing(self):
        with Agent("--monitor.interval=1s") as agent, agent.connect() as client:
            # Who has had the last answer and keeps the line open is waited for a moment.
            client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 "))
            agent.process.send_signal(signal.SIGTERM)
            agent.wait_log("msg=stopping")
            agent.process.send_signal(signal.SIGHUP)
            self.assertEqual(agent.wait(), 0)

    def test_sighup_reloads_the_log_level(self):
        with Agent("--monitor.interval=1s", config="log:\n  level: info\n") as agent:
            agent.write_config("log:\n  level: debug\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("msg=reloaded .*log.level=debug")

    def test_sighup_to_a_quieter_log_is_still_said(self):
        with Agent("--monitor.interval=1s", config="log:\n  level: info\n") as agent:
            agent.write_config("log:\n  level: error\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("level=INFO .*msg=reloaded .*log.level=error")
            self.assertEqual(agent.stop(), 0)
            self.assertNotIn("msg=stopping", agent.log())

    def test_sighup_names_what_waits_for_the_next_start(self):
        with Agent("--monitor.interval=1s", config="log:\n  level: info\n") as agent:
            agent.write_config("log:\n  level: error\nmonitor:\n  staleness: 3s\n  intervall: 1s\nrapl:\n"
                               "  zones: [core]\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("msg=reloaded")
            self.assertRegex(agent.log(), 'level=WARN .*msg="some changed keys take effect at the next startup" '
                                          'keys="monitor.staleness, rapl.zones"\n')
            self.assertRegex(agent.log(), r"level=WARN .*kepler\.yaml:5.*intervall")

    def test_debug_config_shows_what_is_in_effect_after_sighup(self):
        with Agent("--monitor.interval=1s", config="log:\n  level: info\n") as agent:
            agent.write_config("log:\n  level: warn\nrapl:\n  zones: [core]\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("msg=reloaded")
            shown = agent.get("/debug/config")[2].decode()
            self.assertIn("log:\n  level: warn\n", shown)
            self.assertIn("rapl:\n  zones: []\n", shown)

    def test_sighup_with_a_bad_file_keeps_the_old_configuration(self):
        with Agent("--monitor.interval=1s", config="log:\n  level: warn\n") as agent:
            agent.write_config("log:\n  level: info\nmonitor:\n  interval: 5 parsecs\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log(rf"level=ERROR .*{re.escape(agent.config_path)}:4.*monitor\.interval.*5 parsecs")
            self.assertEqual(agent.get("/metrics")[0], 200)
            # Its end is news at level info, as a reload is: it would show a level that the bad file has changed.
            self.assertEqual(agent.stop(), 0)
            self.assertNotIn("level=INFO", agent.log())

    def test_sighup_while_the_token_of_the_cluster_is_rotated_takes_effect(self):
        kubeconfig = self.write("kubeconfig", "current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n"
                                              "clusters: [{name: b, cluster: {server: 'https://127.0.0.1:1'}}]\n"
                                              "users: [{name: c, user: {tokenFile: token}}]\n")
        token = self.write("token", "t0k\n")
        kube = f"kube:\n  enabled: true\n  nodeName: node-1\n  config: {kubeconfig}\n"
        with Agent("--monitor.interval=1s", config=kube) as agent:
            with open(token, "w", encoding="ascii"):
                pass  # empty
            agent.write_config(kube + "log:\n  level: debug\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("msg=reloaded .*log.level=debug")

    def test_sighup_with_several_mistakes_says_them_on_one_line(self):
        with Agent("--monitor.interval=1s", config="log:\n  level: warn\n") as agent:
            agent.write_config("log:\n  level: loud\nmonitor:\n  interval: 5 parsecs\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log(r"level=ERROR .*5 parsecs")
            line = next(line for line in agent.log().splitlines() if "level=ERROR" in line)
            self.assertRegex(line, r"monitor\.interval.*; .*log\.level")
            self.assertNotIn(r"\n", line)

    def test_sighup_reloads_the_web_configuration(self):
        web = self.write("web.yaml", "{}\n")
        with Agent("--monitor.interval=1s", f"--web.config-file={web}") as agent:
            self.write("web.yaml", USERS)
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("msg=reloaded")
            # It counts once a second look, by the server itself and though nobody asks, has found the same.
            agent.wait_log("reloaded the web configuration")
            self.assertEqual(agent.get("/metrics")[0], 401)
            login = {"Authorization": "Basic YWxpY2U6Y29ycmVjdCBob3JzZQ=="}
            status, _, body = agent.get("/metrics", login)
            self.assertEqual(status, 200)
            self.assertEqual(Exposition(body.decode()).value("kepler_config_last_reload_successful"), 1)

    def test_sighup_judges_another_web_configuration_before_the_next_start_does(self):
        web = self.write("web.yaml", "basic_auth_usrs: {}\n")
        with Agent("--monitor.interval=1s", config="log:\n  level: info\n") as agent:
            agent.write_config(f"web:\n  configFile: {web}\n")
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log(r"level=ERROR .*failed to load the new configuration.*web\.yaml:1.*basic_auth_usrs")
            self.assertEqual(agent.scrape().value("kepler_config_last_reload_successful"), 0)
            self.write("web.yaml", USERS)
            agent.process.send_signal(signal.SIGHUP)
            agent.wait_log("take effect at the next startup.*web.configFile")
            self.assertEqual(agent.scrape_after().value("kepler_config_last_reload_successful"), 1)

    def test_web_file_that_is_being_rewritten_opens_no_door(self):
        web = self.write("web.yaml", USERS)
        login = {"Authorization": "Basic YWxpY2U6Y29ycmVjdCBob3JzZQ=="}
        with Agent("--monitor.interval=1s", f"--web.config-file={web}", ready=False) as agent:
            agent.wait_log("msg=started")
            for number, text in enumerate(("", "# soon\n", "{}\n", "basic_auth_users:\n"), 1):
                with open(web, "w", encoding="ascii") as file:
                    file.write(text)
                wait_until(lambda n=number: agent.log().count("no longer has users") == n, "the refusal")
                self.assertEqual(agent.get("/metrics")[0], 401)
            status, _, body = agent.get("/metrics", login)
            self.assertEqual(status, 200)
            self.assertEqual(Exposition(body.decode()).value("kepler_config_last_reload_successful"), 0)
            self.write("web.yaml", USERS)
            agent.wait_log("reloaded the web configuration")

    def test_key_in_place_of_its_file_is_not_printed(self):
        web = self.write("web.yaml", "tls_server_config:\n  cert_file: server.crt\n  key_file: |\n"
                                     "    -----BEGIN PRIVATE KEY-----\n    MIIEvQIBADANBg\n    -----END PRIVATE KEY-----\n")
        for more in ([], ["--config.check"]):
            code, said = run_to_end(f"--web.config-file={web}", *more)
            self.assertEqual(code, 1)
            self.assertIn(f"{web}:3: tls_server_config.key_file: must be a path", said)
            self.assertNotIn("MIIE", said)
            self.assertNotIn("BEGIN", said)

    def test_sighup_with_a_bad_web_configuration_keeps_the_old_one(self):
        web = self.write("web.yaml", USERS)
        arguments = ["--monitor.interval=1s", f"--web.config-file={web}"]
        login = {"Authorization": "Basic YWxpY2U6Y29ycmVjdCBob3JzZQ=="}
        with Agent(*arguments, ready=False) as agent:
            agent.wait_log("msg=started")
            wait_until(lambda: agent.get("/metrics", login)[0] == 200, "the first snapshot")

            def reload_metric(name):
                page = Exposition(agent.get("/metrics", login)[2].decode())
                return page.value(f"kepler_config_last_reload_{name}")
            success = reload_metric("success_timestamp_seconds")
            wait_until(lambda: time.time() > success + 1, "another second than the start's")
            self.write("web.yaml", "basic_auth_usrs: {}\n")
            agent.process.send_signal(signal.SIGHUP)
            # Nobody has asked anything: the signal alone made it look.
            agent.wait_log(r"level=ERROR .*failed to load the web configuration.*web\.yaml:1.*basic_auth_usrs")
            self.assertEqual(agent.get("/metrics")[0], 401)
            wait_until(lambda: reload_metric("successful") == 0, "the failure in the metrics")
            self.assertEqual(reload_metric("success_timestamp_seconds"), success)

    @staticmethod
    def waits_for_its_reader(pid):
        """Whether the exporter's thread polls two descriptors: between two reports it polls only the one that stops it."""
        for task in glob.glob(f"/proc/{pid}/task/*"):
            with contextlib.suppress(OSError), open(f"{task}/comm", encoding="ascii") as comm:  # a thread may end meanwhile
                if comm.read() == "stdout\n":
                    with open(f"{task}/syscall", encoding="ascii") as syscall:
                        return syscall.read().split()[2:3] == ["0x2"]  # poll(descriptors, number, ...)
        return False

    def test_sigterm_ends_it_while_nobody_reads_the_stdout_exporter(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        # Full from the start: not even the first report fits. Opened anew, for the agent's end is to block as usual.
        filler = os.open(f"/proc/self/fd/{writer}", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(filler, bytes(4096))
        os.close(filler)
        with Agent("--exporter.stdout", "--monitor.interval=500ms", stdout=writer) as agent:
            wait_until(lambda: self.waits_for_its_reader(agent.process.pid), "the stdout exporter to wait for its reader")
            self.assertEqual(agent.get("/metrics")[0], 200)
            self.assertEqual(agent.stop(seconds=5), 0)


class StalledLog(unittest.TestCase):
    """The log goes into a pipe that is full, and whose reader has stopped reading."""

    def setUp(self):
        self.reader, self.writer = os.pipe()
        self.addCleanup(os.close, self.reader)
        self.addCleanup(os.close, self.writer)

    def fill(self):
        # Opened anew, for the agent's end is to block as usual.
        filler = os.open(f"/proc/self/fd/{self.writer}", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(filler, b"." * 4096)
        os.close(filler)

    def read_until(self, pattern, seconds=30):
        text, deadline = "", time.monotonic() + seconds
        while not re.search(pattern, text):
            if not select.select([self.reader], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"{pattern!r} is not in the log:\n{text[-2000:]}")
            text += os.read(self.reader, 65536).decode()
        return text

    def test_it_holds_up_neither_start_nor_scrapes_nor_the_end(self):
        self.fill()
        with Agent("--monitor.interval=500ms", stdout=self.writer, stderr=self.writer) as agent:
            agent.process.send_signal(signal.SIGHUP)
            agent.scrape_after()
            self.assertEqual(agent.get("/-/healthy")[0], 200)
            begin = time.monotonic()
            self.assertEqual(agent.stop(seconds=10), 0)
            self.assertLess(time.monotonic() - begin, 10)

    def test_lines_are_dropped_counted_and_told_when_the_reader_comes_back(self):
        unknown = "".join(f"unknown{i}: 1\n" for i in range(200))
        with Agent("--monitor.interval=500ms", stdout=self.writer, stderr=self.writer, config=unknown) as agent:
            self.fill()

            def dropped():
                agent.process.send_signal(signal.SIGHUP)  # a warning for each of them
                return agent.scrape().value("kepler_log_lines_dropped_total")
            wait_until(dropped, "dropped lines")
            told = self.read_until("log lines were dropped.*\n")
            self.assertRegex(told, 'level=WARN .*msg="log lines were dropped .*" lines=[1-9][0-9]*\n')
            agent.process.send_signal(signal.SIGHUP)
            self.read_until("msg=reloaded")


class ServiceManager(unittest.TestCase):
    """What systemd receives from the unit's process (sd_notify)."""

    def test_it_receives_start_life_and_end(self):
        directory = scratch_directory()
        self.addCleanup(subprocess.run, ["rm", "-rf", directory], check=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(os.path.join(directory, "notify"))
            manager.settimeout(30)
            environment = {**os.environ, "NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "1000000"}
            with Agent("--monitor.interval=200ms", ready=False, env=environment) as agent:
                self.assertEqual(manager.recv(100), b"READY=1")
                self.assertEqual(agent.get("/-/healthy")[0], 200)  # ready means that it serves
                for _ in range(3):
                    self.assertEqual(manager.recv(100), b"WATCHDOG=1")
                agent.process.send_signal(signal.SIGTERM)
                while (said := manager.recv(100)) == b"WATCHDOG=1":
                    pass
                self.assertEqual(said, b"STOPPING=1")
                self.assertEqual(agent.wait(), 0)

    def test_it_hears_of_the_start_though_its_queue_was_full(self):
        directory = scratch_directory()
        self.addCleanup(subprocess.run, ["rm", "-rf", directory], check=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, \
                socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as others:
            manager.bind(os.path.join(directory, "notify"))
            manager.settimeout(30)
            others.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    others.sendto(b"other", manager.getsockname())
            environment = {**os.environ, "NOTIFY_SOCKET": manager.getsockname()}
            with Agent("--monitor.interval=200ms", ready=False, env=environment) as agent:
                agent.wait_log("level=WARN .*failed to notify the service manager.*READY=1")
                while (said := manager.recv(100)) == b"other":
                    pass
                self.assertEqual(said, b"READY=1")

    def test_manager_that_is_gone_is_said_and_changes_nothing(self):
        with Agent("--monitor.interval=1s", env={**os.environ, "NOTIFY_SOCKET": "/nonexistent/notify"}) as agent:
            agent.wait_log("level=WARN .*failed to notify the service manager.*READY=1.*/nonexistent/notify")


class CommandLine(unittest.TestCase):
    def test_version_and_help_end_with_0(self):
        for flag in ("--version", "--help"):
            status, output = run_to_end(flag)
            self.assertEqual(status, 0, output)
            self.assertIn("kepler", output)

    def test_unknown_flag_ends_with_1(self):
        status, output = run_to_end("--no-such-flag")
        self.assertEqual(status, 1, output)
        self.assertIn("no-such-flag", output)


if __name__ == "__main__":
    run_tests()
