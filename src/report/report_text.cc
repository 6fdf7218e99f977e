#include "report/report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "export/series/figure_text.h"
#include "export/stdout/text_table.h"
#include "json/document.h"

namespace kepler::report {
namespace {

using series::JoulesText;
using series::TimeText;

constexpr size_t kMaxCell = 80;
constexpr size_t kMaxNote = 1000;

/// Calls f(kind, name, amount) for every row, for the rest and for the total.
template <class F>
void ForEachLine(const Report& report, const F& f) {
  for (const Row& row : report.rows) f(ToString(report.by), row.name, row.amount);
  for (const Row& row : report.rest) f(std::string_view("rest"), row.name, row.amount);
  f(std::string_view("total"), std::string("total"), report.total);
}

/// A spreadsheet takes a text that begins with one of these for a formula.
constexpr std::string_view kFormula = "=+-@";

std::string Quoted(std::string_view name) {
  std::string out = "\"";
  if (!name.empty() && kFormula.contains(name.front())) out += '\'';
  for (const char c : LabelText(name, name.size() * 3)) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

/// `format` has the two times. Only the first ones are named.
void PutTimes(const std::vector<Downtime>& times, fmt::string_view format, std::string& notes) {
  constexpr size_t kMaxNamed = 10;
  for (const Downtime& time : std::span(times).first(std::min(times.size(), kMaxNamed)))
    notes += fmt::format("{}: {}\n", console::Printable(time.node, kMaxCell),
                         fmt::vformat(format, fmt::make_format_args(TimeText(time.from), TimeText(time.to))));
  if (times.size() > kMaxNamed)
    notes += fmt::format("… and {}\n", CountText(times.size() - kMaxNamed, "more such time"));
}

std::string TimesJson(const std::vector<Downtime>& times) {
  std::string out;
  for (const Downtime& time : times)
    out += fmt::format(R"({}{{"node":{},"from":"{}","to":"{}"}})", out.empty() ? "" : ",", json::Quote(time.node),
                       TimeText(time.from), TimeText(time.to));
  return out;
}

}  // namespace

std::string ReportNotes(const Report& report) {
  std::string notes;
  PutTimes(report.downtimes, "no energy is known from {} to {}; the agent did not run, or it was not recorded", notes);
  PutTimes(report.gaps, "no ticks from {} to {}; the sum is known, but not when it was used", notes);
  for (const std::string& note : report.notes) notes += console::Printable(note, kMaxNote) + '\n';
  if (report.incomplete > 0)
    notes += fmt::format("{} left out, because the last lines are missing; the next tick has the energy\n",
                         CountText(report.incomplete, "tick"));
  if (report.repeated > 0)
    notes += fmt::format("{} found twice and counted once\n", CountText(report.repeated, "tick"));
  if (report.impossible > 0)
    notes += fmt::format("{} left out, because the sums are wrong or the totals are smaller than in the tick before\n",
                         CountText(report.impossible, "tick"));
  return notes;
}

double ShareOf(const Amount& amount, const Report& report) {
  return report.total.energy == Energy() ? 0 : amount.energy.ToJoules() / report.total.energy.ToJoules();
}

std::string ReportTable(const Report& report, const Prices& prices) {
  using console::Align;
  std::string header(ToString(report.by));
  header[0] = static_cast<char>(header[0] - 'a' + 'A');
  if (report.by == By::kVm) header = "VM";
  std::vector<console::Column> columns = {
      {header, Align::kLeft}, {"Joules", Align::kRight}, {"kWh", Align::kRight}, {"Share", Align::kRight}};
  if (prices.per_kwh) columns.push_back({"Cost", Align::kRight});
  if (prices.has_carbon) columns.push_back({"CO2 g", Align::kRight});
  std::vector<std::vector<std::string>> rows;
  ForEachLine(report, [&](std::string_view kind, std::string_view name, const Amount& amount) {
    std::string shown = console::Printable(name, kMaxCell);
    if (kind == "rest") shown = fmt::format("({})", shown);
    rows.push_back({std::move(shown), fmt::format("{:.3f}", amount.energy.ToJoules()),
                    fmt::format("{:.6f}", KwhOf(amount.energy)),
                    fmt::format("{:.2f} %", ShareOf(amount, report) * 100)});
    if (prices.per_kwh)
      rows.back().push_back(console::DecimalText(KwhOf(amount.energy) * *prices.per_kwh, kCostDecimals));
    if (prices.has_carbon) rows.back().push_back(console::DecimalText(amount.grams, kGramDecimals));
  });
  return fmt::format("Energy of {} by {}, {}, from {} to {}\n{}{}",
                     console::Printable(fmt::format("{}", fmt::join(report.zones, " + ")), kMaxCell),
                     ToString(report.by), CountText(report.nodes.size(), "node"), TimeText(report.from),
                     TimeText(report.to), console::DrawTable(columns, rows), ReportNotes(report));
}

std::string ReportCsv(const Report& report, const Prices& prices) {
  std::string text = "kind,name,joules,kwh,share";
  if (prices.per_kwh) text += ",cost";
  if (prices.has_carbon) text += ",co2_g";
  text += '\n';
  ForEachLine(report, [&](std::string_view kind, std::string_view name, const Amount& amount) {
    text += fmt::format("{},{},{},{:.9f},{:.6f}", kind, Quoted(name), JoulesText(amount.energy), KwhOf(amount.energy),
                        ShareOf(amount, report));
    if (prices.per_kwh) text += fmt::format(",{:.12g}", KwhOf(amount.energy) * *prices.per_kwh);
    if (prices.has_carbon) text += fmt::format(",{:.12g}", amount.grams);
    text += '\n';
  });
  return text;
}

std::string ReportJson(const Report& report, const Prices& prices) {
  std::string lines;
  ForEachLine(report, [&](std::string_view kind, std::string_view name, const Amount& amount) {
    lines += fmt::format(R"({}{{"kind":"{}","name":{},"joules":{},"share":{:.6f})", lines.empty() ? "" : ",", kind,
                         json::Quote(name), JoulesText(amount.energy), ShareOf(amount, report));
    if (prices.per_kwh) lines += fmt::format(R"(,"cost":{:.12g})", KwhOf(amount.energy) * *prices.per_kwh);
    if (prices.has_carbon) lines += fmt::format(R"(,"co2_g":{:.12g})", amount.grams);
    lines += '}';
  });
  return fmt::format(
      R"({{"version":1,"by":"{}","zones":{},"nodes":{},"from":"{}","to":"{}","ticks":{},"incomplete_ticks":{},)"
      R"("repeated_ticks":{},"impossible_ticks":{},"downtimes":[{}],"gaps":[{}],"notes":{},"lines":[{}]}})"
      "\n",
      ToString(report.by), json::QuoteList(report.zones), json::QuoteList(report.nodes), TimeText(report.from),
      TimeText(report.to), report.ticks, report.incomplete, report.repeated, report.impossible,
      TimesJson(report.downtimes), TimesJson(report.gaps), json::QuoteList(report.notes), lines);
}

}  // namespace kepler::report
