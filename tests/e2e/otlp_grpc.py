"""An OpenTelemetry server: OTLP over gRPC by grpcio, whose messages the library of protobuf reads."""
import contextlib
import pathlib
import threading
from concurrent import futures

import grpc

from harness import wait_until
from otlp import read

SERVICE = "opentelemetry.proto.collector.metrics.v1.MetricsService"
# google.rpc.Status with a RetryInfo of 2 s
RETRY_IN_2_S = b"\x1a\x30\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x04\x0a\x02\x08\x02"


class OtlpGrpcServer(contextlib.AbstractContextManager):
    """`answer(context, number)` returns the answer to call number `number` as bytes, or aborts the call. `tls`: (certificate, key,
    CA of the clients or None) as files. `port`: 0 for any. Answers of some length are compressed."""

    def __init__(self, answer=None, tls=None, port=0):
        self.pushes, self.calls, self.leaving, self.answer = [], 0, threading.Event(), answer
        self.server = grpc.server(futures.ThreadPoolExecutor(4), compression=grpc.Compression.Gzip)
        handler = grpc.unary_unary_rpc_method_handler(self.take)
        self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {"Export": handler})])
        address = f"127.0.0.1:{port}"
        if tls:
            cert, key, ca = (file and pathlib.Path(file).read_bytes() for file in tls)
            self.port = self.server.add_secure_port(address, grpc.ssl_server_credentials([(key, cert)], ca, ca is not None))
        else:
            self.port = self.server.add_insecure_port(address)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def take(self, body, context):
        self.calls += 1
        answer = self.answer(context, self.calls) if self.answer else b""
        self.pushes.append(read(body, dict(context.invocation_metadata())))
        return answer

    def hang(self, context, _):
        """An answer that never comes."""
        self.leaving.wait(60)
        context.abort(grpc.StatusCode.CANCELLED, "the test is over")

    def wait(self, count=1):
        """The latest push, once there are `count` of them."""
        return wait_until(lambda: len(self.pushes) >= count and self.pushes[-1], f"{count} pushes")

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *_):
        self.leaving.set()
        self.server.stop(0).wait()


def abort(context, code, text, details=None):
    """`details`: bytes of google.rpc.Status."""
    if details:
        context.set_trailing_metadata((("grpc-status-details-bin", details),))
    context.abort(code, text)
