#pragma once
// Recordings under the names of this room: its tables of measurements are made of them. Pure.
#include "recording/recording.h"

namespace kepler::lab::dataset {

using recording::CountSamples;
using recording::CountSeries;
using recording::kMaxSamples;
using recording::kMaxSeries;
using recording::LabelOf;
using recording::Labels;
using recording::Recording;
using recording::Sample;
using recording::Series;

}  // namespace kepler::lab::dataset
