#include "http/grpc/status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include <protozero/pbf_reader.hpp>

#include "base/base64.h"
#include "base/parse.h"

namespace kepler::http::grpc {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr std::string_view kRetryInfo = "/google.rpc.RetryInfo";
constexpr int64_t kMaxSeconds = 86'400;

Nanoseconds ReadDuration(pbf_reader duration) {
  int64_t seconds = 0, nanos = 0;
  while (duration.next()) {
    if (duration.tag_and_type() == tag_and_type(1, pbf_wire_type::varint))
      seconds = duration.get_int64();
    else if (duration.tag_and_type() == tag_and_type(2, pbf_wire_type::varint))
      nanos = duration.get_int32();
    else
      duration.skip();
  }
  seconds = std::clamp<int64_t>(seconds, 0, kMaxSeconds);
  nanos = std::clamp<int64_t>(nanos, 0, 999'999'999);
  return std::min<Nanoseconds>(std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos),
                               std::chrono::seconds(kMaxSeconds));
}

Nanoseconds ReadRetryInfo(pbf_reader info) {
  Nanoseconds delay{};
  while (info.next()) {
    if (info.tag_and_type() == tag_and_type(1, pbf_wire_type::length_delimited))
      delay = ReadDuration(info.get_message());
    else
      info.skip();
  }
  return delay;
}

/// Reads google.protobuf.Any. Nothing: the message is of another type.
std::optional<Nanoseconds> ReadDetail(pbf_reader any) {
  std::string type;
  protozero::data_view value{};
  while (any.next()) {
    if (any.tag_and_type() == tag_and_type(1, pbf_wire_type::length_delimited))
      type = any.get_string();
    else if (any.tag_and_type() == tag_and_type(2, pbf_wire_type::length_delimited))
      value = any.get_view();
    else
      any.skip();
  }
  if (!type.ends_with(kRetryInfo)) return std::nullopt;
  return ReadRetryInfo(pbf_reader(value));
}

}  // namespace

std::string_view ToString(Code code) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
       "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
       "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"});
  return kNames[static_cast<size_t>(code)];
}

std::optional<Code> ParseCode(std::string_view text) {
  const auto number = ParseNumber<uint32_t>(text);
  if (!number) return std::nullopt;
  return *number <= static_cast<uint32_t>(Code::kUnauthenticated) ? static_cast<Code>(*number) : Code::kUnknown;
}

Code CodeOfHttp(unsigned http_status) {
  switch (http_status) {
    case 400:
      return Code::kInternal;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::kUnavailable;
    default:
      return Code::kUnknown;
  }
}

std::optional<Nanoseconds> ReadRetryDelay(std::string_view details) {
  std::string padded(details);
  while (padded.size() % 4 != 0) padded += '=';
  const auto bytes = DecodeBase64(padded);
  if (!bytes) return std::nullopt;
  try {
    pbf_reader status(bytes->data(), bytes->size());
    while (status.next()) {
      if (status.tag_and_type() != tag_and_type(3, pbf_wire_type::length_delimited)) {
        status.skip();
      } else if (const auto delay = ReadDetail(status.get_message())) {
        return delay;
      }
    }
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace kepler::http::grpc
