// What lists and watches of pods cost: CPU time as a ratio to a plain parse of the same bytes in the same run, and the
// most memory that was in use.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include <boost/json/basic_parser_impl.hpp>

#include "base/clock.h"
#include "testing/allocations.h"
#include "workload/kubernetes/pod_cache.h"
#include "workload/kubernetes/pod_json.h"

namespace kepler::workload::kubernetes {
namespace {

namespace json = boost::json;

constexpr size_t kPiece = 16 << 10;  // as the HTTP client hands it over
constexpr BootTime kNow{std::chrono::seconds(100)};
const AskedTexts kAsked = {.labels = {"app"}};

/// Takes everything and keeps nothing. Its names are the library's.
struct Nothing {
  static constexpr size_t max_object_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)
  static constexpr size_t max_array_size = SIZE_MAX;   // NOLINT(readability-identifier-naming)
  static constexpr size_t max_key_size = SIZE_MAX;     // NOLINT(readability-identifier-naming)
  static constexpr size_t max_string_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)
  using Error = json::error_code;
  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) { return true; }
  bool on_object_end(size_t, Error&) { return true; }
  bool on_array_begin(Error&) { return true; }
  bool on_array_end(size_t, Error&) { return true; }
  bool on_key_part(std::string_view, size_t, Error&) { return true; }
  bool on_key(std::string_view, size_t, Error&) { return true; }
  bool on_string_part(std::string_view, size_t, Error&) { return true; }
  bool on_string(std::string_view, size_t, Error&) { return true; }
  bool on_number_part(std::string_view, Error&) { return true; }
  bool on_int64(int64_t, std::string_view, Error&) { return true; }
  bool on_uint64(uint64_t, std::string_view, Error&) { return true; }
  bool on_double(double, std::string_view, Error&) { return true; }
  bool on_bool(bool, Error&) { return true; }
  bool on_null(Error&) { return true; }
  bool on_comment_part(std::string_view, Error&) { return true; }
  bool on_comment(std::string_view, Error&) { return true; }
};

template <class Take>
void ForEachPiece(std::string_view text, const Take& take) {
  for (; !text.empty(); text.remove_prefix(std::min(kPiece, text.size()))) take(text.substr(0, kPiece));
}

/// CPU time of a plain parse of one document after the other.
double PlainParse(std::string_view text) {
  const auto begin = ThreadCpuTime();
  json::basic_parser<Nothing> parser{json::parse_options{}};
  ForEachPiece(text, [&](std::string_view piece) {
    while (!piece.empty()) {
      json::error_code error;
      const size_t read = parser.write_some(true, piece.data(), piece.size(), error);
      if (error) std::abort();
      piece.remove_prefix(read);
      if (parser.done()) parser.reset();
    }
  });
  return std::chrono::duration<double>(ThreadCpuTime() - begin).count();
}

/// As a cluster shows it. `padding`: bytes of its spec, which nobody asks for.
std::string PodText(size_t number, size_t containers, size_t padding) {
  std::string text = fmt::format(
      R"({{"metadata":{{"uid":"{:036}","name":"pod-{}","namespace":"shop","labels":{{"app":"app-{}"}}}},"spec":{{"x":"{}"}},"status":{{"containerStatuses":[)",
      number, number, number, std::string(padding, 'x'));
  for (size_t c = 0; c < containers; ++c)
    text += fmt::format(R"({}{{"name":"c{}","containerID":"containerd://{:064x}"}})", c == 0 ? "" : ",", c,
                        number * containers + c);
  return text + "]}}";
}

std::string ListText(size_t pods, size_t containers, size_t padding = 0) {
  std::string text = R"({"kind":"PodList","items":[)";
  for (size_t n = 0; n < pods; ++n) text.append(n == 0 ? "" : ",").append(PodText(n, containers, padding));
  return text + "]}";
}

/// As the informer takes a list and a tick its names.
void TakeList(PodCache& cache, std::string_view text) {
  PodListReader reader(kAsked);
  ForEachPiece(text, [&](std::string_view piece) {
    if (!reader.Read(piece)) std::abort();
  });
  auto list = reader.Finish();
  if (!list) std::abort();
  benchmark::DoNotOptimize(cache.Replace(std::move(list->pods), kNow));
  benchmark::DoNotOptimize(cache.Latest(kNow));
}

/// Times `work`, and plain parses of `text`.
template <class Work>
void Compare(benchmark::State& state, std::string_view text, const Work& work) {
  double plain = 0;
  double own = 0;
  const uint64_t before = testing::live_bytes;
  testing::ResetPeak();
  for (auto _ : state) {
    state.PauseTiming();
    plain += PlainParse(text);
    state.ResumeTiming();
    const auto begin = ThreadCpuTime();
    work();
    own += std::chrono::duration<double>(ThreadCpuTime() - begin).count();
  }
  state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
  state.counters["plain_parses"] = own / plain;
  state.counters["peak_MB"] = static_cast<double>(testing::peak_bytes - before) / 1e6;
}

/// Each time a cache that knows nothing yet.
void NewList(benchmark::State& state, size_t pods, size_t containers, size_t padding) {
  const std::string text = ListText(pods, containers, padding);
  Compare(state, text, [&] {
    PodCache cache;
    TakeList(cache, text);
  });
}
BENCHMARK_CAPTURE(NewList, 110_pods, 110, 2, 12'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(NewList, 10000_distinct_labels, 10'000, 1, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(NewList, 20000_distinct_labels, 20'000, 1, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(NewList, 50_MB, 4'000, 2, 12'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(NewList, 300_pods_of_1000, 300, 1'000, 0)->Unit(benchmark::kMillisecond);

/// A poll that says the same as the one before, while 1,024 pods of 50 containers are remembered that are gone.
void SameListAgain(benchmark::State& state) {
  PodCache cache;
  TakeList(cache, ListText(1'024, 50));
  const std::string text = ListText(110, 2, 12'000);
  TakeList(cache, text);
  Compare(state, text, [&] { TakeList(cache, text); });
}
BENCHMARK(SameListAgain)->Unit(benchmark::kMillisecond);

/// 1,000 pods are created and deleted while others stay, and a tick takes the names after a number of events.
void Watch(benchmark::State& state) {
  const auto stay = static_cast<size_t>(state.range(0));
  const auto per_tick = static_cast<size_t>(state.range(1));
  PodCache cache;
  TakeList(cache, ListText(stay, 1));
  std::string text;
  for (size_t n = 0; n < 1'000; ++n)
    for (const char* type : {"ADDED", "DELETED"})
      text += fmt::format(R"({{"type":"{}","object":{}}})", type, PodText(100'000 + n, 2, 6'000));
  size_t events = 0;
  PodEventReader reader(
      [&](const PodEvent& event) -> Status {
        if (event.kind == PodEvent::Kind::kGone) cache.Remove(event.pod.uid, kNow);
        if (event.kind == PodEvent::Kind::kSet) benchmark::DoNotOptimize(cache.Set(event.pod));
        if (++events % per_tick == 0) benchmark::DoNotOptimize(cache.Latest(kNow));
        return {};
      },
      kAsked);
  Compare(state, text, [&] {
    ForEachPiece(text, [&](std::string_view piece) {
      if (!reader.Read(piece)) std::abort();
    });
  });
}
BENCHMARK(Watch)
    ->ArgNames({"pods", "events_per_tick"})
    ->Args({110, 100})
    ->Args({20'000, 100})
    ->Args({20'000, 1'000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kepler::workload::kubernetes
