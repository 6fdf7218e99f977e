"""The protobuf page, read by protobuf's own library as the lines of text 0.0.4."""
from exposition import Exposition
from protobuf_messages import message_class

ACCEPT = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

# The part of github.com/prometheus/client_model's metrics.proto that the agent uses: name, number, type.
MESSAGES = {
    "LabelPair": [("name", 1, "string"), ("value", 2, "string")],
    "Timestamp": [("seconds", 1, "int64"), ("nanos", 2, "int32")],
    "Gauge": [("value", 1, "double")],
    "Counter": [("value", 1, "double"), ("created_timestamp", 3, "Timestamp")],
    "Metric": [("label", 1, "LabelPair*"), ("gauge", 2, "Gauge"), ("counter", 3, "Counter")],
    "MetricFamily": [("name", 1, "string"), ("help", 2, "string"), ("type", 3, "int32"), ("metric", 4, "Metric*"),
                     ("unit", 5, "string")],
}
TYPES = {0: "counter", 1: "gauge"}


def families(page):
    """The messages of a page. Refuses one that is cut, has unknown fields, or has a family twice."""
    from google.protobuf.internal.decoder import _DecodeVarint32
    family_class, found, at = message_class(MESSAGES, "MetricFamily"), {}, 0
    while at < len(page):
        size, at = _DecodeVarint32(page, at)
        if at + size > len(page):
            raise AssertionError(f"cut short: {at + size - len(page)} bytes missing")
        family = family_class.FromString(page[at:at + size])
        at += size
        if family.name in found:
            raise AssertionError(f"{family.name} twice")
        if len(family.SerializeToString()) != size or family.FindInitializationErrors():
            raise AssertionError(f"{family.name}: bytes without a meaning")
        found[family.name] = family
    return found


def as_exposition(page):
    """The same as Exposition(text of the same snapshot), with the values as floats."""
    exposition = Exposition("# EOF\n")
    for name, family in families(page).items():
        exposition.types[name] = TYPES[family.type]
        samples = exposition.families.setdefault(name, {})
        for metric in family.metric:
            labels = tuple(sorted((label.name, label.value) for label in metric.label))
            if labels in samples:
                raise AssertionError(f"duplicate series: {name}{labels}")
            samples[labels] = (metric.counter if family.type == 0 else metric.gauge).value
    return exposition


def starts(page):
    """{(family, labels): start in seconds since the epoch} of every counter; None where it has none."""
    return {(name, tuple(sorted((label.name, label.value) for label in metric.label))):
            metric.counter.created_timestamp.seconds + metric.counter.created_timestamp.nanos / 1e9
            if metric.counter.HasField("created_timestamp") else None
            for name, family in families(page).items() if family.type == 0 for metric in family.metric}
