#pragma once
// Finds the power sensors of a BMC: walks from the service root over its chassis once, so that later only the resources
// with readings are fetched. Per chassis the best of these is used:
//
//   PowerSubsystem: all power supplies ► EnvironmentMetrics ► Power: PowerControl ► Power: all PowerSupplies
//
// A sum without a supply that is there is not the machine: if there is nothing else, it is shown and does not count.
// Input power is preferred to output power, since losses in the supplies are part of the machine. One thread.
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/platform/redfish/resource.h"
#include "json/document.h"
#include "status/energy_status.h"

namespace kepler::energy::platform::redfish {

inline constexpr std::string_view kServiceRoot = "/redfish/v1/";

/// Fetches a resource. kTimeout and kUnavailable are about the whole BMC and end the search; other errors are about the
/// resource.
using Fetch = std::function<Result<json::Value>(const std::string& uri)>;

struct Resource {
  std::string uri;
  Kind kind;
};
struct Sensor {
  size_t resource = 0;  // index into Sensors::resources
  std::string id;       // of the reading within the resource
  status::PlatformSensor labels;
  std::string doubt{};  // why it does or does not count, if that is not clear; "" otherwise
};
struct Sensors {
  std::vector<Resource> resources;
  std::vector<Sensor> sensors;  // not empty
  bool complete = true;         // false: a power supply has no reading, so its chassis does not count
};

/// Which sensors to search for.
struct Search {
  std::string bmc_id;                // for the labels
  std::vector<std::string> chassis;  // ids; empty: all chassis that are a machine
};

/// A sensor measures the machine as a whole unless another chassis that is read contains its chassis. Errors: those of
/// `fetch`, kNotFound if no sensor has a value, kInvalid if a wanted chassis does not exist.
[[nodiscard]] Result<Sensors> FindSensors(const Search& search, const Fetch& fetch);

}  // namespace kepler::energy::platform::redfish
