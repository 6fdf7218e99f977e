#include "report/energy_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/parse.h"
#include "base/parse_time.h"
#include "base/text.h"
#include "json/plain_object.h"
#include "json/stream.h"

namespace kepler::report {
namespace {

using std::string_view_literals::operator""sv;

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
    Clear();
    if (!json::ReadPlainObject(text, kMaxText, *this)) KEPLER_CHECK_OK(ReadByStream(text));
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
    if (depth_ != 1) {
      inner_ = key;
      return {};
    }
    member_ = MemberOf(key);
    kind_ = member_ != nullptr ? KeyKind::kMember : KindOf(key);
    if (kind_ == KeyKind::kOther) key_ = key;
    return {};
  }
  Status Text(std::string_view text) override {
    if (depth_ != 1) return {};
    if (kind_ == KeyKind::kTime) return Time(text);
    if (kind_ == KeyKind::kMember)
      *member_ = text;
    else if (kind_ == KeyKind::kOther)
      line_.texts.emplace_back(key_, text);
    return {};
  }
  Status Number(double /*rough*/, std::string_view text) override {
    if (kind_ == KeyKind::kOther) {
      if (depth_ == 1 && (key_ == "pid"sv || key_ == "uid"sv)) line_.texts.emplace_back(key_, text);
      return {};
    }
    if (kind_ == KeyKind::kVersion && depth_ == 1) version_ = ParseNumber<double>(text).value_or(0);
    const bool is_joules = kind_ == KeyKind::kJoules && depth_ <= 2;
    const bool is_part = depth_ == 1 && (kind_ == KeyKind::kActive || kind_ == KeyKind::kIdle);
    if (!is_joules && !is_part) return {};
    KEPLER_TRY(const Energy energy, ReadJoules(text));
    if (is_joules) line_.joules.emplace_back(depth_ == 1 ? line_.zone : inner_, energy);
    if (is_part) (kind_ == KeyKind::kActive ? line_.active : line_.idle) = energy;
    line_.is_divided = line_.is_divided || is_part;
    return {};
  }
  Status Literal(std::optional<bool> /*value*/) override { return {}; }

 private:
  /// What a key of the line means; kOther: a text that identifies a workload, or nothing for a report.
  enum class KeyKind : uint8_t { kOther, kVersion, kTime, kMember, kJoules, kActive, kIdle };

  /// Any JSON, with the reason if it cannot be read.
  Status ReadByStream(std::string_view text) {
    Clear();
    if (!stream_) stream_.emplace(*this, kMaxText, json::Stream::LongKeys::kCut);
    const auto used = stream_->ReadOne(text);
    const bool is_whole = used && stream_->AtEnd() && Trim(text.substr(*used)).empty();
    if (!is_whole) stream_.reset();  // no call may follow an error
    if (!used) return std::unexpected(used.error());
    return is_whole ? Status() : Fail(ErrorKind::kMalformed, "the line is not one whole JSON object");
  }

  /// A comparison with a literal takes no call, unlike one with a view: it would take a tenth of the time of a report.
  template <size_t kSize>
  static bool Is(std::string_view key, const char (&name)[kSize]) {
    return key.size() == kSize - 1 && std::equal(name, name + kSize - 1, key.begin());
  }
  std::string* MemberOf(std::string_view key) {
    if (Is(key, "node")) return &line_.node;
    if (Is(key, "level")) return &line_.level;
    if (Is(key, "start")) return &line_.start;
    if (Is(key, "zone")) return &line_.zone;
    if (Is(key, "of")) return &line_.of;
    if (Is(key, "reason")) return &line_.reason;
    return nullptr;
  }
  static KeyKind KindOf(std::string_view key) {
    if (Is(key, "version")) return KeyKind::kVersion;
    if (Is(key, "time")) return KeyKind::kTime;
    if (Is(key, "joules")) return KeyKind::kJoules;
    if (Is(key, "active_joules")) return KeyKind::kActive;
    if (Is(key, "idle_joules")) return KeyKind::kIdle;
    return KeyKind::kOther;
  }

  /// Keeps the memory of the line before, which takes longer to allocate than a line to read.
  void Clear() {
    version_.reset();
    key_.clear();
    inner_.clear();
    depth_ = 0;
    for (std::string* text : {&line_.node, &line_.level, &line_.start, &line_.zone, &line_.of, &line_.reason})
      text->clear();
    line_.texts.clear();
    line_.joules.clear();
    line_.time = {};
    line_.active = line_.idle = {};
    line_.is_divided = false;
  }

  /// Nearly all lines have the time of the line before.
  Status Time(std::string_view text) {
    if (text != time_text_) {
      KEPLER_TRY(const double seconds, ParseTime(text));
      time_ = Milliseconds(std::chrono::milliseconds(std::llround(seconds * 1e3)));
      time_text_ = text;
    }
    line_.time = time_;
    return {};
  }

  std::optional<json::Stream> stream_;
  EnergyLine line_;
  std::string time_text_;
  Milliseconds time_{};  // of `time_text_`
  std::optional<double> version_;
  KeyKind kind_ = KeyKind::kOther;  // of the latest key of the line
  std::string* member_ = nullptr;   // of kMember
  std::string key_;                 // of kOther
  std::string inner_;
  int depth_ = 0;
};

LineReader::LineReader() : parser_(std::make_unique<Parser>()) {}
LineReader::~LineReader() = default;

Result<const EnergyLine*> LineReader::Read(std::string_view text) { return parser_->Read(text); }

}  // namespace kepler::report
