#include "export/prometheus/render.h"

#include "export/prometheus/sample_writer.h"
#include "export/prometheus/sink.h"

namespace kepler::prometheus {
void Render(const snapshot::Snapshot& snapshot, const RenderOptions& options, const series::Extras& extras,
            Format format, Sink& sink) {
  series::Extras all = extras;
  all.exposed_series = series::CountSamples(snapshot, options.selection, extras);
  TextBuffer buffer(sink);
  SampleWriter writer(format, options.node_name, buffer);
  series::VisitSeries(snapshot, options.selection, all, writer);
  writer.End();
  buffer.Flush();
}

std::string RenderBody(const snapshot::Snapshot& snapshot, const RenderOptions& options, const series::Extras& extras,
                       Format format, Encoding encoding, size_t expected_bytes) {
  if (encoding == Encoding::kGzip) {
    GzipSink sink;
    Render(snapshot, options, extras, format, sink);
    return std::move(sink).Finish();
  }
  StringSink sink(expected_bytes + expected_bytes / 32);  // some more than the last time
  Render(snapshot, options, extras, format, sink);
  return std::move(sink).Finish();
}

}  // namespace kepler::prometheus
