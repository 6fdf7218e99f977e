#include "pipeline/node_cpus.h"

#include <utility>

#include "base/text.h"
#include "os/cpu_topology.h"

namespace kepler::pipeline {

NodeCpus::NodeCpus(std::string procfs)
    : procfs_(std::move(procfs)), list_(std::make_shared<const std::vector<CpuInfo>>()) {}

void NodeCpus::Follow(uint64_t online, BootTime now) {
  if (online_ == online) return;
  auto read = os::ReadCpuInfo(procfs_);
  if (!read) {
    limiter_.Say(log::Level::kWarn, "", now,
                 list_->empty() ? "kepler_node_cpu_info is left out" : "kepler_node_cpu_info shows the last known CPUs",
                 {{"err", read.error().message}});
    return;
  }
  online_ = online;
  for (CpuInfo& cpu : *read)
    for (std::string* text : {&cpu.processor, &cpu.vendor_id, &cpu.model_name, &cpu.physical_id, &cpu.core_id})
      *text = LabelText(*text);
  list_ = std::make_shared<const std::vector<CpuInfo>>(*std::move(read));
}

}  // namespace kepler::pipeline
