// The executable, comm and arguments of a process that says it is a hypervisor: exe NUL comm NUL arguments.
#include <vector>

#include "fuzz.h"
#include "workload/deadline_reader.h"
#include "workload/hypervisor/vm.h"

void Fuzz(std::string_view text) {
  namespace workload = kepler::workload;
  std::vector<std::string_view> strings;
  workload::SplitStrings(text, workload::Extent::kWhole, strings);
  if (strings.size() < 2) return;
  const auto exe = strings[0];
  const std::vector<std::string_view> argv(strings.begin() + 2, strings.end());
  const bool candidate = workload::hypervisor::MayBeVm(exe, strings[1]);
  const auto vm = workload::hypervisor::DetectVm(exe, argv, {.tgid = 1, .start_ticks = 2});
  const auto held = workload::hypervisor::DescribeKvm(exe, argv, {.tgid = 1, .start_ticks = 2});
  if (vm && (!held || held->id != vm->id || held->name != vm->name)) std::abort();
  if (held && (held->id.id.empty() || held->id.id.size() > 255 || held->name.empty() || held->name.size() > 255))
    std::abort();
  if (!vm) return;
  if (!exe.empty() && !candidate) std::abort();
  if (vm->id.id.empty() || vm->id.id.size() > 255 || vm->name.empty() || vm->name.size() > 255) std::abort();
}
