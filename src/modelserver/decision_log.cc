#include "modelserver/decision_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/parse.h"
#include "base/unique_fd.h"
#include "json/document.h"

namespace kepler::modelserver {
namespace {

constexpr off_t kMaxBytes = off_t{1} << 20;

/// The end of the file, at most kMaxBytes, from the beginning of a line.
Result<std::string> ReadEnd(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return FailErrno("open", path);
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return FailErrno("stat", path);
  if (!S_ISREG(info.st_mode)) return Fail(ErrorKind::kInvalid, "read " + path + ": it is not a regular file");
  const off_t from = std::max<off_t>(info.st_size - kMaxBytes, 0);
  std::string text(static_cast<size_t>(info.st_size - from), '\0');
  const ssize_t size = pread(file.get(), text.data(), text.size(), from);
  if (size < 0) return FailErrno("read", path);
  text.resize(static_cast<size_t>(size));
  if (from > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

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

Result<std::vector<Decision>> ReadDecisions(const std::string& path) {
  std::vector<Decision> decisions;
  const auto text = ReadEnd(path);
  if (!text && text.error().kind == ErrorKind::kNotFound) return decisions;
  if (!text) return std::unexpected(text.error());
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next())
    if (auto decision = ParseDecision(*line)) decisions.push_back(*std::move(decision));
  return decisions;
}

}  // namespace kepler::modelserver
