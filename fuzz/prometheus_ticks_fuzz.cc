// Answers of a Prometheus server: any bytes give a report whose lines are its total, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "recording/recording_json.h"
#include "report/energy_book.h"
#include "report/prometheus_ticks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kepler::report;
  if (size == 0) return 0;
  const auto by = static_cast<By>(data[0] % (static_cast<uint8_t>(By::kNode) + 1));
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  kepler::recording::RecordingReader reader(kepler::recording::JsonLayout::kAnswer, 10'000);
  if (!reader.Read(text)) return 0;
  const auto samples = reader.Finish();
  if (!samples) return 0;
  EnergyBook book({.by = by, .zones = {"package"}, .is_sorted = true});
  PrometheusTicks ticks(by, {"package"}, [&](const EnergyLine& line) { book.Add(line); });
  if (!ticks.Add(*samples) || !ticks.Add(*samples)) return 0;
  static_cast<void>(ticks.Notes());
  const auto report = book.Close();
  if (!report) return report.error().message.empty() ? std::abort(), 1 : 0;
  kepler::Energy sum;
  for (const auto* const rows : {&report->rows, &report->rest})
    for (const Row& row : *rows) sum += row.amount.energy;
  if (sum != report->total.energy) std::abort();
  return 0;
}
