#include "os/proc_stat.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "base/parse.h"
#include "os/procfs.h"

namespace kepler::os {
namespace {

struct Steps {
  uint64_t busy = 0;
  uint64_t total = 0;
};

Steps StepsBetween(const ProcStatCpu& a, const ProcStatCpu& b) {
  const uint64_t busy = Forward(a.user, b.user) + Forward(a.nice, b.nice) + Forward(a.system, b.system) +
                        Forward(a.irq, b.irq) + Forward(a.softirq, b.softirq) + Forward(a.steal, b.steal);
  return {.busy = busy, .total = busy + Forward(a.idle, b.idle) + Forward(a.iowait, b.iowait)};
}

/// Parses "cpu  1 2 3 4 …": at least the first four values, as in the oldest kernels.
bool ParseCpuLine(std::string_view line, ProcStatCpu& cpu) {
  uint64_t* const columns[] = {&cpu.user,   &cpu.nice, &cpu.system,  &cpu.idle,
                               &cpu.iowait, &cpu.irq,  &cpu.softirq, &cpu.steal};
  Splitter fields(Trim(line.substr(3)), ' ');
  int filled = 0;
  for (uint64_t* const column : columns) {
    const auto field = fields.Next();
    if (!field) break;
    const auto number = ParseNumber<uint64_t>(*field);
    if (!number) return false;
    *column = *number;
    ++filled;
  }
  return filled >= 4;
}

/// Returns the bytes of a line such as "MemTotal:  2048 kB".
std::optional<uint64_t> ParseKibibytes(std::string_view name, std::string_view meminfo) {
  constexpr uint64_t kKibibyte = 1024;
  const auto value = ValueOf(name, meminfo);
  if (!value || !value->ends_with(" kB")) return std::nullopt;
  const auto number = ParseNumber<uint64_t>(Trim(value->substr(0, value->size() - 3)));
  if (!number || *number > UINT64_MAX / kKibibyte) return std::nullopt;
  return *number * kKibibyte;
}

}  // namespace

Result<ProcStatCpu> ParseProcStat(std::string_view text) {
  ProcStatCpu cpu;
  bool found = false;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    if (!line->starts_with("cpu")) break;  // the cpu lines come first; the intr line after them is long
    if (line->starts_with("cpu ")) {
      found = ParseCpuLine(*line, cpu);
      if (!found) break;
    } else {
      ++cpu.cpus;
    }
  }
  if (!found) return Fail(ErrorKind::kMalformed, "parse /proc/stat: no \"cpu\" line with its times");
  return cpu;
}

uint64_t OnlineDigest(std::string_view text) {
  constexpr uint64_t kPrime = 1'099'511'628'211;  // FNV-1a
  uint64_t digest = 14'695'981'039'346'656'037U;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    if (!line->starts_with("cpu")) break;
    for (const char c : line->substr(0, line->find(' '))) digest = (digest ^ static_cast<unsigned char>(c)) * kPrime;
  }
  return digest;
}

std::optional<uint64_t> ParseTasksMade(std::string_view text) {
  const auto value = ValueOf("processes ", text);
  return value ? ParseNumber<uint64_t>(*value) : std::nullopt;
}

std::optional<uint64_t> ParseContextSwitches(std::string_view text) {
  const auto value = ValueOf("ctxt ", text);
  return value ? ParseNumber<uint64_t>(*value) : std::nullopt;
}

std::optional<uint64_t> ParsePageFaults(std::string_view vmstat) {
  const auto value = ValueOf("pgfault ", vmstat);
  return value ? ParseNumber<uint64_t>(*value) : std::nullopt;
}

std::optional<uint64_t> ParseUsedMemory(std::string_view meminfo) {
  const auto total = ParseKibibytes("MemTotal:", meminfo);
  const auto available = ParseKibibytes("MemAvailable:", meminfo);
  if (!total || !available) return std::nullopt;
  return Forward(*available, *total);
}

std::optional<Softirqs> ParseSoftirqs(std::string_view text) {
  const auto value = ValueOf("softirq ", text);
  if (!value) return std::nullopt;
  Softirqs found;
  uint64_t skipped = 0;
  uint64_t* const columns[] = {&skipped, &skipped, &skipped, &found.net_tx, &found.net_rx, &found.block};
  Splitter fields(*value, ' ');
  for (uint64_t* const column : columns) {
    const auto field = fields.Next();
    const auto number = field ? ParseNumber<uint64_t>(*field) : std::nullopt;
    if (!number) return std::nullopt;
    *column = *number;
  }
  return found;
}

Ratio UsageRatio(const ProcStatCpu& previous, const ProcStatCpu& now) {
  const Steps steps = StepsBetween(previous, now);
  if (steps.total == 0) return {};
  return Ratio::Clamped(static_cast<double>(steps.busy) / static_cast<double>(steps.total));
}

uint64_t BusyTicks(const ProcStatCpu& previous, const ProcStatCpu& now) { return StepsBetween(previous, now).busy; }

Nanoseconds RanTime(const ProcStatCpu& previous, const ProcStatCpu& now) {
  return static_cast<int64_t>(BusyTicks(previous, now) - Forward(previous.steal, now.steal)) * ClockTick();
}

Nanoseconds InterruptTime(const ProcStatCpu& previous, const ProcStatCpu& now) {
  return static_cast<int64_t>(Forward(previous.irq, now.irq) + Forward(previous.softirq, now.softirq)) * ClockTick();
}

Nanoseconds StolenTime(const ProcStatCpu& previous, const ProcStatCpu& now) {
  return static_cast<int64_t>(Forward(previous.steal, now.steal)) * ClockTick();
}

Nanoseconds ClockTick() {
  static const long kPerSecond = ::sysconf(_SC_CLK_TCK);
  return Nanoseconds(1'000'000'000 / (kPerSecond > 0 ? kPerSecond : 100));
}

void ProcStatReader::Renew() {
  shared_ = true;
  latest_.reset();
}

const Result<ProcStat>& ProcStatReader::Read() {
  if (!shared_ || !latest_) latest_ = ReadNow();
  return *latest_;
}

Result<ProcStat> ProcStatReader::ReadNow() {
  KEPLER_TRY(const std::string_view text, ReadFileAt(AT_FDCWD, path_.c_str(), buffer_));
  const BootTime at = clock_.Now();
  const auto cpu = ParseProcStat(text);
  if (!cpu) return Fail(cpu.error().kind, fmt::format("{}: {}", path_, cpu.error().message));
  ProcStat read{at, *cpu, OnlineDigest(text), ParseTasksMade(text), ParseSoftirqs(text), ParseContextSwitches(text)};
  if (const auto vmstat = ReadFileAt(AT_FDCWD, vmstat_.c_str(), buffer_)) read.page_faults = ParsePageFaults(*vmstat);
  if (const auto meminfo = ReadFileAt(AT_FDCWD, meminfo_.c_str(), buffer_))
    read.used_memory = ParseUsedMemory(*meminfo);
  return read;
}

}  // namespace kepler::os
