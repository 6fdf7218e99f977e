#include "daemon/startup_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kepler::daemon {
namespace {

/// Resident memory of files, in kilobytes.
long ResidentOfFiles() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long kilobytes = -1;
  while (status >> word)
    if (word == "RssFile:") status >> kilobytes;
  return kilobytes;
}

TEST(StartupMemoryTest, PagesThatOnlyTheStartupUsedAreUnmapped_AndTheProgramRunsOn) {
  static const char* const kPointer = "relocated";  // the pointer is in a page that the dynamic linker changed
  const long before = ResidentOfFiles();
  for (int i = 0; i < 3; ++i) {
    ReturnStartupMemory();
    EXPECT_LT(ResidentOfFiles(), before * 3 / 4);
    EXPECT_EQ(std::string(kPointer) + std::to_string(i), "relocated" + std::to_string(i));
  }
}

}  // namespace
}  // namespace kepler::daemon
