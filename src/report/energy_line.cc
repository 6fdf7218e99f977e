#include "report/energy_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/parse.h"
#include "base/parse_time.h"
#include "base/text.h"
#include "json/stream.h"

namespace kepler::report {
namespace {

constexpr int kVersion = 1;
constexpr size_t kMaxText = 1000;  // bytes of a value

}  // namespace

std::string_view EnergyLine::Text(std::string_view name) const {
  const auto found = std::ranges::find(texts, name, [](const auto& text) { return std::string_view(text.first); });
  return found == texts.end() ? std::string_view() : found->second;
}

Result<Energy> ReadJoules(std::string_view text) {
  constexpr size_t kDecimals = 6;
  const size_t point = text.find('.');
  std::string fraction(point == std::string_view::npos ? "" : text.substr(point + 1));
  const auto whole = ParseNumber<uint64_t>(text.substr(0, point));
  const bool has_fraction = point == std::string_view::npos || (!fraction.empty() && fraction.size() <= kDecimals);
  if (has_fraction) fraction.append(kDecimals - fraction.size(), '0');
  const auto micro = ParseNumber<uint32_t>(fraction);
  constexpr int64_t kMicro = 1'000'000;
  constexpr uint64_t kMaxJoules = 1'000'000'000'000;  // 30 years of a megawatt
  if (!has_fraction || !whole || *whole > kMaxJoules || !micro)
    return Fail(ErrorKind::kMalformed,
                fmt::format("'{}' is not a number of joules of at least 0 with at most six decimals",
                            EscapeControls(text.substr(0, 40))));
  return Energy::Microjoules(static_cast<int64_t>(*whole) * kMicro + *micro);
}

class LineReader::Parser final : public json::Visitor {
 public:
  Result<const EnergyLine*> Read(std::string_view text) {
    line_ = {};
    version_.reset();
    key_.clear();
    inner_.clear();
    depth_ = 0;
    if (!stream_) stream_.emplace(*this, kMaxText, json::Stream::LongKeys::kCut);
    const auto used = stream_->ReadOne(text);
    const bool is_whole = used && stream_->AtEnd() && Trim(text.substr(*used)).empty();
    if (!is_whole) stream_.reset();  // no call may follow an error
    if (!used) return std::unexpected(used.error());
    if (!is_whole) return Fail(ErrorKind::kMalformed, "the line is not one whole JSON object");
    if (!version_ || line_.time == Milliseconds{} || line_.node.empty() || line_.level.empty())
      return Fail(ErrorKind::kMalformed, "version, time, node or level is missing");
    if (*version_ != kVersion)
      return Fail(ErrorKind::kInvalid,
                  fmt::format("version {} is not known; this program reads version {}", *version_, kVersion));
    return &line_;
  }

  Status BeginObject() override {
    ++depth_;
    return {};
  }
  Status EndObject() override {
    --depth_;
    return {};
  }
  Status BeginList() override { return Fail(ErrorKind::kMalformed, "no line has a list"); }
  Status EndList() override { return {}; }
  Status Key(std::string_view key) override {
    (depth_ == 1 ? key_ : inner_) = key;
    return {};
  }
  Status Text(std::string_view text) override {
    if (depth_ != 1) return {};
    if (key_ == "time") return Time(text);
    for (const auto& [name, member] : kMembers)
      if (key_ == name) {
        line_.*member = text;
        return {};
      }
    line_.texts.emplace_back(key_, text);
    return {};
  }
  Status Number(double /*rough*/, std::string_view text) override {
    if (depth_ == 1 && key_ == "version") version_ = ParseNumber<int>(text).value_or(0);
    if (depth_ == 1 && (key_ == "pid" || key_ == "uid")) line_.texts.emplace_back(key_, text);
    if (depth_ == 2 && key_ == "joules") {
      KEPLER_TRY(const Energy energy, ReadJoules(text));
      line_.joules.emplace_back(inner_, energy);
    }
    if (depth_ != 1 || !key_.ends_with("joules")) return {};
    KEPLER_TRY(const Energy energy, ReadJoules(text));
    if (key_ == "joules") line_.joules.emplace_back(line_.zone, energy);
    if (key_ == "active_joules") line_.active = energy;
    if (key_ == "idle_joules") line_.idle = energy;
    line_.is_divided = line_.is_divided || key_ != "joules";
    return {};
  }
  Status Literal(std::optional<bool> /*value*/) override { return {}; }

 private:
  static constexpr std::array<std::pair<std::string_view, std::string EnergyLine::*>, 6> kMembers = {
      {{"node", &EnergyLine::node},
       {"level", &EnergyLine::level},
       {"start", &EnergyLine::start},
       {"zone", &EnergyLine::zone},
       {"of", &EnergyLine::of},
       {"reason", &EnergyLine::reason}}};

  Status Time(std::string_view text) {
    KEPLER_TRY(const double seconds, ParseTime(text));
    line_.time = Milliseconds(std::chrono::milliseconds(std::llround(seconds * 1e3)));
    return {};
  }

  std::optional<json::Stream> stream_;
  EnergyLine line_;
  std::optional<int> version_;
  std::string key_;
  std::string inner_;
  int depth_ = 0;
};

LineReader::LineReader() : parser_(std::make_unique<Parser>()) {}
LineReader::~LineReader() = default;

Result<const EnergyLine*> LineReader::Read(std::string_view text) { return parser_->Read(text); }

}  // namespace kepler::report
