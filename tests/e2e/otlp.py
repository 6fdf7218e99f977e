"""An OpenTelemetry server: OTLP over HTTP with protobuf, read by the library of protobuf."""
import dataclasses
import gzip

from exposition import microjoules
from harness import wait_until
from protobuf_messages import message_class
from push_server import PushServer

# The parts of opentelemetry-proto 1.7 that the agent uses: name, number, type.
MESSAGES = {
    "AnyValue": [("string_value", 1, "string")],
    "KeyValue": [("key", 1, "string"), ("value", 2, "AnyValue")],
    "NumberDataPoint": [("start_time_unix_nano", 2, "fixed64"), ("time_unix_nano", 3, "fixed64"), ("as_double", 4, "double"),
                        ("as_int", 6, "sfixed64"), ("attributes", 7, "KeyValue*")],
    "Gauge": [("data_points", 1, "NumberDataPoint*")],
    "Sum": [("data_points", 1, "NumberDataPoint*"), ("aggregation_temporality", 2, "int32"), ("is_monotonic", 3, "bool")],
    "Metric": [("name", 1, "string"), ("description", 2, "string"), ("unit", 3, "string"), ("gauge", 5, "Gauge"),
               ("sum", 7, "Sum")],
    "Scope": [("name", 1, "string"), ("version", 2, "string")],
    "ScopeMetrics": [("scope", 1, "Scope"), ("metrics", 2, "Metric*")],
    "Resource": [("attributes", 1, "KeyValue*")],
    "ResourceMetrics": [("resource", 1, "Resource"), ("scope_metrics", 2, "ScopeMetrics*")],
    "Request": [("resource_metrics", 1, "ResourceMetrics*")],
}
DELTA, CUMULATIVE = 1, 2


@dataclasses.dataclass
class Point:
    name: str
    unit: str
    is_sum: bool
    attributes: dict
    value: float
    start: int
    time: int


@dataclasses.dataclass
class Push:
    """One request: its data points, the attributes of its resource, its headers."""
    points: list
    resource: dict
    headers: dict

    @property
    def time(self):
        """When its figures were taken, in nanoseconds since the epoch."""
        return self.points[0].time

    def of(self, name, **wanted):
        wanted = {key.replace("__", "."): value for key, value in wanted.items()}.items()
        return [point for point in self.points if point.name == name and wanted <= point.attributes.items()]

    def microjoules(self, name, **wanted):
        return sum(round(point.value * 1e6) for point in self.of(name, **wanted))


def _pairs(attributes):
    return {pair.key: pair.value.string_value for pair in attributes}


def read(body, headers, temporality=CUMULATIVE):
    """Refuses bytes without a meaning, a stream that occurs twice, and counters of another temporality."""
    if headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    request = message_class(MESSAGES, "Request").FromString(body)
    if len(request.SerializeToString()) != len(body):
        raise AssertionError("bytes without a meaning")
    points, resource, streams = [], {}, set()
    for resource_metrics in request.resource_metrics:
        resource = _pairs(resource_metrics.resource.attributes)
        for scope in resource_metrics.scope_metrics:
            for metric in scope.metrics:
                is_sum = metric.HasField("sum")
                if is_sum and (metric.sum.aggregation_temporality, metric.sum.is_monotonic) != (temporality, True):
                    raise AssertionError(f"{metric.name} is no counter of temporality {temporality}")
                for point in (metric.sum if is_sum else metric.gauge).data_points:
                    value = point.as_int if point.HasField("as_int") else point.as_double
                    attributes = _pairs(point.attributes)
                    stream = (metric.name, tuple(sorted(attributes.items())))
                    if stream in streams:
                        raise AssertionError(f"{stream} twice")
                    streams.add(stream)
                    points.append(Point(metric.name, metric.unit, is_sum, attributes, value, point.start_time_unix_nano,
                                        point.time_unix_nano))
    return Push(points, resource, dict(headers))


class OtlpServer(PushServer):
    path, answer_type, temporality = "/v1/metrics", "application/x-protobuf", CUMULATIVE

    def __init__(self, *args, **kwargs):
        self.pushes = []
        super().__init__(*args, **kwargs)

    def take(self, body, headers):
        self.pushes.append(read(body, headers, self.temporality))

    def wait(self, count=1):
        """The latest push, once there are `count` of them."""
        return wait_until(lambda: len(self.pushes) >= count and self.pushes[-1], f"{count} pushes")


def counted(agent, family, **labels):
    return int(agent.scrape().value(family, exporter="otlp", **labels))


def pair_of_one_tick(agent, server):
    """A scrape and a push of the same figures."""
    def pair():
        scrape = agent.scrape()
        at = round(scrape.value("kepler_snapshot_timestamp_seconds") * 10**9)
        return next(((scrape, push) for push in server.pushes if abs(push.time - at) < 10**6), None)
    return wait_until(pair, "a push and a scrape of one tick")


def check_figures(test, scrape, push):
    """The sums of both are equal to the microjoule."""
    for zone in scrape.zones():
        for family, name in (("kepler_process_cpu_joules_total", "kepler_process_cpu_joules"),
                             ("kepler_node_cpu_joules_total", "hw.energy"),
                             ("kepler_node_cpu_active_joules_total", "kepler_node_cpu_active_joules"),
                             ("kepler_node_cpu_unlisted_joules_total", "kepler_node_cpu_unlisted_joules"),
                             ("kepler_node_cpu_unattributed_joules_total", "kepler_node_cpu_unattributed_joules")):
            wanted = {"hw__id": zone} if name == "hw.energy" else {"zone": zone}
            test.assertEqual(push.microjoules(name, **wanted), microjoules(scrape.sum(family, zone=zone)), (name, zone))
    test.assertGreater(push.microjoules("hw.energy", hw__id="package"), 0)


class DeltaServer(OtlpServer):
    temporality = DELTA


def add_up(test, pushes):
    """A push with the sums of deltas, as if it were cumulative. Each data point starts where the one before it ended."""
    sums, last = {}, None
    for push in pushes:
        if last and push.time == last.time:  # its first answer was lost
            test.assertEqual(sorted(map(str, push.points)), sorted(map(str, last.points)))
            continue
        last = push
        for point in push.points:
            stream = (point.name, tuple(sorted(point.attributes.items())))
            before = sums.get(stream)
            if point.is_sum and before:
                test.assertGreaterEqual(point.start, before.time, stream)
                if point.start == before.time:  # else it is another process with the same attributes
                    point = dataclasses.replace(point, value=before.value + point.value, start=before.start)
            sums[stream] = point
    return dataclasses.replace(last, points=[point for point in sums.values() if point.time == last.time])
