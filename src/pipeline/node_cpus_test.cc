#include "pipeline/node_cpus.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/fake_tree.h"

namespace kepler::pipeline {
namespace {

using std::chrono::minutes;

class NodeCpusTest : public ::testing::Test {
 protected:
  std::string Follow(uint64_t online) {
    cpus_.Follow(online, now_);
    std::string text;
    for (const auto& cpu : *cpus_.list()) text += cpu.processor + " ";
    return text;
  }

  testing::FakeTree proc_;
  NodeCpus cpus_{proc_.root()};
  BootTime now_{};
};

TEST_F(NodeCpusTest, CannotBeReadWhenProcessorsChange_IsReadAtTheNextScan) {
  EXPECT_EQ(Follow(1), "");
  proc_.Write("cpuinfo", "processor\t: 0\n");
  EXPECT_EQ(Follow(1), "0 ");
  proc_.Remove("cpuinfo");
  EXPECT_EQ(Follow(2), "0 ");
  proc_.Write("cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n");
  EXPECT_EQ(Follow(2), "0 1 ");
  proc_.Write("cpuinfo", "processor\t: 7\n");
  EXPECT_EQ(Follow(2), "0 1 ") << "read only when other processors are online: the text is long";
}

TEST_F(NodeCpusTest, CannotBeRead_IsNotSaidAtEachScan) {
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 12; ++i, now_ += minutes(1)) Follow(1);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(log.find("suppressed=0"), std::string::npos) << log;
  EXPECT_NE(log.find("suppressed=9"), std::string::npos) << log;
  EXPECT_EQ(log.find("kepler_node_cpu_info", log.find("suppressed=9")), std::string::npos) << log;
}

}  // namespace
}  // namespace kepler::pipeline
