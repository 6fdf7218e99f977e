#include "export/prometheus/render_page.h"

#include <utility>

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

Page RenderPage(const snapshot::Snapshot& snapshot, const RenderOptions& options, const series::Extras& extras,
                Format format) {
  GzipSink sink;
  Render(snapshot, options, extras, format, sink);
  return std::move(sink).Finish();
}

}  // namespace kepler::prometheus
