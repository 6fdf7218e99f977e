"""Virtual machines of programs that no list knows, of libvirt in a pod, and of OpenStack, on the real kernel."""
import json
import os
import shutil
import subprocess
import unittest

from exposition import ScrapeChecker
from harness import binary, end, python_child, require, run_tests, wait_until
from powercap import ONE_PACKAGE, PowercapTree, metered_agent
from workloads import BURN, MACHINE, Cgroup

# What a virt-launcher that is not root has: a file system and a pid namespace of its own, the state of its libvirt in /run.
LAUNCHER = """
mount -t tmpfs none /run && mkdir -p /run/libvirt/qemu/run &&
echo "<domstatus state='running' pid='$$'><domain type='kvm'><name>shop_web</name><uuid>{uuid}</uuid></domain>
</domstatus>" >/run/libvirt/qemu/run/shop_web.xml &&
exec {program} -c -- '{burn}' -name guest=shop_web,debug-threads=on
"""
# What nova lets libvirt start on a host: an emulator whose metadata is in libvirt's state.
NOVA = """
mount -t tmpfs none /run && mkdir -p /run/libvirt/qemu &&
cat >/run/libvirt/qemu/instance-2a.xml <<STATE &&
<domstatus state='running' pid='$$'><domain type='qemu'><name>instance-2a</name><uuid>{uuid}</uuid><metadata>
<nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.1"><nova:name>web &amp; till</nova:name>
<nova:flavor name="m1.tiny"/><nova:owner><nova:user uuid="1">anna</nova:user>
<nova:project uuid="995b4947cc4044fba99bade057053803">team "shop"</nova:project></nova:owner></nova:instance>
</metadata></domain></domstatus>
STATE
exec qemu-system-x86_64 -name guest=instance-2a,debug-threads=on -uuid {uuid} -machine pc,accel=tcg -m 16 \\
  -nodefaults -display none -drive file={disk},format=raw,if=floppy
"""
ENDLESS = b"\xeb\xfe".ljust(510, b"\0") + b"\x55\xaa"  # a boot sector: jumps to itself
UUID = f"7f1d3c52-0d5b-4c3e-9f0a-{os.getpid():012x}"


class Machines(unittest.TestCase):
    def setUp(self):
        require(os.geteuid() == 0, "only root may see what other users' processes have open")
        self.tree = self.enterContext(PowercapTree(ONE_PACKAGE))
        self.checker = ScrapeChecker()
        self.lines = f"{self.tree.root}/energy.jsonl"
        config = json.dumps({"exporter": {"jsonLines": {"path": self.lines, "interval": "1s"}}})
        self.agent = self.enterContext(metered_agent(self.tree, interval="300ms", config=config))
        self.tree.start()

    def tearDown(self):
        self.assertEqual(self.checker.problems, [])

    def machine(self, **labels):
        """The scrape in which the machine has used something, once there is one."""
        def used():
            scrape = self.checker.check(self.agent.scrape_after())
            found = scrape.series("kepler_vm_cpu_joules_total", **labels)
            return scrape if found and found[0][1] > 0 else None
        return wait_until(used, f"the energy of the machine {labels}", 60)

    def test_a_program_that_nobody_knows_is_a_machine_once_it_holds_one(self):
        if not os.access("/dev/kvm", os.R_OK | os.W_OK):
            self.skipTest("there is no KVM here")
        process = python_child(MACHINE, "-name", "guest=acme", "-uuid", UUID, text=True)
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), "anon_inode:kvm-vm\n")
        scrape = self.machine(vm_id=UUID, vm_name="acme", hypervisor="kvm")
        labels, joules = scrape.series("kepler_process_cpu_joules_total", pid=process.pid, state="running")[0]
        self.assertEqual((labels["type"], labels["vm_id"]), ("vm", UUID))
        self.assertEqual(scrape.value("kepler_vm_cpu_joules_total", vm_id=UUID), joules)

    def test_machine_of_libvirt_in_a_pod_is_named_by_libvirt_and_stays_in_its_pod(self):
        pod, container = f"1b1d9e4e-0a3c-4f0e-9d3d-{os.getpid():012x}", f"{os.getpid():064x}"
        cgroup = self.enterContext(Cgroup(f"/kubepods/burstable/pod{pod}/{container}"))
        program = f"{self.tree.root}/qemu-kvm"
        shutil.copy(shutil.which("dash") or "/bin/sh", program)
        inside = LAUNCHER.format(program=program, uuid=UUID, burn=BURN)
        process = subprocess.Popen(["/bin/sh", "-c", cgroup.enter_script() + 'exec unshare -mpf --kill-child sh -c "$0"',
                                    inside])
        self.addCleanup(end, process)
        scrape = self.machine(vm_id=UUID, vm_name="shop_web", hypervisor="kvm")
        used = scrape.value("kepler_vm_cpu_joules_total", vm_id=UUID)
        labels, joules = scrape.series("kepler_process_cpu_joules_total", vm_id=UUID, state="running")[0]
        self.assertEqual((labels["type"], labels["container_id"], joules), ("container", container, used))
        in_container = scrape.value("kepler_container_cpu_joules_total", container_id=container, pod_id=pod)
        self.assertGreaterEqual(in_container, used)
        self.assertEqual(scrape.value("kepler_pod_cpu_joules_total", pod_id=pod), in_container)

    def report(self, by, name):
        """Joules of that row, once there is one."""
        def row():
            made = subprocess.run([binary(), "report", "--format=json", f"--by={by}", self.lines], capture_output=True,
                                  text=True, timeout=60, check=False)
            lines = json.loads(made.stdout)["lines"] if made.returncode == 0 else []
            return [line["joules"] for line in lines if (line["kind"], line["name"]) == (by, name)]
        return wait_until(row, f"the row {name} by {by}", period=0.3)[0]

    def test_machine_of_openstack_is_billed_to_its_project(self):
        require(shutil.which("qemu-system-x86_64"), "there is no QEMU (package qemu-system-x86)")
        disk = f"{self.tree.root}/disk"
        with open(disk, "wb") as file:
            file.write(ENDLESS)
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", NOVA.format(uuid=UUID, disk=disk)])
        self.addCleanup(end, process)
        self.machine(vm_id=UUID, vm_name="instance-2a", hypervisor="kvm")
        # A busy machine may be too slow for libvirt's file at first.
        labels = wait_until(lambda: [labels for labels, _ in self.agent.scrape().series("kepler_vm_info", vm_id=UUID)
                                     if labels["project_id"]], "the metadata of the machine", 60)[0]
        labels.pop("node_name", None)
        self.assertEqual(labels, {
            "flavor": "m1.tiny", "hypervisor": "kvm", "instance_name": "web & till", "user_name": "anna", "vm_id": UUID,
            "project_id": "995b4947cc4044fba99bade057053803", "project_name": 'team "shop"', "vm_name": "instance-2a"})
        row, = [row for row in json.loads(self.agent.get("/api/v1/snapshot?level=vm")[2])["workloads"]["rows"]
                if row["vm_id"] == UUID]
        self.assertEqual((row["instance"], row["project"]), ("web & till", 'team "shop"'))
        self.assertGreater(self.report("project", 'team "shop" (995b4947cc40)'), 0)
        self.assertGreater(self.report("vm", "web & till (instance-2a)"), 0)


if __name__ == "__main__":
    run_tests()
