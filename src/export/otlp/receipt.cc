#include "export/otlp/receipt.h"

#include <algorithm>
#include <string>

#include <protozero/pbf_reader.hpp>

namespace kepler::otlp {
namespace {

constexpr uint32_t kPartialSuccess = 1, kRejectedPoints = 1, kErrorMessage = 2;

void ReadPartialSuccess(protozero::pbf_reader partial, push::Receipt& receipt) {
  while (partial.next()) {
    if (partial.tag_and_type() == protozero::tag_and_type(kRejectedPoints, protozero::pbf_wire_type::varint))
      receipt.rejected_points = static_cast<uint64_t>(std::max<int64_t>(0, partial.get_int64()));
    else if (partial.tag_and_type() ==
             protozero::tag_and_type(kErrorMessage, protozero::pbf_wire_type::length_delimited))
      receipt.message = partial.get_string();
    else
      partial.skip();
  }
}

}  // namespace

Result<push::Receipt> ReadReceipt(std::string_view answer) {
  push::Receipt receipt;
  try {
    protozero::pbf_reader reader(answer.data(), answer.size());
    while (reader.next()) {
      if (reader.tag_and_type() == protozero::tag_and_type(kPartialSuccess, protozero::pbf_wire_type::length_delimited))
        ReadPartialSuccess(reader.get_message(), receipt);
      else
        reader.skip();
    }
  } catch (const protozero::exception& error) {
    return Fail(ErrorKind::kMalformed, std::string("the answer is not the protobuf of OTLP: ") + error.what());
  }
  return receipt;
}

}  // namespace kepler::otlp
