#include "pipeline/tick_schedule.h"

namespace kepler::pipeline {

void Schedule::Advance(BootTime now) {
  if (!next_) return;
  if (interval_.count() <= 0) {
    next_.reset();
    return;
  }
  const auto passed = (now - *next_) / interval_;  // whole intervals beyond the deadline
  *next_ += (passed + 1) * interval_;
  missed_ += static_cast<uint64_t>(passed);
}

}  // namespace kepler::pipeline
