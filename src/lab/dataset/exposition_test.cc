#include "lab/dataset/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kepler::lab::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

bool IsMine(std::string_view metric) { return metric.starts_with("my_"); }

Recording Read(std::string_view page) {
  Recording recording;
  const Status read = AddExposition(page, 1000, IsMine, recording);
  EXPECT_TRUE(read) << read.error().message;
  return recording;
}
std::string ErrorOfPage(std::string_view page) {
  Recording recording;
  const Status read = AddExposition(page, 1000, IsMine, recording);
  return read ? "no error" : read.error().message;
}

TEST(Exposition, Samples_AreAdded) {
  const Recording recording = Read(
      "# HELP my_a_total x\n# TYPE my_a_total counter\nmy_a_total{zone=\"dram\",node=\"n\"} 1.5e3\n"
      "my_a_total { node = \"m\" , zone=\"dram\", }\t+2 1700000000\r\n\nother{ broken\nmy_b 7\n  my_c 8");
  ASSERT_EQ(recording.metrics.size(), 3U);
  const auto& all = recording.metrics.at("my_a_total");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0].labels, ElementsAre(Pair("node", "n"), Pair("zone", "dram")));
  EXPECT_THAT(all[0].samples, ElementsAre(Sample{1000, 1500}));
  EXPECT_THAT(all[1].samples, ElementsAre(Sample{1000, 2}));
  EXPECT_THAT(recording.metrics.at("my_c")[0].samples, ElementsAre(Sample{1000, 8}));
}

TEST(Exposition, SeriesGoOn) {
  Recording recording = Read("my_a{x=\"1\"} 1\nmy_a{x=\"2\"} 2\n");
  ASSERT_TRUE(AddExposition("my_a{x=\"2\"} 3\nmy_a{x=\"1\"} NaN\n", 1005, IsMine, recording));
  EXPECT_THAT(recording.metrics.at("my_a")[1].samples, ElementsAre(Sample{1000, 2}, Sample{1005, 3}));
  EXPECT_EQ(recording.not_finite, 1U);
}

TEST(Exposition, Escapes_AreReadAsWritten) {
  const Recording recording = Read("my_a{x=\"a\\\\n\\\"b\\n}\"} 1\n");
  EXPECT_THAT(recording.metrics.at("my_a")[0].labels, ElementsAre(Pair("x", "a\\n\"b\n}")));
}

TEST(Exposition, WhatIsNoSample_IsRefused) {
  for (const std::string_view line :
       {"my_a", "my_a{", "my_a{x", "my_a{x=", "my_a{x=\"", "my_a{x=\"1\"", "my_a{x=\"1\"}", "my_a{x=\"1\" y=\"2\"} 1",
        "my_a{=\"1\"} 1", "my_a{x=1} 1", "my_a x", "my_a{x=\"\\", "my_a{x=\"1\"} 1x"})
    EXPECT_THAT(ErrorOfPage("my_b 1\n" + std::string(line)), HasSubstr("line 2: no sample of my_a")) << line;
}

TEST(Exposition, PageThatIsRefused_LeavesTheRecording) {
  Recording recording = Read("my_a 1\n");
  const Recording before = recording;
  EXPECT_FALSE(AddExposition("my_a 2\nmy_b NaN\nmy_c x\n", 1005, IsMine, recording));
  EXPECT_EQ(recording, before);
}

TEST(Exposition, SeriesWithoutEnd_AreRefused) {
  std::string page;
  for (size_t i = 0; i < kMaxPageSeries; ++i) page += "my_a{x=\"" + std::to_string(i) + "\"} 1\n";
  EXPECT_EQ(Read(page).metrics.at("my_a").size(), kMaxPageSeries);
  EXPECT_THAT(ErrorOfPage(page + "my_b 1\n"), HasSubstr("line 100001: more than 100000 series"));
}

TEST(Exposition, FindSample_IsTheFirstFiniteOne) {
  EXPECT_EQ(FindSample("a_b 1\na 2\na 3\n", "a"), 2);
  EXPECT_EQ(FindSample("a{x=\"y\"} 4\n", "a"), 4);
  EXPECT_FALSE(FindSample("a x\n", "a"));
  EXPECT_FALSE(FindSample("a NaN\n", "a"));
  EXPECT_EQ(FindSample("a{x=\"y\"} +Inf\na{x=\"z\"} 5\n", "a"), 5);
  EXPECT_FALSE(FindSample("", "a"));
}

}  // namespace
}  // namespace kepler::lab::dataset
