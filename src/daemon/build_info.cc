#include "base/build_info.h"

#include "daemon/run.h"

namespace kepler::daemon {
namespace {

/// GOARCH names, which upstream's dashboards know.
constexpr const char* Architecture() {
#if defined(__x86_64__)
  return "amd64";
#elif defined(__aarch64__)
  return "arm64";
#else
  return "unknown";
#endif
}

constexpr const char* Compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace

BuildInfo ThisBuild() { return {KEPLER_VERSION, KEPLER_REVISION, KEPLER_BRANCH, Compiler(), Architecture()}; }

}  // namespace kepler::daemon
