#include "activity/bpf/awaited_ends.h"

#include <algorithm>

namespace kepler::activity::bpf {

void AwaitedEnds::Note(const ActivitySample& sample) {
  Nanoseconds all{0};
  for (const ProcessSample& process : sample.processes) all += process.cpu;
  const Nanoseconds least = std::max(kMin, all / kShares);
  busy_.clear();
  for (const ProcessSample& process : sample.processes)
    if (process.cpu >= least) busy_.push_back({process.info->key.tgid, process.slot});
}

}  // namespace kepler::activity::bpf
