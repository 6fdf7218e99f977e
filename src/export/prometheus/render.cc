#include "export/prometheus/render.h"

#include "export/prometheus/rows.h"
#include "export/prometheus/sample_writer.h"
#include "export/prometheus/text_buffer.h"

namespace kepler::prometheus {
namespace {

void AddFamilies(const RowContext& context, SampleWriter& out) {
  const uint32_t open = context.options.levels | (context.self != nullptr ? kProcessCollector : kAlways);
  for (const Family& family : Families()) {
    if (family.gates != kAlways && (family.gates & open) == 0) continue;
    if (context.stale && family.unit == "watts") continue;
    out.Begin(family);
    family.rows(context, out);
  }
}

}  // namespace

void Render(const snapshot::Snapshot& snapshot, const RenderOptions& options, const RenderInput& input, Format format,
            Sink& sink) {
  RowContext context(snapshot, options, input);
  SampleWriter counter(format, options.node_name, nullptr);
  AddFamilies(context, counter);
  context.exposed_series = counter.samples();

  TextBuffer buffer(sink);
  SampleWriter writer(format, options.node_name, &buffer);
  AddFamilies(context, writer);
  writer.End();
  buffer.Flush();
}

std::string RenderBody(const snapshot::Snapshot& snapshot, const RenderOptions& options, const RenderInput& input,
                       Format format, Encoding encoding, size_t expected_bytes) {
  if (encoding == Encoding::kGzip) {
    GzipSink sink;
    Render(snapshot, options, input, format, sink);
    return std::move(sink).Finish();
  }
  StringSink sink(expected_bytes + expected_bytes / 32);  // some more than the last time
  Render(snapshot, options, input, format, sink);
  return std::move(sink).Finish();
}

}  // namespace kepler::prometheus
