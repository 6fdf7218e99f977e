"""The text of a power model, for tests of what reads or serves one."""
import json


def own(name, watts, version=1):
    """The text of a model of the package that always estimates `watts`."""
    return json.dumps({"kepler_model": 1, "name": name, "version": version, "output": "AbsPower",
                       "features": ["bpf_cpu_time_ms"], "domain": [[0, 1e6]],
                       "components": [{"component": "package", "trainer": "linear", "label": [0, 500],
                                       "accuracy": {"rows": 9, "mae_watts": 1.5, "mape": 2.5, "r2": 0.5},
                                       "predictor": {"formula": "linear", "bias": watts, "weights": [0]}}]})
