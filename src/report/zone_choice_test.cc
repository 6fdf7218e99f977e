#include "report/zone_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
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

TEST(CheckZones, ZonesThatIncludeOthers) {
  for (const auto& [large, small] : {std::pair{"package", "core"},
                                     {"package", "uncore"},
                                     {"package", "socket"},
                                     {"psys", "package"},
                                     {"psys", "dram"},
                                     {"psys", "core"},
                                     {"platform", "package"},
                                     {"platform", "psys"},
                                     {"platform", "dram"},
                                     {"platform", "ppt"},
                                     {"Package", "core"},
                                     {"package", "Package"}}) {
    EXPECT_THAT(ErrorOf({large, small}), HasSubstr("overlap, so their sum counts energy twice")) << large << small;
    EXPECT_THAT(ErrorOf({small, "dram0", large}), HasSubstr("overlap")) << large << small;
  }
  EXPECT_EQ(ErrorOf({"core", "uncore", "dram"}), "");
  EXPECT_EQ(ErrorOf({"core_power", "io_power", "dram"}), "");
}

TEST(DoubtAbout, ZonesWithOtherNames) {
  EXPECT_EQ(DoubtAbout({}), "");
  EXPECT_EQ(DoubtAbout(std::vector<std::string>{"ppt"}), "");
  EXPECT_EQ(DoubtAbout(std::vector<std::string>{"package", "dram"}), "");
  EXPECT_EQ(DoubtAbout(std::vector<std::string>{"core", "uncore", "dram"}), "");
  EXPECT_EQ(DoubtAbout(std::vector<std::string>{"package", "dram", "ppt"}),
            "zones 'package' and 'ppt' may overlap; if they do, the sum counts energy twice");
  EXPECT_THAT(DoubtAbout(std::vector<std::string>{"core_power", "io_power"}), HasSubstr("may overlap"));
}

}  // namespace
}  // namespace kepler::report
