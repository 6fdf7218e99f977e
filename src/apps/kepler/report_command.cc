#include "apps/kepler/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/kepler/report_file.h"
#include "apps/kepler/report_input.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/parse.h"
#include "base/parse_time.h"
#include "base/small_file.h"
#include "base/text.h"
#include "report/energy_book.h"
#include "report/report_html.h"
#include "report/report_text.h"
#include "settings/command_line.h"

namespace kepler::agent {
namespace {

using report::Milliseconds;
using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

enum class Format : uint8_t { kTable, kCsv, kJson, kHtml };
constexpr std::string_view kFormats[] = {"table"sv, "csv"sv, "json"sv, "html"sv};
constexpr std::string_view kBy[] = {"namespace"sv, "owner"sv,   "pod"sv,     "container"sv,
                                    "vm"sv,        "project"sv, "process"sv, "node"sv};

struct ReportOptions {
  report::By by = report::By::kNamespace;
  std::vector<std::string> zones;
  std::string from;
  std::string to;
  Format format = Format::kTable;
  std::string output;
  std::string price;
  std::string carbon;
  int64_t top = 0;
  std::vector<std::string> files;  // not a flag
};

constexpr Key kKeys[] = {
    Key("by", "by",
        "What a row is about; project: the VMs of an OpenStack project; process: all processes with the same name",
        kAt<&ReportOptions::by>, {.choices = kBy}),
    Key("zone", "zone", "Zones to add up; none: package, or the first zone that workloads share",
        kAt<&ReportOptions::zones>),
    Key("from", "from",
        "Begin of the period: a time such as 2026-11-01T00:00:00Z, Unix seconds, or a duration such as 24h "
        "before now. Empty: the first tick",
        kAt<&ReportOptions::from>),
    Key("to", "to", "End of the period, in the same forms. Empty: the last tick", kAt<&ReportOptions::to>),
    Key("format", "format", "Form of the report", kAt<&ReportOptions::format>, {.choices = kFormats}),
    Key("output", "output", "File for the report; empty: standard output", kAt<&ReportOptions::output>,
        {.is_path = true}),
    Key("price", "price", "Price of a kWh, in any currency", kAt<&ReportOptions::price>),
    Key("carbon", "carbon", "Grams of CO2 per kWh, or a CSV file with the columns time and g_per_kwh",
        kAt<&ReportOptions::carbon>, {.is_path = true}),
    Key("top", "top", "Number of rows; the others become one row. 0: all rows", kAt<&ReportOptions::top>,
        {.min = 0, .max = 1'000'000}),
};
constexpr settings::TableOf<ReportOptions> kReportTable(kKeys);

constexpr std::string_view kAbout = R"(Adds up the energy of a period, from files that the agent has written.

The files are those of exporter.jsonLines, also older ones and those of other nodes; -: standard input. The rows and the
energy that belongs to no row add up to the energy of the nodes. A line that cannot be read is named on stderr and left
out. Exit code 1: there is no report; 2: wrong flags.

Examples:
  kepler report /var/lib/kepler/energy.jsonl*
  kepler report --by=pod --from=2026-11-01T00:00:00Z --to=2026-12-01T00:00:00Z --price=0.30 --carbon=380 energy.jsonl
  kepler report --by=owner --from=24h --format=html --output=report.html energy.jsonl)";

constexpr int kWrongUsage = 2;

int Refuse(const std::string& why, int code) {
  std::fprintf(stderr, "kepler report: %s\n", EscapeControls(why).c_str());
  return code;
}

/// A flag whose value is the next argument: "--by" without "=". All flags of this command have a value.
bool WantsValue(std::string_view argument) {
  constexpr std::array kWithout = {"--help"sv, "--help-long"sv, "--version"sv};
  return argument.starts_with("--") && !argument.contains('=') &&
         std::ranges::find(kWithout, argument) == kWithout.end();
}

/// Arguments that are neither flags nor their values are files, and "-" is one. They are taken out of `arguments`.
std::vector<std::string> TakeFiles(std::vector<const char*>& arguments) {
  std::vector<std::string> files;
  std::vector<const char*> others = {arguments.front()};
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view text(arguments[i]);
    const bool is_file = text == "-" || !text.starts_with('-');
    if (is_file && !WantsValue(others.back()))
      files.emplace_back(text);
    else
      others.push_back(arguments[i]);
  }
  arguments = std::move(others);
  return files;
}

/// A report must not replace the files that it is made of.
Status CheckOutput(const ReportOptions& options) {
  std::error_code ignored;
  for (const std::string& file : options.files)
    if (!options.output.empty() && std::filesystem::equivalent(file, options.output, ignored))
      return Fail(ErrorKind::kInvalid, options.output + ": --output is one of the files to read");
  return {};
}

Result<std::optional<Milliseconds>> TimeOf(std::string_view flag, const std::string& text, WallTime now) {
  if (text.empty()) return std::optional<Milliseconds>();
  constexpr std::string_view kForms =
      "a time like 2026-11-23T18:00:00Z, Unix seconds of at least 100000000, or a duration like 24h";
  constexpr double kYear1973 = 1e8;  // before, a number is rather a year or a day than Unix seconds
  const auto seconds = ParseTime(text);
  if (seconds && *seconds < kYear1973 && ParseNumber<double>(text))
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}={}: a year or a day alone is no time; use {}", flag, text, kForms));
  if (seconds) return std::optional(Milliseconds(std::chrono::milliseconds(std::llround(*seconds * 1e3))));
  const auto ago = ParseDuration(text);
  if (!ago) return Fail(ErrorKind::kInvalid, fmt::format("{} must be {}", flag, kForms));
  return std::optional(std::chrono::floor<std::chrono::milliseconds>(now - static_cast<Nanoseconds>(*ago)));
}

Result<std::optional<double>> PriceOf(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  const auto price = ParseNumber<double>(text);
  constexpr double kMax = 1e9;
  if (price && *price >= 0 && *price <= kMax) return price;
  return Fail(ErrorKind::kInvalid, "--price must be a number from 0 to 1e9");
}

Result<report::Intensity> IntensityOf(const std::string& text) {
  if (text.empty()) return report::Intensity();
  constexpr double kMaxGrams = 1e5;
  if (const auto grams = ParseNumber<double>(text); grams && *grams >= 0 && *grams <= kMaxGrams)
    return report::Intensity(*grams);
  constexpr size_t kMaxBytes = size_t{16} << 20;
  const auto csv = ReadSmallFile(text, kMaxBytes);
  if (!csv)
    return Fail(csv.error().kind,
                "--carbon must be a number of grams from 0 to 1e5, or a file: " + csv.error().message);
  auto intensity = report::Intensity::Read(*csv);
  if (!intensity) return Fail(intensity.error().kind, fmt::format("{}: {}", text, intensity.error().message));
  return intensity;
}

std::string TextOf(Format format, const report::Report& report, const report::Prices& prices) {
  switch (format) {
    case Format::kCsv:
      return ReportCsv(report, prices);
    case Format::kJson:
      return ReportJson(report, prices);
    case Format::kHtml:
      return ReportHtml(report, prices);
    case Format::kTable:
      break;
  }
  return ReportTable(report, prices);
}

Status ReadFiles(const std::vector<std::string>& files, report::EnergyBook& book) {
  constexpr size_t kMaxNamed = 10;
  size_t refused = 0;
  const auto say = [](std::string_view line) {
    std::fprintf(stderr, "kepler report: %s\n", EscapeControls(line).c_str());
  };
  const auto refuse = [&](std::string_view why) {
    if (refused++ < kMaxNamed) say(why);
  };
  KEPLER_TRY(const LinesRead read,
             ReadEnergyLines(files, [&](const report::EnergyLine& line) { book.Add(line); }, refuse, say));
  if (read.refused > kMaxNamed)
    std::fprintf(stderr, "kepler report: %zu more lines cannot be read\n", read.refused - kMaxNamed);
  return {};
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
  report::EnergyBook book(std::move(book_options));
  KEPLER_CHECK_OK(ReadFiles(options.files, book));
  KEPLER_TRY(report::Report made, book.Close());
  if (options.top > 0) KeepLargest(static_cast<size_t>(options.top), made);
  // A table and a page have the notes, and JSON has the numbers.
  if (options.format == Format::kCsv) std::fputs(ReportNotes(made).c_str(), stderr);
  return WriteReport(options.output, stdout, TextOf(options.format, made, prices));
}

}  // namespace

int RunReportCommand(std::vector<const char*> arguments, const BuildInfo& build) {
  arguments.erase(arguments.begin() + 1);
  arguments.front() = "kepler report";
  ReportOptions options;
  options.files = TakeFiles(arguments);
  const settings::Program program{.name = "kepler report", .about = kAbout, .build = build, .has_config_file = false};
  auto outcome = settings::ParseCommandLine(arguments, program, kReportTable.Of(options), [&](settings::Draft& draft) {
    constexpr size_t kMaxZones = 8;
    if (options.zones.size() > kMaxZones) draft.Reject("zone", fmt::format("has more than {} items", kMaxZones));
  });
  if (outcome.action == settings::Action::kHelp)
    outcome.text.replace(0, outcome.text.find('\n'), "usage: kepler report [<flags>] <file>...");
  if (outcome.action != settings::Action::kRun) {
    const int code = settings::WriteOut(outcome, "kepler report");
    return outcome.action == settings::Action::kReject ? kWrongUsage : code;
  }
  if (options.files.empty()) return Refuse("there is no file; see kepler report --help", kWrongUsage);
  const Status done = MakeReport(options);
  return done ? EXIT_SUCCESS : Refuse(done.error().message, EXIT_FAILURE);
}

}  // namespace kepler::agent
