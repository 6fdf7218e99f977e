#include "export/otlp/encoder.h"

#include <utility>

namespace kepler::otlp {
namespace {

/// With the label `state`, a workload that ended would be a second stream with the same energy.
EncoderOptions WithoutState(EncoderOptions options) {
  options.selection.state_label = false;
  return options;
}

}  // namespace

Encoder::Encoder(EncoderOptions options, std::function<series::Reading()> read)
    : options_(WithoutState(std::move(options))),
      read_(std::move(read)),
      writer_(options_.resource, options_.selection.build.version, options_.temporality) {}

void Encoder::Encode(const std::function<void(push::Request)>& take) {
  const series::Reading reading = read_();
  if (!reading.snapshot || reading.snapshot->sequence == last_sequence_) return;
  last_sequence_ = reading.snapshot->sequence;
  RequestBuilder builder(options_.compression, take);
  writer_.Write(*reading.snapshot, options_.selection, series::ExtrasOf(reading), builder);
}

}  // namespace kepler::otlp
