"""The ACPI power meters of a Grace socket: those of the CPU are zones of it, the module's is the machine's. Then powercap in
user space, on the same machine."""
import user_powercap
from harness import wait_until
from lab import equal, modprobe

WATTS = {"module_power": 300, "grace_power": 200, "cpu_power": 150}


def set_up(lab):
    for field, watts in WATTS.items():
        lab.host.ask("set", field, 1000 * watts)
    for name in ("acpi_power_meter", "fuse"):
        modprobe(name)
    lab.start_agent("--meter.require")


def cpu_meters_are_zones(lab):
    lab.scrape()
    watts = {labels["zone"]: round(value, 3) for labels, value in lab.last.series("kepler_node_cpu_watts")}
    equal("W of the CPU's zones", watts, {zone: WATTS[zone] for zone in ("cpu_power", "grace_power")})
    return str(watts)


def module_meter_is_the_machine(lab):
    wait_until(lambda: lab.scrape().series("kepler_node_platform_watts", path="meter"), "the module's power", 30, period=0.3)
    shown = {labels["source_name"]: value for labels, value in lab.last.series("kepler_platform_watts")}
    equal("W of the platform's sensors", shown, {"module_power": WATTS["module_power"]})
    total = lab.last.value("kepler_node_platform_watts")
    equal("W of the machine", total, WATTS["module_power"])
    return f"{shown}, total {total} W"


CHECKS = (cpu_meters_are_zones, module_meter_is_the_machine, *user_powercap.CHECKS)
