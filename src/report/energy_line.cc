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

/// "e-05", "E+2"; 0 if there is no exponent. JSON allows the plus sign, from_chars does not.
std::optional<int> ExponentOf(std::string_view text) {
  if (text.empty()) return 0;
  const bool has_plus = text.starts_with("e+") || text.starts_with("E+");
  const std::string_view number = text.substr(has_plus ? 2 : 1);
  if (has_plus && number.starts_with('-')) return std::nullopt;
  return ParseNumber<int>(number);
}

/// Exact: the digits are a whole number, and the exponent moves the point. Nothing if microjoules are not enough.
std::optional<int64_t> MicrojoulesOf(std::string_view text) {
  constexpr int kDecimals = 6, kMaxExponent = 1000;
  constexpr int64_t kMax = 1'000'000'000'000'000'000;  // 1e12 J: 30 years of a megawatt
  const size_t mark = std::min({text.find('e'), text.find('E'), text.size()});
  const size_t point = std::min(text.find('.'), mark);
  const auto exponent = ExponentOf(text.substr(mark));
  const bool has_digits = point > 0 && point + 1 != mark;
  if (!has_digits || !exponent || *exponent < -kMaxExponent || *exponent > kMaxExponent) return std::nullopt;
  int64_t digits = 0;
  int scale = kDecimals + *exponent;  // factor 10^scale from `digits` to microjoules
  int zeros = 0;                      // at the end so far; they change `digits` only if another digit follows
  const auto multiply = [&digits](int powers) {
    for (; powers > 0 && digits != 0; --powers) {
      if (digits > kMax / 10) return false;
      digits *= 10;
    }
    return true;
  };
  for (size_t i = 0; i < mark; ++i) {
    if (i == point) continue;
    if (!IsDigit(text[i])) return std::nullopt;
    if (i > point) --scale;
    ++zeros;
    if (text[i] == '0') continue;
    if (!multiply(zeros)) return std::nullopt;
    digits += text[i] - '0';
    zeros = 0;
  }
  scale += zeros;
  if (digits == 0) return 0;
  if (scale < 0 || !multiply(scale) || digits > kMax) return std::nullopt;
  return digits;
}

}  // namespace

std::string_view EnergyLine::Text(std::string_view name) const {
  const auto found = std::ranges::find(texts, name, [](const auto& text) { return std::string_view(text.first); });
  return found == texts.end() ? std::string_view() : found->second;
}

Result<Energy> ReadJoules(std::string_view text) {
  const auto microjoules = MicrojoulesOf(text);
  if (!microjoules)
    return Fail(ErrorKind::kMalformed,
                fmt::format("'{}' is not a number of joules of at least 0 with at most six decimals",
                            EscapeControls(text.substr(0, 40))));
  return Energy::Microjoules(*microjoules);
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
