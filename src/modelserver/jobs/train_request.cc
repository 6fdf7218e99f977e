#include "modelserver/jobs/train_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "json/document.h"
#include "modelserver/model_index.h"

namespace kepler::modelserver::jobs {
namespace {

constexpr size_t kMaxTrainers = 16;
constexpr size_t kMaxSmallValues = 256;

std::unexpected<Error> Wrong(std::string_view field, std::string_view reason) {
  return Fail(ErrorKind::kMalformed, fmt::format("{}: {}", field, reason));
}

/// Walks through the text of one object.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  [[nodiscard]] bool IsAtEnd() const { return at_ == text_.size(); }
  bool Take(char c) {
    if (IsAtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// The text up to the end of the value that begins here; empty if it has no end.
  std::string_view TakeValue() {
    const size_t begin = at_;
    size_t depth = 0;
    do {
      if (IsAtEnd()) return {};
      const char c = text_[at_];
      if (c == '"' && !SkipText()) return {};
      if (c == '"') continue;
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    } while (depth > 0 || !IsBetweenValues());
    return Trim(text_.substr(begin, at_ - begin));
  }

 private:
  /// Skips a text, which begins here.
  bool SkipText() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '"')
        return ++at_, true;
    }
    at_ = text_.size();
    return false;
  }
  [[nodiscard]] bool IsBetweenValues() const {
    return IsAtEnd() || text_[at_] == ',' || text_[at_] == '}' || text_[at_] == ':';
  }

  std::string_view text_;
  size_t at_ = 0;
};

Result<json::Value> ParseSmall(std::string_view field, std::string_view text) {
  constexpr size_t kMaxSmallBytes = 16384;
  if (text.size() > kMaxSmallBytes) return Wrong(field, "it is too long");
  auto value = json::Parse(text, kMaxSmallValues);
  if (!value) return Wrong(field, value.error().message);
  return value;
}

Result<std::string> TextOf(const JsonMembers& members, std::string_view field) {
  const auto found = members.find(field);
  if (found == members.end()) return Wrong(field, "it is missing");
  KEPLER_TRY(const json::Value value, ParseSmall(field, found->second));
  const std::string* const text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return Wrong(field, "it is not a text");
  return *text;
}

bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_' || c == '-';
  });
}

Result<std::vector<std::string>> TrainersOf(const JsonMembers& members, std::string_view field) {
  const auto found = members.find(field);
  if (found == members.end() || found->second == "null") return std::vector<std::string>();
  KEPLER_TRY(const json::Value value, ParseSmall(field, found->second));
  auto names = json::Cursor(value).Texts();
  if (!names) return Wrong(field, "it is not a list of texts");
  if (names->size() > kMaxTrainers) return Wrong(field, fmt::format("more than {} trainers", kMaxTrainers));
  if (!std::ranges::all_of(*names, IsName)) return Wrong(field, "a name has other characters than letters and digits");
  return *std::move(names);
}

Status ReadIsolator(const JsonMembers& trainer, TrainRequest& request) {
  if (!trainer.contains("isolator")) return {};
  KEPLER_TRY(const std::string isolator, TextOf(trainer, "isolator"));
  request.isolates = isolator != "NoneIsolator";
  if (isolator == "MinIdleIsolator" || isolator == "NoneIsolator") return {};
  return Wrong("isolator", "use MinIdleIsolator or NoneIsolator; others need kepler-model isolate");
}

bool IsFalse(std::string_view value) { return value == "false" || value == "null" || value == "0"; }

}  // namespace

Result<JsonMembers> SplitMembers(std::string_view text) {
  Walk walk(text);
  JsonMembers members;
  const auto refuse = [] { return Fail(ErrorKind::kMalformed, "it is not a JSON object, or it is incomplete"); };
  walk.SkipBlanks();
  if (!walk.Take('{')) return refuse();
  walk.SkipBlanks();
  bool is_end = walk.Take('}');
  while (!is_end) {
    walk.SkipBlanks();
    const std::string_view key = walk.TakeValue();
    if (key.size() < 2 || !key.starts_with('"') || !key.ends_with('"')) return refuse();
    walk.SkipBlanks();
    if (!walk.Take(':')) return refuse();
    walk.SkipBlanks();
    const std::string_view value = walk.TakeValue();
    if (value.empty()) return refuse();
    if (!members.emplace(key.substr(1, key.size() - 2), value).second)
      return Fail(ErrorKind::kMalformed, "a key occurs twice");
    walk.SkipBlanks();
    is_end = walk.Take('}');
    if (!is_end && !walk.Take(',')) return refuse();
  }
  walk.SkipBlanks();
  if (!walk.IsAtEnd()) return refuse();
  return members;
}

Result<TrainRequest> ReadTrainRequest(std::string_view body) {
  KEPLER_TRY(const JsonMembers members, SplitMembers(body));
  TrainRequest request;
  KEPLER_TRY(request.name, TextOf(members, "name"));
  if (!IsModelName(request.name)) return Wrong("name", NoModelName(request.name));
  KEPLER_TRY(request.energy_source, TextOf(members, "energy_source"));
  if (!IsName(request.energy_source)) return Wrong("energy_source", "use rapl-sysfs or acpi");
  const auto trainer = members.find("trainer");
  if (trainer == members.end()) return Wrong("trainer", "it is missing");
  const auto parts = SplitMembers(trainer->second);
  if (!parts) return Wrong("trainer", parts.error().message);
  KEPLER_TRY(request.abs_trainers, TrainersOf(*parts, "abs_trainers"));
  KEPLER_TRY(request.dyn_trainers, TrainersOf(*parts, "dyn_trainers"));
  KEPLER_CHECK_OK(ReadIsolator(*parts, request));
  if (request.abs_trainers.empty() && request.dyn_trainers.empty())
    return Wrong("trainer", "abs_trainers and dyn_trainers are empty");
  if (const auto vm = members.find("use_vm_metrics"); vm != members.end() && !IsFalse(vm->second))
    return Wrong("use_vm_metrics", "train models of guests with kepler-model extract --vm");
  const auto recording = members.find("prom_response");
  if (recording == members.end() || !recording->second.starts_with('{'))
    return Wrong("prom_response", "it is missing, or it is not an object");
  request.recording = recording->second;
  return request;
}

std::vector<std::vector<std::string>> TrainSteps(const TrainRequest& request) {
  using Step = std::vector<std::string>;
  std::vector<Step> steps = {
      {"extract", "--input=recording.json", "--output=table.csv", "--source=" + request.energy_source}};
  const auto train = [&](std::string_view table, std::string_view directory, const std::vector<std::string>& trainers) {
    steps.push_back({"pipeline", fmt::format("--data={}", table), fmt::format("--output={}", directory),
                     fmt::format("--trainers={}", fmt::join(trainers, ","))});
  };
  if (!request.abs_trainers.empty()) train("table.csv", "abs", request.abs_trainers);
  if (request.dyn_trainers.empty()) return steps;
  if (request.isolates) steps.push_back({"isolate", "--input=table.csv", "--output=dynamic.csv", "--method=min-idle"});
  train(request.isolates ? "dynamic.csv" : "table.csv", "dyn", request.dyn_trainers);
  if (!request.isolates) steps.back().emplace_back("--power=DynPower");
  return steps;
}

}  // namespace kepler::modelserver::jobs
