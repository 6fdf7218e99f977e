#pragma once
// A node with three pods, for tests of the screen.
#include <string>
#include <vector>

#include "top/layout.h"

namespace kepler::top {

inline Knowledge ThreePods() {
  Knowledge known{.has_readings = true, .age = std::chrono::seconds(2)};
  known.readings = {.time = "2026-11-27T22:00:05.000Z", .interval_seconds = 5, .node = "worker-1", .version = "0.1.0"};
  known.readings.zones = {
      {.zone = "package", .watts = 40.1, .active_watts = 30, .idle_watts = 10.1, .joules = 123'456.789},
      {.zone = "dram", .watts = 5.25, .active_watts = 4.25, .idle_watts = 1, .joules = 7'200},
  };
  known.readings.level = "pod";
  known.readings.zone = "package";
  known.readings.total = known.readings.matching = 312;
  known.readings.unlisted_joules = 1.5;
  known.readings.unattributed_joules = 2.5;
  for (const char* name : {"web", "a-database-with-a-rather-long-name-0", "日本"})
    known.readings.rows.push_back({.id = std::string("id-") + name,
                                   .name = name,
                                   .name_space = "shop",
                                   .watts = 12.5,
                                   .cpu_cores = 0.71,
                                   .joules = 36'000,
                                   .cpu_seconds = 754,
                                   .zones = {{"package", 12.5, 36'000}, {"dram", 1.25, 3'600}}});
  known.readings.rows[2].running = false;
  known.history = {.step_seconds = 5,
                   .zones = {{"package", {30, 35, 40, 45, 50, 45, 40.1}}, {"dram", {5, 5, 5, 5, 5, 5, 5.25}}}};
  return known;
}

inline std::string TextOf(const Frame& frame) {
  std::string text;
  for (const Line& line : frame.lines) text += line.text.substr(0, line.text.find_last_not_of(' ') + 1) + "\n";
  return text;
}

}  // namespace kepler::top
