#include "modelserver/decision_log.h"

#include <fmt/format.h>

#include "base/parse.h"
#include "base/small_file.h"
#include "json/document.h"

namespace kepler::modelserver {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;

std::optional<double> NumberOf(const json::Cursor& root, std::string_view key) {
  const auto number = root.Number(key);
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<Decision> ParseDecision(std::string_view line) {
  const auto document = json::Parse(line);
  if (!document) return std::nullopt;
  const json::Cursor root(*document);
  const auto published = root.Member("published");
  const auto version = root.Count("new_version");
  if (!published || !version) return std::nullopt;
  return Decision{.time = root.Number("time").value_or(0),
                  .old_version = static_cast<uint32_t>(root.Count("old_version").value_or(0)),
                  .new_version = static_cast<uint32_t>(*version),
                  .old_mae = NumberOf(root, "old_mae"),
                  .new_mae = NumberOf(root, "new_mae"),
                  .rows = root.Count("rows").value_or(0),
                  .trained_until = root.Number("trained_until").value_or(0),
                  .is_published = published->Bool().value_or(false),
                  .reason = std::string(root.Text("reason").value_or(""))};
}

}  // namespace

std::string DecisionLine(const Decision& decision, std::string_view name) {
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "null"; };
  return fmt::format(
      R"({{"time":{:.0f},"name":{},"old_version":{},"new_version":{},"old_mae":{},"new_mae":{},"rows":{},)"
      R"("trained_until":{:.3f},"published":{},"reason":{}}})",
      decision.time, json::Quote(name), decision.old_version, decision.new_version, number(decision.old_mae),
      number(decision.new_mae), decision.rows, decision.trained_until, decision.is_published,
      json::Quote(decision.reason));
}

std::vector<Decision> ReadDecisions(const std::string& path) {
  std::vector<Decision> decisions;
  const auto text = ReadSmallFile(path, kMaxBytes);
  if (!text) return decisions;
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next())
    if (auto decision = ParseDecision(*line)) decisions.push_back(*std::move(decision));
  return decisions;
}

}  // namespace kepler::modelserver
