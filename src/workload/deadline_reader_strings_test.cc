#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "workload/deadline_reader.h"
#include "workload/patient_limits.h"

namespace kepler::workload {
namespace {

using std::string_view_literals::operator""sv;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string_view> Split(std::string_view bytes, Extent extent = Extent::kWhole) {
  std::vector<std::string_view> strings = {"left over"};
  SplitStrings(bytes, extent, strings);
  return strings;
}

TEST(SplitStrings, TerminatedStrings_AreSplit) { EXPECT_THAT(Split("a\0\0b c\0"sv), ElementsAre("a", "", "b c")); }

TEST(SplitStrings, LastWithoutNul_CountsOnlyInAWholeFile) {
  EXPECT_THAT(Split("a\0b"sv), ElementsAre("a", "b"));
  EXPECT_THAT(Split("a\0b"sv, Extent::kPrefix), ElementsAre("a"));
  EXPECT_THAT(Split("a\0b\0"sv, Extent::kPrefix), ElementsAre("a", "b"));
  EXPECT_THAT(Split("ab"sv, Extent::kPrefix), IsEmpty());
}

TEST(SplitStrings, NothingOrOnlyNuls_IsEmpty) {
  EXPECT_THAT(Split(""), IsEmpty());
  EXPECT_THAT(Split("\0\0\0"sv), IsEmpty());
}

TEST(SplitStrings, TitleWrittenOverArguments_PaddingIsDropped) {
  EXPECT_THAT(Split("nginx: worker process\0\0\0\0\0"sv), ElementsAre("nginx: worker process"));
}

class ProcessStringsTest : public ::testing::Test {
 protected:
  ProcessStringsTest() { tree_.Write("7/environ", "A=1\0B=2\0"sv); }
  Result<std::span<const std::string_view>> Read(const std::string& path) {
    return reader_.ReadStrings(tree_.Path(path), "somebody", 16);
  }
  testing::FakeTree tree_;
  testing::FakeClock clock_;
  DeadlineReader reader_{clock_, kPatient};
};

TEST_F(ProcessStringsTest, Ok_ReturnsStrings) {
  const auto strings = Read("7/environ");
  ASSERT_TRUE(strings) << strings.error().message;
  EXPECT_THAT(*strings, ElementsAre("A=1", "B=2"));
}

TEST_F(ProcessStringsTest, Missing_IsNotFound) {
  const auto strings = Read("8/environ");
  ASSERT_FALSE(strings);
  EXPECT_EQ(strings.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(strings.error().message, ::testing::HasSubstr("8/environ"));
}

TEST_F(ProcessStringsTest, Unreadable_IsAnError) {
  tree_.MakeDir("9/environ");  // a directory opens and does not read, also for root
  const auto strings = Read("9/environ");
  ASSERT_FALSE(strings);
  EXPECT_EQ(strings.error().kind, ErrorKind::kIo);
}

TEST_F(ProcessStringsTest, Empty_HasNoStrings) {
  tree_.Write("2/cmdline", "");
  const auto strings = Read("2/cmdline");
  ASSERT_TRUE(strings);
  EXPECT_THAT(*strings, IsEmpty());
}

TEST_F(ProcessStringsTest, LongerThanTheBound_DropsTheCutString) {
  tree_.Write("7/environ", "FIRST=12345\0SECOND=1\0"sv);
  const auto strings = Read("7/environ");
  ASSERT_TRUE(strings);
  EXPECT_THAT(*strings, ElementsAre("FIRST=12345"));
}

TEST_F(ProcessStringsTest, ShorterAfterLonger_KeepsNothingOfTheFormer) {
  ASSERT_TRUE(Read("7/environ"));
  tree_.Write("7/environ", "C\0"sv);
  const auto strings = Read("7/environ");
  ASSERT_TRUE(strings);
  EXPECT_THAT(*strings, ElementsAre("C"));
}

}  // namespace
}  // namespace kepler::workload
