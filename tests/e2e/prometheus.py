"""The peers that read the agent: a real Prometheus, and the strict OpenMetrics parser of its Python client."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.parse
import urllib.request

from exposition import Exposition
from harness import end, free_port, require, wait_until

CONFIG = """
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: kepler
    static_configs:
      - targets: [localhost:28282]
"""
BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "cluster", "bin")
NEWER = os.path.join(BUILT, "prometheus-0.316.0")
VICTORIA = os.path.join(BUILT, "victoria-metrics-1.148.9")
THANOS = os.path.join(BUILT, "thanos-0.42.4")
# What Prometheus counts for samples that it did not take.
DROPPED = ("prometheus_target_scrapes_exceeded_sample_limit_total",
           "prometheus_target_scrapes_exceeded_body_size_limit_total",
           "prometheus_target_scrapes_sample_duplicate_timestamp_total",
           "prometheus_target_scrapes_sample_out_of_bounds_total",
           "prometheus_target_scrapes_sample_out_of_order_total")


def strict_openmetrics(text):
    """The families, as the parser of python3-prometheus-client gives them. It accepts duplicate series: the text
    format's reader of ours does not."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    return list(text_string_to_metric_families(text))


def replace_once(text, old, new):
    if text.count(old) != 1:
        raise AssertionError(f"{text.count(old)} times {old!r} in {text!r}")
    return text.replace(old, new)


class Prometheus(contextlib.AbstractContextManager):
    """Scrapes agents on these ports of 127.0.0.1. Its configuration has one target, localhost:28282, in their place."""

    def __init__(self, *ports, config=CONFIG, program="prometheus", flags=()):
        require(shutil.which(program), f"{program} is not installed or not built")
        self.directory = tempfile.mkdtemp(prefix="kepler-prometheus-")
        self.port = free_port()
        self.agents, self.program, self.flags = ports, program, flags
        targets = ", ".join(f'"127.0.0.1:{port}"' for port in ports)
        with open(self.path("prometheus.yml"), "w", encoding="ascii") as file:
            file.write(replace_once(config, "localhost:28282", targets))
        self.process = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def __enter__(self):
        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        try:
            wait_until(self.is_ready, "the server to become ready", 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def command(self):
        return [self.program, *self.flags, f"--config.file={self.path('prometheus.yml')}", "--log.level=warn",
                f"--storage.tsdb.path={self.path('data')}", "--storage.tsdb.retention.time=3650d",
                f"--web.listen-address=127.0.0.1:{self.port}"]

    def __exit__(self, *_):
        end(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)

    def is_ready(self):
        with contextlib.suppress(OSError):
            return self.get("/-/ready") is not None
        return False

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.read().decode()

    def ask(self, **parameters):
        """The result of an instant query, as Prometheus has it."""
        return json.loads(self.get("/api/v1/query?" + urllib.parse.urlencode(parameters)))["data"]["result"]

    def at(self, selector, milliseconds):
        """{labels as sorted pairs: value} of the series that are current at that time."""
        found = self.ask(query=selector, time=f"{milliseconds / 1000:.3f}")
        return {tuple(sorted(series["metric"].items())): float(series["value"][1]) for series in found}

    @property
    def write_url(self):
        return f"http://127.0.0.1:{self.port}/api/v1/write"

    def flush(self):
        """Makes what the server has accepted visible to queries. Prometheus shows it at once."""

    def restart(self):
        """Kills the server and starts it again on its port, with its data."""
        end(self.process)
        self.__enter__()

    def query(self, expression):
        return [float(result["value"][1]) for result in self.ask(query=expression)]

    def scrapes(self):
        return int(sum(self.query('count_over_time(up{job="kepler"}[1h])')))

    def failed_scrapes(self):
        up = 'up{job="kepler"}[1h]'  # in one query: scrapes go on
        return int(sum(self.query(f"count_over_time({up}) - sum_over_time({up})")))

    def dropped_samples(self):
        own = Exposition(self.get("/metrics"))
        dropped = {name: int(own.sum(name)) for name in DROPPED}
        dropped["relabelled away"] = int(sum(self.query(
            "sum_over_time(scrape_samples_scraped[1h]) - sum_over_time(scrape_samples_post_metric_relabeling[1h])")))
        return dropped


class VictoriaMetrics(Prometheus):
    """Accepts remote write version 1 only. It writes to its disk every 5 s, so a kill loses samples that it has accepted."""

    def __init__(self):
        super().__init__(program=VICTORIA)

    def command(self):
        return [self.program, f"-storageDataPath={self.path('data')}", f"-httpListenAddr=127.0.0.1:{self.port}",
                "-search.latencyOffset=1ms"]  # the default hides samples for 30 s

    def flush(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/internal/force_flush", timeout=30) as answer:
            answer.read()

    def restart(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        super().restart()


class ThanosReceive(Prometheus):
    """Two processes, as in production: `thanos receive` stores, and `thanos query` answers queries from it. Accepts remote
    write version 1 only."""

    def __init__(self):
        super().__init__(program=THANOS)
        self.write_port, self.store_port = free_port(), free_port()
        self.querier = None

    @property
    def write_url(self):
        return f"http://127.0.0.1:{self.write_port}/api/v1/receive"

    def command(self):
        return [self.program, "receive", f"--tsdb.path={self.path('data')}", '--label=replica="a"',
                f"--grpc-address=127.0.0.1:{self.store_port}", "--http-address=127.0.0.1:0",
                f"--remote-write.address=127.0.0.1:{self.write_port}"]

    def __enter__(self):
        with open(self.path("query.log"), "wb") as log:
            self.querier = subprocess.Popen([self.program, "query", f"--endpoint=127.0.0.1:{self.store_port}",
                                             f"--http-address=127.0.0.1:{self.port}", "--grpc-address=127.0.0.1:0"],
                                            stdout=log, stderr=log)
        return super().__enter__()

    def is_ready(self):
        """The querier has found the store, which is there once the receiver has read its log."""
        with contextlib.suppress(OSError):
            return "receive" in json.loads(self.get("/api/v1/stores"))["data"]
        return False

    def restart(self):
        end(self.querier)
        super().restart()

    def __exit__(self, *failure):
        end(self.querier)
        super().__exit__(*failure)
