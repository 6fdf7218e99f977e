#pragma once
// The status of a gRPC call, as a server sends it in trailers. Sources: gRPC's PROTOCOL-HTTP2.md, statuscodes.md and
// http-grpc-status-mapping.md; google/rpc/status.proto and error_details.proto. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace kepler::http::grpc {

enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16
};

/// "UNAVAILABLE".
[[nodiscard]] std::string_view ToString(Code code);
/// The value of grpc-status; kUnknown for a number without a name. Nothing if it is not a number.
[[nodiscard]] std::optional<Code> ParseCode(std::string_view text);
/// The code for an answer that is not gRPC, such as that of a proxy.
[[nodiscard]] Code CodeOfHttp(unsigned http_status);
/// The delay of the RetryInfo in grpc-status-details-bin (Base64, with or without padding): when the server accepts the
/// call again. 0 if it has no delay or a negative one; at most one day. Nothing if there is no RetryInfo, or the bytes
/// are malformed.
[[nodiscard]] std::optional<Nanoseconds> ReadRetryDelay(std::string_view details);

}  // namespace kepler::http::grpc
