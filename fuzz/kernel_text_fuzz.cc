// Small texts of the kernel and of other programs. The first byte says which: the network counters, /proc/stat's tasks
// and interrupts, the use of memory, capabilities and lockdown, options of a hypervisor, whether this is a guest of
// one, its users.
#include <algorithm>
#include <vector>

#include "activity/bpf/facts.h"
#include "fuzz.h"
#include "os/proc_stat.h"
#include "os/procfs.h"
#include "os/virtual_machine.h"
#include "workload/deadline_reader.h"
#include "workload/hypervisor/evidence.h"
#include "workload/hypervisor/vm.h"

namespace {

void Network(std::string_view text) { static_cast<void>(kepler::os::ParseIpOctets(text)); }

void Tasks(std::string_view text) {
  if (kepler::os::ParseTasksMade(text) && !text.contains("processes")) std::abort();
}

void Interrupts(std::string_view text) {
  if (kepler::os::ParseSoftirqs(text) && !text.contains("softirq")) std::abort();
  if (kepler::os::ParseContextSwitches(text) && !text.contains("ctxt")) std::abort();
  if (kepler::os::ParsePageFaults(text) && !text.contains("pgfault")) std::abort();
  if (kepler::os::ParseUsedMemory(text) && !text.contains("MemAvailable:")) std::abort();
}

void Rights(std::string_view text) {
  static_cast<void>(kepler::activity::bpf::ParseEffectiveCapabilities(text));
  const auto lockdown = kepler::activity::bpf::ParseLockdown(text);
  if (lockdown.contains(']') || lockdown.size() + 2 > std::max<size_t>(text.size(), 2)) std::abort();
}

void Processors(std::string_view text) {
  if (kepler::os::HasHypervisorFlag(text) && !text.contains("hypervisor")) std::abort();
}

/// A name, and the arguments it is looked for in.
void Options(std::string_view text) {
  namespace workload = kepler::workload;
  std::vector<std::string_view> strings;
  workload::SplitStrings(text, workload::Extent::kWhole, strings);
  if (strings.empty()) return;
  const std::vector<std::string_view> argv(strings.begin() + 1, strings.end());
  const std::string_view value = workload::hypervisor::OptionValue(argv, strings[0]);
  const auto holds = [&](std::string_view argument) { return argument.ends_with(value); };
  if (!value.empty() && std::ranges::none_of(argv, holds)) std::abort();
  const std::string_view list = argv.empty() ? std::string_view() : argv.front();
  if (workload::hypervisor::ListValue(list, strings[0], strings[0]).size() > list.size()) std::abort();
  static_cast<void>(workload::hypervisor::SmbiosUuid(argv));
}

void Users(std::string_view text) {
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n')) + 1;
  if (kepler::workload::hypervisor::HypervisorUsers(text).size() > lines) std::abort();
}

}  // namespace

void Fuzz(std::string_view text) {
  if (text.empty()) return;
  constexpr void (*kParsers[])(std::string_view) = {Network, Tasks, Rights, Options, Interrupts, Processors, Users};
  kParsers[static_cast<uint8_t>(text[0]) % std::size(kParsers)](text.substr(1));
}
