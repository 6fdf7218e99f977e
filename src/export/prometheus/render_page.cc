#include "export/prometheus/render_page.h"

#include <utility>

#include "export/prometheus/protobuf_writer.h"
#include "export/prometheus/sample_writer.h"
#include "export/prometheus/sink.h"

namespace kepler::prometheus {

Page RenderPage(const snapshot::Snapshot& snapshot, const RenderOptions& options, const series::Extras& extras,
                Format format) {
  series::Extras all = extras;
  all.exposed_series = series::CountSamples(snapshot, options.selection, extras);
  GzipSink sink;
  TextBuffer buffer(sink);
  if (format == Format::kProtobuf) {
    ProtobufWriter measure(snapshot, options.node_name);
    series::VisitSeries(snapshot, options.selection, all, measure);
    ProtobufWriter writer(snapshot, options.node_name, measure.sizes(), buffer);
    series::VisitSeries(snapshot, options.selection, all, writer);
  } else {
    SampleWriter writer(format, options.node_name, buffer);
    if (options.created_lines) writer.WriteCreatedLines(snapshot);
    series::VisitSeries(snapshot, options.selection, all, writer);
    writer.End();
  }
  buffer.Flush();
  return std::move(sink).Finish();
}

}  // namespace kepler::prometheus
