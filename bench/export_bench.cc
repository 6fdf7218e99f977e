// What a scrape and a push cost to make: 10,000 processes × 4 zones.
#include <benchmark/benchmark.h>

#include "export/prometheus/render_page.h"
#include "export/remote_write/request_writer.h"
#include "testing/snapshot_builder.h"

namespace kepler::prometheus {
namespace {

void Render10000Processes(benchmark::State& state, Format format, series::NameSet names = series::NameSet::kV011) {
  const auto snapshot = testing::BusySnapshot({"core", "dram", "package", "psys"}, 10'000);
  const RenderOptions options{.node_name = "worker-17.example.com", .selection = {.names = names}};
  size_t bytes = 0;
  for (auto _ : state) bytes = RenderPage(snapshot, options, {}, format).gzip.size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK_CAPTURE(Render10000Processes, text, Format::kText004)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Render10000Processes, openmetrics, Format::kOpenMetrics100)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Render10000Processes, text_v07, Format::kText004, series::NameSet::kV07)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Render10000Processes, text_both, Format::kText004, series::NameSet::kBoth)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Render10000Processes, protobuf, Format::kProtobuf)->Unit(benchmark::kMillisecond);

/// What a client that takes no gzip costs beyond that.
void ReadPlainPageOf10000Processes(benchmark::State& state) {
  const auto snapshot = testing::BusySnapshot({"core", "dram", "package", "psys"}, 10'000);
  const Page page = RenderPage(snapshot, {.node_name = "worker-17.example.com"}, {}, Format::kText004);
  size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (size_t piece = 0; piece < page.pieces.size(); ++piece) bytes += page.TextOf(piece).size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(ReadPlainPageOf10000Processes)->Unit(benchmark::kMillisecond);

/// A push by remote write after another one with the same series.
void Push10000Processes(benchmark::State& state, remote_write::Version version) {
  const auto snapshot =
      std::make_shared<snapshot::Snapshot>(testing::BusySnapshot({"core", "dram", "package", "psys"}, 10'000));
  remote_write::RequestWriter writer(
      {.version = version, .node_name = "worker-17.example.com", .job = "kepler", .instance = "worker-17.example.com"},
      [&] { return series::Reading{.snapshot = snapshot}; });
  size_t bytes = 0;
  const auto take = [&](const push::Request& request) { bytes += request.body->size(); };
  writer.Encode(take);
  for (auto _ : state) {
    ++snapshot->sequence;
    bytes = 0;
    writer.Encode(take);
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK_CAPTURE(Push10000Processes, remote_write_1, remote_write::Version::k1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Push10000Processes, remote_write_2, remote_write::Version::k2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kepler::prometheus
