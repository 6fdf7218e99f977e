#include "os/read_time_accounting.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstring>

#include "base/gunzip.h"
#include "base/parse.h"
#include "os/file.h"

namespace kepler::os {
namespace {

KeptApart ToKept(bool apart) { return apart ? KeptApart::kYes : KeptApart::kNo; }

std::unexpected<Error> Malformed(std::string_view what) {
  return Fail(ErrorKind::kMalformed, fmt::format("parse {}", what));
}

std::string Release() {
  utsname name = {};
  return ::uname(&name) == 0 ? name.release : "";
}

Result<TimeAccounting> ParseConfigGz(std::string_view member) {
  KEPLER_TRY(const std::string text, Gunzip(member, kMaxFileBytes));
  return ParseKernelConfig(text);
}

struct Place {
  std::string path;
  Result<TimeAccounting> (*parse)(std::string_view);
};

Result<TimeAccounting> ReadPlace(const Place& place) {
  KEPLER_TRY(const std::string bytes, ReadWholeFile(place.path));
  return place.parse(bytes);
}

Result<TimeAccounting> ReadBuilt(const KernelFiles& files) {
  std::string tried;
  for (const Place& place : {Place{files.procfs + "/config.gz", ParseConfigGz},
                             Place{files.boot + "/config-" + Release(), ParseKernelConfig},
                             Place{files.sysfs + "/kernel/btf/vmlinux", ParseKernelTypes}}) {
    auto accounting = ReadPlace(place);
    if (accounting) return accounting;
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", place.path, accounting.error().message);
  }
  return Fail(ErrorKind::kUnavailable, tried);
}

}  // namespace

Result<TimeAccounting> ReadTimeAccounting(const KernelFiles& files) {
  KEPLER_TRY(TimeAccounting accounting, ReadBuilt(files));
  const auto cmdline = ReadWholeFile(files.procfs + "/cmdline");
  if (cmdline && HasStealAccountingOff(*cmdline)) accounting.steal = KeptApart::kNo;
  return accounting;
}

Result<TimeAccounting> ParseKernelConfig(std::string_view text) {
  if (!text.ends_with('\n')) return Malformed("kernel configuration: truncated in its last line");
  bool is_config = false;
  TimeAccounting accounting = {KeptApart::kNo, KeptApart::kNo};
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    is_config |= line->starts_with("CONFIG_");
    if (*line == "CONFIG_IRQ_TIME_ACCOUNTING=y") accounting.interrupts = KeptApart::kYes;
    if (*line == "CONFIG_PARAVIRT_TIME_ACCOUNTING=y") accounting.steal = KeptApart::kYes;
  }
  if (!is_config) return Malformed("kernel configuration: no CONFIG_ line");
  return accounting;
}

Result<TimeAccounting> ParseKernelTypes(std::string_view btf) {
  struct Header {  // struct btf_header, include/uapi/linux/btf.h
    uint16_t magic;
    uint8_t version;
    uint8_t flags;
    uint32_t header_bytes;
    uint32_t types_at;
    uint32_t types_bytes;
    uint32_t names_at;
    uint32_t names_bytes;
  };
  constexpr uint16_t kMagic = 0xEB9F;
  Header header = {};
  if (btf.size() < sizeof(header)) return Malformed("BTF: shorter than its header");
  std::memcpy(&header, btf.data(), sizeof(header));
  if (header.magic != kMagic) return Malformed("BTF: wrong magic number");
  const uint64_t names_at = uint64_t{header.header_bytes} + header.names_at;
  if (names_at > btf.size() || header.names_bytes > btf.size() - names_at)
    return Malformed("BTF: its names are truncated");
  const std::string_view names = btf.substr(names_at, header.names_bytes);
  const auto has = [&](std::string_view name) {
    const std::string whole = std::string(1, '\0') + std::string(name) + std::string(1, '\0');
    return std::ranges::search(names, whole).begin() != names.end();
  };
  if (!has("rq")) return Malformed("BTF: no struct rq");
  return TimeAccounting{ToKept(has("prev_irq_time")), ToKept(has("prev_steal_time_rq"))};
}

bool HasStealAccountingOff(std::string_view cmdline) {
  Splitter words(Trim(cmdline), ' ');
  while (const auto word = words.Next()) {
    if (*word == "no-steal-acc") return true;
    if (*word == "--") break;  // the remaining arguments are for init
  }
  return false;
}

}  // namespace kepler::os
