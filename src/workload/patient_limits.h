#pragma once
// For tests in which a read must succeed even on a busy machine.
#include "workload/deadline_reader.h"

namespace kepler::workload {

inline const DeadlineReader::Limits kPatient = {
    .deadline = std::chrono::seconds(10),
    .budget = {.of_scan = std::chrono::hours(1), .of_payer = std::chrono::hours(1), .slow = std::chrono::hours(1)}};

}  // namespace kepler::workload
