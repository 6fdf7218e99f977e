// kepler-model isolate.
#include "dataset/isolate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/data.h"
#include "base/parse.h"
#include "dataset/csv.h"
#include "model/features.h"
#include "model/json.h"
#include "model/power_model.h"
#include "model_files/files.h"
#include "model_files/model_file.h"

namespace kepler::model_tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

enum class Method : uint8_t { kNone, kMinIdle, kProfile, kBackground };

struct Isolating {
  std::string input;
  std::string output;
  Method method = Method::kMinIdle;
  std::string load;
  double share = 10;
  double percentile = 10;
  std::string profile;
  std::string idle;
  std::string model;
  std::string background;
  bool json = false;
};

constexpr std::string_view kMethods[] = {"none"sv, "min-idle"sv, "profile"sv, "background"sv};
constexpr std::string_view kBackgroundPrefix = "background_";

constexpr Key kIsolateKeys[] = {
    Key("input", "input", "CSV file of measurements with all of a node's watts; -: standard input",
        kAt<&Isolating::input>, {.is_path = true, .required = true}),
    Key("output", "output", "CSV file for the same with what load adds; -: standard output", kAt<&Isolating::output>,
        {.is_path = true, .required = true}),
    Key("method", "method", "What is taken off the watts, as above", kAt<&Isolating::method>, {.choices = kMethods}),
    Key("load", "load",
        "min-idle: column that says how busy a row is; empty: bpf_cpu_time_ms, else cpu_instructions, else cpu_cycles",
        kAt<&Isolating::load>),
    Key("share", "share", "min-idle: percent of the rows, those with the least load, that idle power is looked for in",
        kAt<&Isolating::share>, {.min = 0, .max = 100}),
    Key("percentile", "percentile", "min-idle: which percentile of their watts it is", kAt<&Isolating::percentile>,
        {.min = 0, .max = 100}),
    Key("profile", "profile", R"(profile: JSON file of idle watts: {"package": 31.5, "dram": 4})",
        kAt<&Isolating::profile>, {.is_path = true}),
    Key("idle", "idle", "profile: CSV file of an idle machine instead, whose median counts", kAt<&Isolating::idle>,
        {.is_path = true}),
    Key("model", "model", "background: directory of a model of all watts (AbsPower)", kAt<&Isolating::model>,
        {.is_path = true}),
    Key("background", "background",
        "background: CSV file of the machine without the load; without it, columns background_FEATURE of the input",
        kAt<&Isolating::background>, {.is_path = true}),
    Key("json", "json", "Print what was taken off as JSON", kAt<&Isolating::json>),
};
constexpr settings::TableOf<Isolating> kIsolateTable(kIsolateKeys);

constexpr std::string_view kAboutIsolate = R"(Makes what load adds (DynPower) of all of a node's watts (AbsPower).

Of each column of watts (package_power, dram_watts) is taken off, never below 0:
  none        nothing
  min-idle    a low percentile of the watts of the rows with the least load, for each node
  profile     the idle watts of a file, or the median of those of an idle machine
  background  what a model of all watts says of the background alone; features lose their background too

Examples:
  kepler-model isolate --input=table.csv --output=dynamic.csv
  kepler-model isolate --input=table.csv --output=dynamic.csv --method=profile --idle=idle.csv
  kepler-model isolate --input=table.csv --output=dynamic.csv --method=background --model=model --background=idle.csv)";

void CheckIsolating(settings::Draft& draft, Isolating& config) {
  if (config.json && config.output == "-")
    draft.Reject("json", "needs another --output than -: both are standard output");
  if (config.method != Method::kMinIdle) {
    const Isolating usual;
    if (!config.load.empty()) draft.Reject("load", "is for --method=min-idle");
    if (config.share != usual.share) draft.Reject("share", "is for --method=min-idle");
    if (config.percentile != usual.percentile) draft.Reject("percentile", "is for --method=min-idle");
  }
  const bool by_profile = config.method == Method::kProfile;
  if (by_profile && config.profile.empty() == config.idle.empty())
    draft.Reject("profile", "or idle must say the idle watts, and not both");
  if (!by_profile && !config.profile.empty()) draft.Reject("profile", "is for --method=profile");
  if (!by_profile && !config.idle.empty()) draft.Reject("idle", "is for --method=profile");
  const bool by_model = config.method == Method::kBackground;
  if (by_model && config.model.empty()) draft.Reject("model", "must say what the background takes");
  if (!by_model && !config.model.empty()) draft.Reject("model", "is for --method=background");
  if (!by_model && !config.background.empty()) draft.Reject("background", "is for --method=background");
}

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// As Table::Numbers(), but empty cells are NaN.
Result<std::vector<double>> ReadGappy(const DataFile& data, size_t column) {
  std::vector<double> numbers;
  for (const std::string_view text : data.table.Texts(column)) {
    const std::string_view cell = Trim(text);
    const auto number = cell.empty() ? std::optional(kNoValue) : ParseNumber<double>(cell);
    if (!number || std::isinf(*number) || (std::isnan(*number) && !cell.empty()))
      return Fail(ErrorKind::kMalformed,
                  fmt::format("{}: line {}, column '{}': '{:.40}' is no finite number", data.path,
                              data.table.LineOf(numbers.size()), data.table.names()[column], cell));
    numbers.push_back(*number);
  }
  return numbers;
}

/// "package" of "package_power" and "package_watts", else "".
std::string_view StemOf(std::string_view column) {
  for (const std::string_view suffix : {"_power", "_watts"})
    if (column.ends_with(suffix) && !column.starts_with(kBackgroundPrefix))
      return column.substr(0, column.size() - suffix.size());
  return {};
}

/// What is to stand in the table instead of what it had.
struct Changes {
  std::map<size_t, std::vector<double>> columns{};
  std::vector<size_t> left_out{};
  std::vector<std::string> notes{};  // what was taken off
  size_t rows = 0;                   // with other watts than before
  size_t clamped = 0;                // watts that would be negative
};

class Isolation {
 public:
  Isolation(const Isolating& config, const DataFile& data) : config_(config), data_(data) {}

  Result<Changes> Run() {
    KEPLER_CHECK_OK(ReadAll());
    if (config_.method == Method::kMinIdle) KEPLER_CHECK_OK(ByMinimum());
    if (config_.method == Method::kProfile) KEPLER_CHECK_OK(ByProfile());
    if (config_.method == Method::kBackground) KEPLER_CHECK_OK(ByBackground());
    changes_.rows = static_cast<size_t>(std::ranges::count(changed_, true));
    return std::move(changes_);
  }

 private:
  Status ReadAll() {
    const auto names = data_.table.names();
    for (size_t i = 0; i < names.size(); ++i) {
      if (StemOf(names[i]).empty()) continue;
      KEPLER_TRY(changes_.columns[i], ReadGappy(data_, i));
    }
    if (changes_.columns.empty())
      return Fail(ErrorKind::kInvalid, fmt::format("{}: no column of watts (package_power, dram_watts)", data_.path));
    changed_.resize(data_.table.rows());
    nodes_.assign(data_.table.rows(), {});
    const auto node = std::ranges::find(names, "node");
    if (node != names.end()) nodes_ = data_.table.Texts(static_cast<size_t>(node - names.begin()));
    return {};
  }

  void TakeOff(double& watts, double off, size_t row) {
    if (std::isnan(watts) || off == 0) return;
    if (watts < off) ++changes_.clamped;
    const double left = std::max(watts - off, 0.0);
    if (left != watts) changed_[row] = true;
    watts = left;
  }
  void TakeOffRows(size_t column, const std::function<double(size_t row)>& off) {
    std::vector<double>& watts = changes_.columns[column];
    for (size_t row = 0; row < watts.size(); ++row) TakeOff(watts[row], off(row), row);
  }

  Result<size_t> LoadColumn() const {
    if (!config_.load.empty()) return FindColumn(data_, config_.load);
    for (const std::string_view name : {"bpf_cpu_time_ms", "cpu_instructions", "cpu_cycles"}) {
      const auto found = data_.table.Find(name);
      if (!found) return model_files::InFile(data_.path, found.error());
      if (*found) return **found;
    }
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}: no column says how busy a row is; name one by --load", data_.path));
  }

  Status ByMinimum() {
    KEPLER_TRY(const size_t load_column, LoadColumn());
    KEPLER_TRY(const std::vector<double> load, ReadGappy(data_, load_column));
    std::map<std::string_view, std::vector<size_t>> by_node;
    for (size_t row = 0; row < nodes_.size(); ++row) by_node[nodes_[row]].push_back(row);
    for (auto& [column, watts] : changes_.columns)
      for (const auto& [node, rows] : by_node) {
        std::vector<double> of_load, of_watts;
        for (const size_t row : rows) {
          of_load.push_back(load[row]);
          of_watts.push_back(watts[row]);
        }
        const auto idle = dataset::FindIdleWatts(of_load, of_watts, config_.share / 100, config_.percentile);
        if (!idle) continue;
        changes_.notes.push_back(fmt::format("{}{}: {:.3f} W, percentile {} of {} rows with {} up to {:.6g}",
                                             node.empty() ? "" : fmt::format("{}: ", node), data_.table.names()[column],
                                             idle->watts, config_.percentile, idle->rows,
                                             data_.table.names()[load_column], idle->most_load));
        constexpr double kFarFromIdle = 0.1;
        if (idle->least_share > kFarFromIdle)
          changes_.notes.push_back(fmt::format(
              "{}{}: the least load is {:.0f} percent of the most: what is taken off is more than idle watts",
              node.empty() ? "" : fmt::format("{}: ", node), data_.table.names()[column], idle->least_share * 100));
        for (const size_t row : rows) TakeOff(watts[row], idle->watts, row);
      }
    return {};
  }

  /// Idle watts by the component that the columns are of.
  Status TakeOffIdle(const std::map<std::string, double, std::less<>>& idle, const std::string& path) {
    for (const auto& [column, watts] : changes_.columns) {
      const auto& name = data_.table.names()[column];
      const auto found = idle.contains(name) ? idle.find(name) : idle.find(StemOf(name));
      if (found == idle.end())
        return Fail(ErrorKind::kInvalid, fmt::format("{}: it says nothing of {}", path, StemOf(name)));
      TakeOffRows(column, [&](size_t) { return found->second; });
      changes_.notes.push_back(fmt::format("{}: {:.3f} W of {}", name, found->second, path));
    }
    return {};
  }

  Status ByProfile() {
    std::map<std::string, double, std::less<>> idle;
    if (!config_.profile.empty()) {
      KEPLER_TRY(idle, ReadProfile());
      return TakeOffIdle(idle, config_.profile);
    }
    KEPLER_TRY(const DataFile table, ReadData(config_.idle));
    for (size_t i = 0; i < table.table.names().size(); ++i) {
      const auto& name = table.table.names()[i];
      if (StemOf(name).empty()) continue;
      KEPLER_TRY(std::vector<double> watts, ReadGappy(table, i));
      std::erase_if(watts, [](double value) { return std::isnan(value); });
      if (!watts.empty()) idle[std::string(StemOf(name))] = dataset::PercentileOf(std::move(watts), 50);
    }
    return TakeOffIdle(idle, config_.idle);
  }

  Result<std::map<std::string, double, std::less<>>> ReadProfile() const {
    constexpr size_t kMaxProfile = size_t{1} << 20;
    KEPLER_TRY(const std::string text, model_files::ReadBounded(config_.profile, kMaxProfile));
    const auto json = model::ParseJson(text);
    if (!json) return model_files::InFile(config_.profile, json.error());
    const model::JsonAt root(*json);
    const auto members = root.Members();
    if (!members) return model_files::InFile(config_.profile, members.error());
    std::map<std::string, double, std::less<>> idle;
    for (const auto& [name, value] : **members) {
      const auto watts = root.At(value).Number();
      if (!watts) return model_files::InFile(config_.profile, watts.error());
      if (*watts < 0)
        return model_files::InFile(config_.profile, root.At(value).Refuse("idle watts cannot be negative").error());
      idle[name] = *watts;
    }
    return idle;
  }

  Status ByBackground() {
    KEPLER_TRY(const model::PowerModel model, model_files::ReadModel(config_.model, {}));
    if (model.output != model::OutputType::kAbsPower)
      return Fail(ErrorKind::kInvalid, fmt::format("{}: it says what load adds; a model of all watts is needed (train "
                                                   "--power=AbsPower)",
                                                   config_.model));
    if (!config_.background.empty()) return ByTable(model);
    std::vector<std::string> columns;
    columns.reserve(model.features.size());
    for (const std::string& feature : model.features) columns.push_back(std::string(kBackgroundPrefix) + feature);
    KEPLER_TRY(const training::Matrix rows, ReadFeatures(data_, columns));
    std::vector<model::Estimate> estimates;
    estimates.reserve(data_.table.rows());
    for (size_t row = 0; row < data_.table.rows(); ++row) estimates.push_back(model::EstimateRow(model, rows.row(row)));
    TakeOffEstimates(model, [&](size_t row) -> const model::Estimate& { return estimates[row]; }, "background columns");
    return LoseBackground();
  }

  /// The background is the same all the time: the mean of a table.
  Status ByTable(const model::PowerModel& model) {
    KEPLER_TRY(const DataFile table, ReadData(config_.background));
    KEPLER_TRY(const training::Matrix rows, ReadFeatures(table, model.features));
    model::Estimate mean;
    for (size_t row = 0; row < table.table.rows(); ++row) {
      const model::Estimate estimate = model::EstimateRow(model, rows.row(row));
      for (size_t i = 0; i < model::kComponents; ++i)
        mean.watts[i] += estimate.watts[i] / static_cast<double>(table.table.rows());
    }
    TakeOffEstimates(model, [&](size_t) -> const model::Estimate& { return mean; }, config_.background);
    for (size_t i = 0; i < model.features.size(); ++i) {
      const auto found = data_.table.Find(model.features[i]);
      if (!found || !*found) continue;
      double off = 0;
      for (size_t row = 0; row < table.table.rows(); ++row)
        off += rows.row(row)[i] / static_cast<double>(table.table.rows());
      KEPLER_CHECK_OK(LoseFeature(**found, [&](size_t) { return off; }));
    }
    return {};
  }

  void TakeOffEstimates(const model::PowerModel& model,
                        const std::function<const model::Estimate&(size_t row)>& estimate, const std::string& what) {
    for (const auto& [column, watts] : changes_.columns) {
      const auto& name = data_.table.names()[column];
      const auto component = model::ComponentOf(StemOf(name));
      if (!component || std::ranges::find(model.components, *component, &model::ComponentModel::component) ==
                            model.components.end()) {
        changes_.notes.push_back(fmt::format("{}: nothing, the model does not know it", name));
        continue;
      }
      double sum = 0;
      TakeOffRows(column, [&](size_t row) {
        const double off = estimate(row).watts[static_cast<size_t>(*component)];
        sum += off;
        return off;
      });
      changes_.notes.push_back(
          fmt::format("{}: {:.3f} W in the mean, of {}", name, sum / static_cast<double>(data_.table.rows()), what));
    }
  }

  Status LoseFeature(size_t column, const std::function<double(size_t row)>& off) {
    KEPLER_TRY(std::vector<double> values, ReadGappy(data_, column));
    for (size_t row = 0; row < values.size(); ++row)
      if (!std::isnan(values[row])) values[row] = std::max(values[row] - off(row), 0.0);
    changes_.columns[column] = std::move(values);
    return {};
  }

  /// Of each background_FEATURE there is a FEATURE, or not: then it only goes.
  Status LoseBackground() {
    const auto names = data_.table.names();
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].starts_with(kBackgroundPrefix)) continue;
      changes_.left_out.push_back(i);
      const auto whole = data_.table.Find(std::string_view(names[i]).substr(kBackgroundPrefix.size()));
      if (!whole || !*whole) continue;
      KEPLER_TRY(const std::vector<double> background, ReadGappy(data_, i));
      KEPLER_CHECK_OK(
          LoseFeature(**whole, [&](size_t row) { return std::isnan(background[row]) ? 0 : background[row]; }));
    }
    return {};
  }

  const Isolating& config_;
  const DataFile& data_;
  Changes changes_;
  std::vector<bool> changed_;  // by row
  std::vector<std::string_view> nodes_;
};

std::string TableText(const DataFile& data, const Changes& changes) {
  std::vector<size_t> columns(data.table.names().size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  std::erase_if(columns, [&](size_t i) { return std::ranges::find(changes.left_out, i) != changes.left_out.end(); });
  std::vector<std::vector<std::string_view>> texts(data.table.names().size());
  for (const size_t i : columns)
    if (!changes.columns.contains(i)) texts[i] = data.table.Texts(i);
  std::string out;
  for (const size_t i : columns) out += (out.empty() ? "" : ",") + dataset::CsvCell(data.table.names()[i]);
  out += '\n';
  for (size_t row = 0; row < data.table.rows(); ++row) {
    for (const size_t i : columns) {
      if (i != columns.front()) out += ',';
      const auto changed = changes.columns.find(i);
      if (changed == changes.columns.end())
        out += dataset::CsvCell(texts[i][row]);
      else if (!std::isnan(changed->second[row]))
        fmt::format_to(std::back_inserter(out), "{}", changed->second[row]);
    }
    out += '\n';
  }
  return out;
}

Status IsolateTable(const Isolating& config) {
  KEPLER_CHECK_OK(model_files::CheckWritable(config.output));
  for (const std::string& source : {config.input, config.profile, config.idle, config.background})
    if (!source.empty()) KEPLER_CHECK_OK(model_files::CheckDistinct(std::array{source, config.output}));
  KEPLER_TRY(const DataFile data, ReadData(config.input));
  KEPLER_TRY(const Changes changes, Isolation(config, data).Run());
  const model_files::OutputFile file{config.output, TableText(data, changes)};
  KEPLER_CHECK_OK(model_files::WriteFiles({&file, 1}));
  if (config.json) {
    std::vector<std::string> notes;
    notes.reserve(changes.notes.size());
    for (const std::string& note : changes.notes) notes.push_back(model::JsonText(note));
    return PrintResult(fmt::format(R"({{"rows":{},"method":"{}","changed_rows":{},"clamped_to_0":{},"taken_off":[{}]}})"
                                   "\n",
                                   data.table.rows(), kMethods[static_cast<size_t>(config.method)], changes.rows,
                                   changes.clamped, fmt::join(notes, ",")));
  }
  for (const std::string& note : changes.notes) Note(note);
  Note(fmt::format("{} of {} rows changed; {} watts would be negative and are 0", changes.rows, data.table.rows(),
                   changes.clamped));
  return {};
}

}  // namespace

int RunIsolate(std::span<const char* const> arguments) {
  return RunCommand<Isolating>("isolate", kAboutIsolate, arguments, kIsolateTable, CheckIsolating, IsolateTable);
}

}  // namespace kepler::model_tool
