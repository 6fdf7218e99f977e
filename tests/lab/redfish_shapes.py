"""Redfish resources as BMCs of several vendors and ages give them: {URI: JSON}, computed for the watts of a machine."""

ROOT = "/redfish/v1/"
CHASSIS = "/redfish/v1/Chassis"


def link(uri):
    return {"@odata.id": uri}


def collection(*uris):
    return {"Members@odata.count": len(uris), "Members": [link(uri) for uri in uris]}


def service(*chassis):
    """The way from the service root to the chassis."""
    return {ROOT: {"@odata.id": ROOT, "RedfishVersion": "1.15.0", "Chassis": link(CHASSIS),
                   "Links": {"Sessions": link("/redfish/v1/SessionService/Sessions")}},
            CHASSIS: collection(*chassis)}


def control(number, name, watts, **more):
    return {"@odata.id": f"{CHASSIS}/1/Power#/PowerControl/{number}", "MemberId": str(number), "Name": name,
            "PowerConsumedWatts": watts, "PowerCapacityWatts": 1400, **more}


def modern(watts):
    """PowerSubsystem with PowerSupplyMetrics, and EnvironmentMetrics: two supplies that share the load, and an empty bay."""
    chassis = f"{CHASSIS}/1"
    supplies = f"{chassis}/PowerSubsystem/PowerSupplies"
    half = {"Reading": watts / 2}
    answers = service(chassis) | {
        chassis: {"Id": "1", "ChassisType": "RackMount", "PowerSubsystem": link(f"{chassis}/PowerSubsystem"),
                  "EnvironmentMetrics": link(f"{chassis}/EnvironmentMetrics")},
        f"{chassis}/EnvironmentMetrics": {"Id": "EnvironmentMetrics", "PowerWatts": {"Reading": watts},
                                          "EnergykWh": {"Reading": 325.675}},
        f"{chassis}/PowerSubsystem": {"Id": "PowerSubsystem", "PowerSupplies": link(supplies)},
        supplies: collection(*(f"{supplies}/Bay{bay}" for bay in (1, 2, 3)))}
    for bay in (1, 2):
        answers[f"{supplies}/Bay{bay}"] = {"Id": f"Bay{bay}", "Name": f"Power Supply Bay {bay}",
                                           "Metrics": link(f"{supplies}/Bay{bay}/Metrics"), "Status": {"State": "Enabled"}}
        answers[f"{supplies}/Bay{bay}/Metrics"] = {"Id": "Metrics", "InputPowerWatts": half,
                                                   "OutputPowerWatts": {"Reading": watts * 0.46}}
    answers[f"{supplies}/Bay3"] = {"Id": "Bay3", "Status": {"State": "Absent"}}
    return answers


def inline(watts):
    """The power in the PowerSupply itself, as in the mock-up of upstream's tests."""
    chassis = f"{CHASSIS}/1U"
    supplies = f"{chassis}/PowerSubsystem/PowerSupplies"
    return service(chassis) | {
        chassis: {"Id": "1U", "ChassisType": "RackMount", "PowerSubsystem": link(f"{chassis}/PowerSubsystem")},
        f"{chassis}/PowerSubsystem": {"PowerSupplies": link(supplies)},
        supplies: collection(f"{supplies}/PS1", f"{supplies}/PS2"),
        f"{supplies}/PS1": {"Id": "PS1", "Name": "Power Supply 1", "PowerInputWatts": watts,
                            "PowerOutputWatts": watts * 0.9},
        f"{supplies}/PS2": {"Id": "PS2", "Name": "Power Supply 2", "PowerInputWatts": 0, "PowerOutputWatts": 0}}


def old(watts, controls=None, **power):
    """Only the Power resource."""
    chassis = f"{CHASSIS}/1"
    controls = [control(0, "System Power Control", watts)] if controls is None else controls
    return service(chassis) | {
        chassis: {"Id": "1", "ChassisType": "RackMount", "Power": link(f"{chassis}/Power")},
        f"{chassis}/Power": {"Id": "Power", "PowerControl": controls, **power}}


def idrac7(watts):
    """The supplies say null and something implausible: only PowerControl is right."""
    return old(watts, PowerSupplies=[{"MemberId": "PSU.Slot.1", "LastPowerOutputWatts": None, "PowerInputWatts": 900}])


def xcc(watts):
    """Parts of the server next to the server."""
    return old(watts, [control(0, "Server Power Control", watts), control(1, "CPU Sub-system Power", watts / 3),
                       control(2, "Memory Sub-system Power", watts / 10)])


def irmc(watts):
    """Only an OEM value."""
    return old(watts, [{"MemberId": "0", "Name": "System Power Control", "PowerConsumedWatts": None}],
               Oem={"ts_fujitsu": {"ChassisPowerConsumption": {"CurrentPowerConsumptionW": int(watts)}}})


def ilo4(watts):
    """Lower-case links, trailing slashes (see redirects()), and the watts once more at the top level."""
    chassis = f"{CHASSIS}/1/"
    return {ROOT: {"links": {"Chassis": {"href": f"{CHASSIS}/"}}},
            f"{CHASSIS}/": {"links": {"Member": [{"href": chassis}]}},
            chassis: {"Id": "1", "ChassisType": "RackMount", "links": {"Power": {"href": f"{chassis}Power/"}}},
            f"{chassis}Power/": {"PowerConsumedWatts": int(watts), "PowerCapacityWatts": 800,
                                 "PowerControl": [{"PowerConsumedWatts": int(watts)}]}}


def text(watts):
    """Numbers as text."""
    return old(watts, [control(0, "System Power Control", f"{watts:.1f}")])


def enclosure(watts):
    """Four blades and the enclosure that contains them, which reports all four."""
    whole = f"{CHASSIS}/Enclosure"
    blades = [f"{CHASSIS}/Blade{n}" for n in (1, 2, 3, 4)]
    answers = service(whole, *blades)
    for uri in (whole, *blades):
        own = watts * 4 if uri == whole else watts
        answers[uri] = {"Id": uri.rsplit("/", 1)[1], "ChassisType": "Enclosure" if uri == whole else "Blade",
                        "EnvironmentMetrics": link(f"{uri}/EnvironmentMetrics"),
                        "Links": {} if uri == whole else {"ContainedBy": link(whole)}}
        answers[f"{uri}/EnvironmentMetrics"] = {"Id": "EnvironmentMetrics", "PowerWatts": {"Reading": own}}
    return answers


SHAPES = {shape.__name__: shape for shape in (modern, inline, old, idrac7, xcc, irmc, ilo4, text, enclosure)}
