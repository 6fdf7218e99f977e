"""The cluster that the tests run on: main.py starts it."""

CLUSTER = None


def cluster():
    if CLUSTER is None:
        raise RuntimeError("these tests run on a cluster: tools/e2e_kubernetes.sh [TEST]...")
    return CLUSTER
