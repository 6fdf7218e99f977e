#include "os/procfs.h"

#include <fmt/core.h>

#include <array>

#include "base/parse.h"

namespace kepler::os {

namespace {

constexpr std::string_view kDeleted = " (deleted)";

std::unexpected<Error> Malformed(std::string_view what, std::string_view why) {
  return Fail(ErrorKind::kMalformed, fmt::format("parse {}: {}", what, why));
}

template <class T>
bool NextNumber(Splitter& fields, T& value) {
  const auto field = fields.Next();
  if (!field) return false;
  const auto number = ParseNumber<T>(*field);
  if (number) value = *number;
  return number.has_value();
}

bool Skip(Splitter& fields, int count) {
  for (; count > 0; --count)
    if (!fields.Next()) return false;
  return true;
}

std::optional<CgroupLine> ParseCgroupLine(std::string_view line) {
  const auto first = line.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto hierarchy = ParseNumber<int>(line.substr(0, first));
  const auto path = StripDeleted(line.substr(second + 1));
  if (!hierarchy || *hierarchy < 0 || !path.starts_with('/')) return std::nullopt;
  return CgroupLine{.hierarchy = *hierarchy,
                    .controllers = std::string(line.substr(first + 1, second - first - 1)),
                    .path = std::string(path)};
}

}  // namespace

Result<ProcessStat> ParseProcessStat(std::string_view text) {
  // comm may contain spaces and parentheses: it ends at the last parenthesis.
  const auto open = text.find(" (");
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2 ||
      text.substr(close, 2) != ") ") {
    return Malformed("stat", "no comm in parentheses");
  }
  ProcessStat stat;
  const auto pid = ParseNumber<int32_t>(text.substr(0, open));
  if (!pid || *pid <= 0) return Malformed("stat", "no pid");
  stat.pid = *pid;
  stat.comm = text.substr(open + 2, close - open - 2);
  Splitter fields(Trim(text.substr(close + 2)), ' ');
  const auto state = fields.Next();
  if (!state || state->size() != 1) return Malformed("stat", "no state");
  stat.state = state->front();
  // Fields 4 ppid, 9 flags, 14 utime, 15 stime, 22 starttime.
  const bool complete = NextNumber(fields, stat.ppid) && Skip(fields, 4) && NextNumber(fields, stat.flags) &&
                        Skip(fields, 4) && NextNumber(fields, stat.utime_ticks) &&
                        NextNumber(fields, stat.stime_ticks) && Skip(fields, 6) && NextNumber(fields, stat.start_ticks);
  if (!complete) return Malformed("stat", "a field is missing or not a number");
  return stat;
}

Result<CgroupLines> ParseCgroupLines(std::string_view text) {
  CgroupLines all;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return all;
  Splitter lines(text, '\n');
  while (const auto text_line = lines.Next()) {
    auto line = ParseCgroupLine(*text_line);
    if (!line) return Malformed("cgroup", fmt::format("line {}", all.size() + 1));
    all.push_back(*std::move(line));
  }
  return all;
}

std::optional<std::string_view> ValueOf(std::string_view name, std::string_view text) {
  Splitter lines(text, '\n');
  while (const auto line = lines.Next())
    if (line->starts_with(name)) return Trim(line->substr(name.size()));
  return std::nullopt;
}

Result<std::vector<int32_t>> ParseNsPids(std::string_view status) {
  const auto value = ValueOf("NSpid:", status);
  if (!value) return Malformed("status", "no NSpid line");
  std::vector<int32_t> pids;
  Splitter fields(*value, '\t');
  while (const auto field = fields.Next()) {
    const auto pid = ParseNumber<int32_t>(Trim(*field));
    if (!pid) return Malformed("status", "NSpid contains a value that is not a pid");
    pids.push_back(*pid);
  }
  return pids;
}

Result<uint32_t> ParseRealUid(std::string_view status) {
  const auto value = ValueOf("Uid:", status);
  if (!value) return Malformed("status", "no Uid line");
  const auto uid = ParseNumber<uint32_t>(value->substr(0, value->find('\t')));
  if (!uid) return Malformed("status", "Uid has no real user id");
  return *uid;
}

Result<uint64_t> ParseMemTotal(std::string_view meminfo) {
  auto value = ValueOf("MemTotal:", meminfo);
  if (!value) return Malformed("meminfo", "no MemTotal line");
  if (!value->ends_with(" kB")) return Malformed("meminfo", "MemTotal is not in kB");
  value->remove_suffix(3);
  const auto kib = ParseNumber<uint64_t>(*value);
  if (!kib) return Malformed("meminfo", "MemTotal is not a number");
  return *kib;
}

Result<IpOctets> ParseIpOctets(std::string_view netstat) {
  constexpr std::string_view kPrefix = "IpExt:";
  Splitter lines(netstat, '\n');
  auto line = lines.Next();
  while (line && !line->starts_with(kPrefix)) line = lines.Next();
  const auto second = lines.Next();
  if (!line || !second || !second->starts_with(kPrefix)) return Malformed("netstat", "no two IpExt lines");
  std::optional<uint64_t> received;
  std::optional<uint64_t> sent;
  Splitter names(*line, ' ');
  Splitter values(*second, ' ');
  while (const auto name = names.Next()) {
    const auto value = values.Next();
    if (!value) return Malformed("netstat", "IpExt has more names than values");
    if (*name == "InOctets") received = ParseNumber<uint64_t>(*value);
    if (*name == "OutOctets") sent = ParseNumber<uint64_t>(*value);
  }
  if (!received || !sent) return Malformed("netstat", "IpExt has no InOctets and OutOctets");
  return IpOctets{*received, *sent};
}

std::string_view StripDeleted(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path;
}

bool HasController(std::string_view controllers, std::string_view name) {
  Splitter list(controllers, ',');
  while (const auto item = list.Next())
    if (*item == name) return true;
  return false;
}

namespace {

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

std::string Unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.size() - i > 3 && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// Parses "36 35 98:0 /root /mount/point options optional… - type source super-options".
std::optional<Mount> ParseLine(std::string_view line) {
  const auto dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  Splitter before(line.substr(0, dash), ' ');
  std::array<std::string_view, 5> head;
  for (auto& field : head) {
    const auto next = before.Next();
    if (!next) return std::nullopt;
    field = *next;
  }
  Splitter after(line.substr(dash + 3), ' ');
  const auto type = after.Next();
  const auto source = after.Next();
  const auto options = after.Next();
  if (!type || !source || !options) return std::nullopt;
  return Mount{.root = Unescape(head[3]),
               .mount_point = Unescape(head[4]),
               .type = std::string(*type),
               .source = Unescape(*source),
               .super_options = std::string(*options)};
}

}  // namespace

std::vector<Mount> ParseMountInfo(std::string_view text) {
  std::vector<Mount> mounts;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next())
    if (auto mount = ParseLine(*line)) mounts.push_back(*std::move(mount));
  return mounts;
}

}  // namespace kepler::os
