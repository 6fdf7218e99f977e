#include "apps/kepler/report_command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/kepler/report_file.h"
#include "apps/kepler/report_input.h"
#include "apps/kepler/report_prometheus.h"
#include "apps/kepler/report_settings.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/parse.h"
#include "base/parse_time.h"
#include "base/small_file.h"
#include "base/text.h"
#include "report/energy_book.h"
#include "report/report_html.h"
#include "report/report_text.h"
#include "report/zone_choice.h"

namespace kepler::agent {
namespace {

using report::Milliseconds;

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

Result<std::optional<Milliseconds>> TimeOf(std::string_view flag, const std::string& text, WallTime now) {
  if (text.empty()) return std::optional<Milliseconds>();
  constexpr std::string_view kForms =
      "a time like 2026-11-23T18:00:00Z, Unix seconds of at least 100000000, or a duration like 24h";
  constexpr double kYear1973 = 1e8;  // a smaller number is probably a year or a day, not Unix seconds
  const auto seconds = ParseTime(text);
  if (seconds && *seconds < kYear1973 && ParseNumber<double>(text))
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}={}: a year or a day alone is not a time; use {}", flag, text, kForms));
  if (seconds) return std::optional(Milliseconds(std::chrono::milliseconds(std::llround(*seconds * 1e3))));
  const auto ago = ParseDuration(text);
  if (!ago) return Fail(ErrorKind::kInvalid, fmt::format("{} must be {}", flag, kForms));
  if (*ago < Duration::zero())
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}={}: a duration counts back from now; write it without the minus sign", flag, text));
  return std::optional(std::chrono::floor<std::chrono::milliseconds>(now - static_cast<Nanoseconds>(*ago)));
}

/// A hint for a number with a decimal comma: "0,30".
std::string CommaHint(std::string text) {
  if (std::ranges::count(text, ',') != 1) return "";
  text[text.find(',')] = '.';
  return ParseNumber<double>(text) ? fmt::format("; the decimal sign is a point, so write {}", text) : "";
}

Result<std::optional<double>> PriceOf(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  const auto price = ParseNumber<double>(text);
  constexpr double kMax = 1e9;
  if (price && *price >= 0 && *price <= kMax) return price;
  return Fail(ErrorKind::kInvalid, "--price must be a number from 0 to 1e9" + CommaHint(text));
}

Result<report::Intensity> IntensityOf(const std::string& text) {
  if (text.empty()) return report::Intensity();
  constexpr double kMaxGrams = 1e5;
  if (const auto grams = ParseNumber<double>(text); grams && *grams >= 0 && *grams <= kMaxGrams)
    return report::Intensity(*grams);
  constexpr size_t kMaxBytes = size_t{16} << 20;
  const auto csv = ReadSmallFile(text, kMaxBytes);
  const std::string hint = CommaHint(text);
  if (!csv)
    return Fail(csv.error().kind, "--carbon must be a number of grams from 0 to 1e5" +
                                      (hint.empty() ? ", or a file: " + csv.error().message : hint));
  auto intensity = report::Intensity::Read(*csv);
  if (!intensity) return Fail(intensity.error().kind, fmt::format("{}: {}", text, intensity.error().message));
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

/// Limits the end to the current time, because no server has samples of the future.
Status CheckPeriod(report::EnergyBook::Options& options, WallTime now) {
  const auto latest = std::chrono::floor<std::chrono::milliseconds>(now);
  options.to = std::min(options.to.value_or(latest), latest);
  if (*options.from < *options.to) return {};
  return Fail(ErrorKind::kInvalid, "--from must be before --to and before now");
}

Result<report::Report> ReadReport(const ReportOptions& options, report::EnergyBook::Options book_options,
                                  WallTime now) {
  if (options.prometheus.url.empty()) {
    report::EnergyBook book(std::move(book_options));
    KEPLER_CHECK_OK(ReadFiles(options.files, book));
    return book.Close();
  }
  KEPLER_CHECK_OK(CheckPeriod(book_options, now));
  std::optional<report::EnergyBook> book;
  KEPLER_TRY(std::vector<std::string> notes, ReadServer(options.prometheus, std::move(book_options), book));
  KEPLER_TRY(report::Report made, book->Close());
  made.notes.insert(made.notes.begin(), notes.begin(), notes.end());
  return made;
}

Status MakeReport(const ReportOptions& options) {
  KEPLER_CHECK_OK(CheckOutput(options));
  const WallTime now = SystemClock().Wall();
  report::EnergyBook::Options book_options{.by = options.by, .zones = options.zones};
  KEPLER_TRY(book_options.from, TimeOf("--from", options.from, now));
  KEPLER_TRY(book_options.to, TimeOf("--to", options.to, now));
  KEPLER_TRY(book_options.intensity, IntensityOf(options.carbon));
  report::Prices prices{.per_kwh = std::nullopt, .has_carbon = book_options.intensity.is_known()};
  KEPLER_TRY(prices.per_kwh, PriceOf(options.price));
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
  const auto parsed = ParseReportOptions(std::move(arguments), build);
  if (parsed.action != settings::Action::kRun) {
    const int code = settings::WriteOut(parsed, "kepler report");
    return parsed.action == settings::Action::kReject ? kWrongUsage : code;
  }
  if (parsed.config.files.empty() && parsed.config.prometheus.url.empty())
    return Refuse("there is no file and no --prometheus; see kepler report --help", kWrongUsage);
  const Status done = MakeReport(parsed.config);
  return done ? EXIT_SUCCESS : Refuse(done.error().message, EXIT_FAILURE);
}

}  // namespace kepler::agent
