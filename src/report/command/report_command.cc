#include "report/command/report_command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/small_file.h"
#include "base/text.h"
#include "report/command/report_file.h"
#include "report/command/report_input.h"
#include "report/command/report_prometheus.h"
#include "report/command/report_settings.h"
#include "report/energy_book.h"
#include "report/report_html.h"
#include "report/report_text.h"
#include "report/zone_choice.h"

namespace kepler::report::command {
namespace {

constexpr int kWrongUsage = 2;

void Say(std::string_view line) { std::fprintf(stderr, "kepler report: %s\n", EscapeControls(line).c_str()); }

int Refuse(const std::string& why, int code) {
  Say(why);
  return code;
}

/// Refuses an output file that is an input file. The two names may differ: "-", links.
Status CheckOutput(const ReportOptions& options) {
  struct stat output{};
  if (options.output.empty() || ::stat(options.output.c_str(), &output) != 0 || !S_ISREG(output.st_mode)) return {};
  std::vector<std::string> inputs = options.files;
  inputs.push_back(options.carbon);
  for (const std::string& input : inputs) {
    struct stat read{};
    const int found = input == "-" ? ::fstat(STDIN_FILENO, &read) : ::stat(input.c_str(), &read);
    if (found == 0 && read.st_dev == output.st_dev && read.st_ino == output.st_ino)
      return Fail(ErrorKind::kInvalid, options.output + ": --output is one of the files to read");
  }
  return {};
}

/// The number of --carbon, or the series of the file that it names.
Result<report::Intensity> IntensityOf(const ReportOptions& options) {
  if (options.grams_per_kwh) return report::Intensity(*options.grams_per_kwh);
  if (options.carbon.empty()) return report::Intensity();
  constexpr size_t kMaxBytes = size_t{16} << 20;
  const auto csv = ReadSmallFile(options.carbon, kMaxBytes);
  if (!csv)
    return Fail(csv.error().kind, fmt::format("--carbon must be a number of grams from 0 to {}, or a file: {}",
                                              report::kMaxGramsPerKwh, csv.error().message));
  auto intensity = report::Intensity::Read(*csv);
  if (!intensity) return Fail(intensity.error().kind, fmt::format("{}: {}", options.carbon, intensity.error().message));
  return intensity;
}

std::string TextOf(ReportFormat format, const report::Report& report, const report::Prices& prices) {
  switch (format) {
    case ReportFormat::kCsv:
      return ReportCsv(report, prices);
    case ReportFormat::kJson:
      return ReportJson(report, prices);
    case ReportFormat::kHtml:
      return ReportHtml(report, prices);
    case ReportFormat::kText:
      break;
  }
  return ReportTable(report, prices);
}

Status ReadFiles(const std::vector<std::string>& files, report::EnergyBook& book) {
  constexpr size_t kMaxNamed = 10;
  size_t refused = 0;
  const auto refuse = [&](std::string_view why) {
    if (refused++ < kMaxNamed) Say(why);
  };
  KEPLER_TRY(const LinesRead read,
             ReadEnergyLines(files, [&](const report::EnergyLine& line) { book.Add(line); }, refuse, Say));
  if (read.refused > kMaxNamed) Say(report::CountText(read.refused - kMaxNamed, "more line") + " cannot be read");
  return {};
}

/// Reads the samples of a server into `book`. Chooses the zones if the options have none. Returns notes for the user.
Result<std::vector<std::string>> ReadServer(const PrometheusAccess& access, report::EnergyBook::Options options,
                                            std::optional<report::EnergyBook>& book) {
  KEPLER_TRY(PrometheusSource source, PrometheusSource::Open(access, Say));
  PrometheusQuery query{.by = options.by, .zones = options.zones, .from = *options.from, .to = *options.to};
  KEPLER_TRY(query.zones, source.ZonesOf(query));
  options.zones = query.zones;
  options.source = "the samples";
  options.is_sorted = true;
  book.emplace(std::move(options));
  return source.Read(query, [&](const report::EnergyLine& line) { book->Add(line); });
}

Result<report::Report> ReadReport(const ReportOptions& options, report::EnergyBook::Options book_options,
                                  WallTime now) {
  if (options.prometheus.url.empty()) {
    report::EnergyBook book(std::move(book_options));
    KEPLER_CHECK_OK(ReadFiles(options.files, book));
    return book.Close();
  }
  // No server has samples of the future.
  const auto latest = std::chrono::floor<std::chrono::milliseconds>(now);
  book_options.to = std::min(book_options.to.value_or(latest), latest);
  std::optional<report::EnergyBook> book;
  KEPLER_TRY(std::vector<std::string> notes, ReadServer(options.prometheus, std::move(book_options), book));
  KEPLER_TRY(report::Report made, book->Close());
  made.notes.insert(made.notes.begin(), notes.begin(), notes.end());
  return made;
}

Status MakeReport(const ReportOptions& options, WallTime now) {
  KEPLER_CHECK_OK(CheckOutput(options));
  report::EnergyBook::Options book_options{
      .by = options.by, .zones = options.zones, .from = options.begin, .to = options.end};
  KEPLER_TRY(book_options.intensity, IntensityOf(options));
  const report::Prices prices{.per_kwh = options.price_per_kwh, .has_carbon = book_options.intensity.is_known()};
  KEPLER_TRY(report::Report made, ReadReport(options, std::move(book_options), now));
  if (std::string doubt = report::DoubtAbout(made.zones); !doubt.empty()) made.notes.push_back(std::move(doubt));
  if (options.top > 0) KeepLargest(static_cast<size_t>(options.top), made);
  // Table and HTML contain the notes; JSON contains the numbers.
  if (options.format == ReportFormat::kCsv) std::fputs(ReportNotes(made).c_str(), stderr);
  return WriteReport(options.output, stdout, TextOf(options.format, made, prices));
}

}  // namespace

int RunReportCommand(std::vector<const char*> arguments, const BuildInfo& build) {
  arguments.erase(arguments.begin() + 1);
  arguments.front() = "kepler report";
  const WallTime now = SystemClock().Wall();
  const auto parsed = ParseReportOptions(std::move(arguments), build, now);
  if (parsed.action != settings::Action::kRun) {
    const int code = settings::WriteOut(parsed, "kepler report");
    return parsed.action == settings::Action::kReject ? kWrongUsage : code;
  }
  if (parsed.config.files.empty() && parsed.config.prometheus.url.empty())
    return Refuse("there is no file and no --prometheus; see kepler report --help", kWrongUsage);
  const Status done = MakeReport(parsed.config, now);
  return done ? EXIT_SUCCESS : Refuse(done.error().message, EXIT_FAILURE);
}

}  // namespace kepler::report::command
