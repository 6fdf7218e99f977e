#include "pipeline/node_cpus.h"

#include <utility>

#include "base/text.h"
#include "os/cpuinfo.h"

namespace kepler::pipeline {

NodeCpus::NodeCpus(std::string procfs)
    : procfs_(std::move(procfs)), list_(std::make_shared<const std::vector<snapshot::CpuInfo>>()) {}

void NodeCpus::Follow(uint64_t online, BootTime now) {
  if (online_ == online) return;
  const auto read = os::ReadCpuInfo(procfs_);
  if (!read) {
    if (const auto verdict = limiter_.Ask("", now); verdict.pass)
      log::Warn(
          list_->empty() ? "kepler_node_cpu_info is left out" : "kepler_node_cpu_info shows the processors of before",
          {{"err", read.error().message}, {"held_back", std::to_string(verdict.held_back)}});
    return;
  }
  online_ = online;
  std::vector<snapshot::CpuInfo> cpus;
  for (const os::CpuInfo& cpu : *read)
    cpus.push_back({LabelText(cpu.processor), LabelText(cpu.vendor_id), LabelText(cpu.model_name),
                    LabelText(cpu.physical_id), LabelText(cpu.core_id)});
  list_ = std::make_shared<const std::vector<snapshot::CpuInfo>>(std::move(cpus));
}

}  // namespace kepler::pipeline
