// Rendering takes no memory per series: a program of its own, because it counts allocations.
#include "testing/allocations.h"

#include <gtest/gtest.h>

#include "export/prometheus/render_page.h"
#include "testing/snapshot_builder.h"

namespace kepler::prometheus {
namespace {

uint64_t AllocationsOf(size_t processes, Format format, series::NameSet names = series::NameSet::kV011) {
  auto snapshot = testing::BusySnapshot({"package", "dram"}, processes);
  for (size_t row = 0; row < processes; ++row)
    snapshot.processes.begin.push_back(BootTime(std::chrono::milliseconds(1 + row)));
  const uint64_t before = testing::allocations;
  EXPECT_FALSE(RenderPage(snapshot, {.node_name = "n1", .selection = {.names = names}}, {}, format).pieces.empty());
  return testing::allocations - before;
}

TEST(Allocations, MoreSeries_NoMoreThanTheirCompressedBytesNeed) {
  for (const series::NameSet names : {series::NameSet::kV011, series::NameSet::kBoth})
    for (const Format format : {Format::kText004, Format::kOpenMetrics100, Format::kProtobuf}) {
      const uint64_t few = AllocationsOf(500, format, names);
      EXPECT_GT(few, 0u);
      // the page doubles a few times
      EXPECT_LT(AllocationsOf(5'000, format, names), few + 30) << static_cast<int>(format);
    }
}

}  // namespace
}  // namespace kepler::prometheus
