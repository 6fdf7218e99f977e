// What dashboards for Kepler 0.11 rely on: every family of its page is here, byte for byte, against a record of that
// page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/parse.h"
#include "export/prometheus/render_test_util.h"
#include "export/series/family.h"

namespace kepler::prometheus {
namespace {

struct SeenFamily {
  std::set<std::string> comments;     // the # HELP and # TYPE lines
  std::set<std::string> label_names;  // of its samples: "a,b,c" each
};
using Page = std::map<std::string, SeenFamily, std::less<>>;

/// "node_name,zone" of `name{node_name="x",zone="y"} 1`; no value of the pages that are read here has a quote in it
/// that is followed by what looks like a label.
std::string LabelNames(std::string_view sample) {
  std::string names;
  for (size_t at = sample.find('{'); at != std::string_view::npos; at = sample.find("\",", at + 1)) {
    const size_t begin = at + (sample[at] == '{' ? 1 : 2);
    names += (names.empty() ? "" : ",") + std::string(sample.substr(begin, sample.find('=', begin) - begin));
  }
  return names;
}

Page Read(const std::string& text) {
  Page page;
  for (const std::string& line : Lines(text)) {
    Splitter words(line, ' ');
    const std::string first(*words.Next());
    if (!first.starts_with('#'))
      page[first.substr(0, first.find('{'))].label_names.insert(LabelNames(line));
    else if (const auto kind = words.Next(); kind == "HELP" || kind == "TYPE")
      page[std::string(*words.Next())].comments.insert(line);
  }
  return page;
}

std::string Recorded() {
  std::ifstream file(KEPLER_SOURCE_DIR "/src/export/prometheus/testdata/upstream_0_11.txt");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(UpstreamPage, EveryFamily_HasItsHelpTypeAndLabels) {
  const Page upstream = Read(Recorded());
  const Page ours = Read(Text(Full()));
  ASSERT_EQ(upstream.size(), 20U) << "the record";
  for (const auto& [name, family] : upstream) {
    const auto found = ours.find(name);
    ASSERT_NE(found, ours.end()) << name;
    for (const std::string& comment : family.comments)
      EXPECT_THAT(found->second.comments, ::testing::Contains(comment));
    EXPECT_EQ(found->second.label_names, family.label_names) << name;
  }
}

TEST(UpstreamPage, NoFamilyThatIsSaidToBeUpstreams_IsMissingInTheRecord) {
  const Page upstream = Read(Recorded());
  for (const Family& family : Families()) {
    if (family.name == "kepler_platform_watts") continue;  // the record is of a machine without a BMC
    EXPECT_EQ(family.origin == Origin::kUpstream || family.name.starts_with("promhttp_"),
              upstream.contains(family.name))
        << family.name;
  }
}

}  // namespace
}  // namespace kepler::prometheus
