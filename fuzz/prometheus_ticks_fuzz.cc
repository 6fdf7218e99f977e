// Answers of a Prometheus server: any bytes give a report whose lines are its total, or an error.
#include "fuzz.h"
#include "recording/recording_json.h"
#include "report/energy_book.h"
#include "report/prometheus_ticks.h"

void Fuzz(std::string_view input) {
  using namespace kepler::report;
  if (input.empty()) return;
  const auto by = static_cast<By>(static_cast<uint8_t>(input[0]) % (static_cast<uint8_t>(By::kNode) + 1));
  kepler::recording::RecordingReader reader(kepler::recording::JsonLayout::kAnswer, 10'000);
  if (!reader.Read(input.substr(1))) return;
  const auto samples = reader.Finish();
  if (!samples) return;
  EnergyBook book({.by = by, .zones = {"package"}, .is_sorted = true});
  PrometheusTicks ticks(by, {"package"}, [&](const EnergyLine& line) { book.Add(line); });
  if (!ticks.Add(*samples) || !ticks.Add(*samples)) return;
  static_cast<void>(ticks.Notes());
  const auto report = book.Close();
  if (!report) {
    if (report.error().message.empty()) std::abort();
    return;
  }
  kepler::Energy sum;
  for (const auto* const rows : {&report->rows, &report->rest})
    for (const Row& row : *rows) sum += row.amount.energy;
  if (sum != report->total.energy) std::abort();
}
