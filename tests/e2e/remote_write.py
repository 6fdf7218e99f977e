"""A server of Prometheus remote write 1.0 and 2.0, read by the library of protobuf and an own decoder of snappy."""
import dataclasses
import struct
import threading

from harness import wait_until
from protobuf_messages import message_class
from push_server import PushServer

# The parts of prompb/types.proto and prompb/io/prometheus/write/v2/types.proto (Prometheus 3.16) that the agent uses.
V1 = {
    "Label": [("name", 1, "string"), ("value", 2, "string")],
    "Sample": [("value", 1, "double"), ("timestamp", 2, "int64")],
    "TimeSeries": [("labels", 1, "Label*"), ("samples", 2, "Sample*")],
    "MetricMetadata": [("type", 1, "int32"), ("metric_family_name", 2, "string"), ("help", 4, "string"), ("unit", 5, "string")],
    "WriteRequest": [("timeseries", 1, "TimeSeries*"), ("metadata", 3, "MetricMetadata*")],
}
V2 = {
    "Sample": [("value", 1, "double"), ("timestamp", 2, "int64"), ("start_timestamp", 3, "int64")],
    "Metadata": [("type", 1, "int32"), ("help_ref", 3, "uint32"), ("unit_ref", 4, "uint32")],
    "TimeSeries": [("labels_refs", 1, "bytes"), ("samples", 2, "Sample*"), ("metadata", 5, "Metadata")],
    "Request": [("symbols", 4, "string*"), ("timeseries", 5, "TimeSeries*")],
}
STALE = struct.pack("<Q", 0x7FF0000000000002)
TYPES = {1: "counter", 2: "gauge"}
WRITTEN = "X-Prometheus-Remote-Write-Samples-Written"


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7


def snappy_decompress(data):
    """The block format: github.com/google/snappy/blob/main/format_description.txt."""
    size, at = _varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                count = length - 59
                length = int.from_bytes(data[at:at + count], "little")
                at += count
            out += data[at:at + length + 1]
            at += length + 1
            continue
        if tag & 3 == 1:
            length, offset = 4 + (tag >> 2 & 7), tag >> 5 << 8 | data[at]
            at += 1
        else:
            count = 2 if tag & 3 == 2 else 4
            length, offset = 1 + (tag >> 2), int.from_bytes(data[at:at + count], "little")
            at += count
        if not 0 < offset <= len(out):
            raise AssertionError("a copy from before the text")
        for _ in range(length):
            out.append(out[-offset])
    if len(out) != size:
        raise AssertionError(f"{len(out)} bytes, not {size}")
    return bytes(out)


@dataclasses.dataclass
class Point:
    value: float
    time: int   # in milliseconds since the epoch, as `start`
    start: int  # 0: unknown
    kind: str   # "counter" or "gauge"

    @property
    def is_stale_marker(self):
        return struct.pack("<d", self.value) == STALE


def _series(plain):
    """[(pairs of labels, samples)] and {name: type} of version 1."""
    request = message_class(V1, "WriteRequest").FromString(plain)
    if len(request.SerializeToString()) != len(plain):
        raise AssertionError("bytes without a meaning")
    types = {data.metric_family_name: TYPES[data.type] for data in request.metadata}
    return [([(pair.name, pair.value) for pair in one.labels], one.samples) for one in request.timeseries], types


def _series_v2(plain):
    request = message_class(V2, "Request").FromString(plain)
    if len(request.SerializeToString()) != len(plain) or request.symbols[0]:
        raise AssertionError("bytes without a meaning, or a first symbol that is not empty")
    found, types = [], {}
    for one in request.timeseries:
        refs, at = [], 0
        while at < len(one.labels_refs):
            ref, at = _varint(one.labels_refs, at)
            refs.append(request.symbols[ref])
        pairs = list(zip(refs[::2], refs[1::2], strict=True))
        types[dict(pairs)["__name__"]] = TYPES[one.metadata.type]
        found.append((pairs, one.samples))
    return found, types


def read(body, headers):
    """{labels as sorted pairs: Point}. Refuses what the specifications forbid."""
    v2 = "proto=io.prometheus.write.v2.Request" in headers["Content-Type"]
    if headers["X-Prometheus-Remote-Write-Version"] != ("2.0.0" if v2 else "0.1.0") or headers["Content-Encoding"] != "snappy":
        raise AssertionError(f"unexpected headers {dict(headers)}")
    if not headers["User-Agent"]:
        raise AssertionError("no User-Agent")
    found, types = (_series_v2 if v2 else _series)(snappy_decompress(body))
    points = {}
    for pairs, samples in found:
        if pairs != sorted(set(pairs)) or len(dict(pairs)) != len(pairs) or not all(name and value for name, value in pairs):
            raise AssertionError(f"labels are not sorted, not unique or empty: {pairs}")
        if tuple(pairs) in points or len(samples) != 1:
            raise AssertionError(f"{pairs} twice")
        sample = samples[0]
        points[tuple(pairs)] = Point(sample.value, sample.timestamp, sample.start_timestamp if v2 else 0,
                                     types[dict(pairs)["__name__"]])
    return points


class RemoteWriteServer(PushServer):
    path, answer_type = "/api/v1/write", "text/plain"

    def __init__(self, *args, **kwargs):
        self.pushes = {}  # by time in milliseconds: {labels: Point}
        self.ended = {}   # by time: labels of series that got a stale marker
        self.times = []   # of each request, as they came
        self.current = set()  # labels of the series that have not ended
        self.headers = self.taken = None
        self.lock = threading.Lock()
        super().__init__(*args, **kwargs)
        self.url += self.path

    def take(self, body, headers):
        with self.lock:
            if body != self.taken:  # else sent again, because the answer came too late: a server takes the same points twice
                self.take_new(body, headers)
                self.taken = body

    def take_new(self, body, headers):
        points = read(body, headers)
        times = {point.time for point in points.values()}
        ended = {labels for labels, point in points.items() if point.is_stale_marker}
        if len(times) != 1:
            raise AssertionError(f"times {times} in a request")
        time, = times
        self.headers = headers
        self.times.append(time)  # before pushes: a push without a later time is not complete
        push = self.pushes.setdefault(time, {})
        if push.keys() & points.keys():
            raise AssertionError(f"{push.keys() & points.keys()} twice")
        self.current = (self.current | points.keys()) - ended
        push.update((labels, point) for labels, point in points.items() if labels not in ended)
        self.ended.setdefault(time, set()).update(ended)
        self.count = len(points)

    def say_ok(self, handler):
        handler.say(204, **{WRITTEN.replace("-", "_"): str(self.count)})

    def complete(self):
        """{time: {labels: Point}} of the pushes that have all of their requests."""
        last = max(self.times, default=0)
        return {time: push for time, push in list(self.pushes.items()) if time != last}

    def wait(self, count=1):
        """The latest push that is complete, once there are `count` of them."""
        found = wait_until(lambda: len(self.complete()) >= count and self.complete(), f"{count} pushes")
        return found[max(found)]


def microjoules(push, name, **wanted):
    wanted = {"__name__": name, **wanted}.items()
    return sum(round(point.value * 1e6) for labels, point in push.items() if wanted <= dict(labels).items())
