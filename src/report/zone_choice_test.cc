#include "report/zone_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kepler::report {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::vector<std::string>& zones) {
  const Status checked = CheckZones(zones);
  return checked ? "" : checked.error().message;
}

TEST(CheckZones, ZoneThatIsNamedTwice) {
  EXPECT_EQ(ErrorOf({}), "");
  EXPECT_EQ(ErrorOf({"package"}), "");
  EXPECT_EQ(ErrorOf({"package", "dram"}), "");
  EXPECT_EQ(ErrorOf({"package", "package"}), "'package' is named twice");
  EXPECT_THAT(ErrorOf({"dram", "package", "dram"}), HasSubstr("'dram'"));
}

}  // namespace
}  // namespace kepler::report
