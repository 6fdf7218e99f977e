#include "pipeline/schedule.h"

namespace kepler::pipeline {

uint64_t Schedule::Advance(BootTime now) {
  if (!next_) return 0;
  if (interval_.count() <= 0) {
    next_.reset();
    return 0;
  }
  const auto passed = (now - *next_) / interval_;  // whole intervals beyond the deadline that is due
  *next_ += (passed + 1) * interval_;
  return static_cast<uint64_t>(passed);
}

}  // namespace kepler::pipeline
