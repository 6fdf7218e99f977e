#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/dirents.h"
#include "os/file.h"
#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SysfsTest : public ::testing::Test {
 protected:
  template <class T>
  Result<T> Number(std::string_view text) {
    tree_.Write("value", text);
    return ReadNumber<T>(tree_.Path("value"), buffer_);
  }
  testing::FakeTree tree_;
  ReadBuffer buffer_;
};

TEST_F(SysfsTest, ListDir_AnyDirectory_NamesAreSorted) {
  for (const char* name : {"d/intel-rapl:0", "d/intel-rapl-mmio:0", "d/intel-rapl"}) tree_.Write(name, "");
  const auto names = ListDir(tree_.Path("d"));
  ASSERT_TRUE(names);
  EXPECT_THAT(*names, ElementsAre("intel-rapl", "intel-rapl-mmio:0", "intel-rapl:0"));
  tree_.MakeDir("empty");
  EXPECT_THAT(*ListDir(tree_.Path("empty")), IsEmpty());
}

TEST_F(SysfsTest, ListDir_MissingOrNoDirectory_NamesThePath) {
  EXPECT_EQ(ListDir(tree_.Path("absent")).error().kind, ErrorKind::kNotFound);
  tree_.Write("file", "x");
  EXPECT_THAT(ListDir(tree_.Path("file")).error().message, HasSubstr(tree_.Path("file")));
}

TEST_F(SysfsTest, ReadNumber_NumberWithNewline_IsRead) {
  EXPECT_EQ(*Number<uint64_t>("262143328850\n"), 262'143'328'850u);
  EXPECT_EQ(*Number<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(*Number<int64_t>(" -42 \n"), -42);
}

TEST_F(SysfsTest, ReadNumber_AnythingElse_IsMalformedAndShown) {
  for (const char* text : {"", "\n", "-1", "1 2", "0x10", "1e3", "18446744073709551616", "12a"}) {
    const auto number = Number<uint64_t>(text);
    ASSERT_FALSE(number) << text;
    EXPECT_EQ(number.error().kind, ErrorKind::kMalformed);
    EXPECT_THAT(number.error().message, HasSubstr(tree_.Path("value")));
  }
  EXPECT_LT(Number<uint64_t>(std::string(100'000, 'x')).error().message.size(), 300u);
}

TEST_F(SysfsTest, ReadNumber_DirectoryInPlaceOfTheFile_IsAnIoError) {
  tree_.MakeDir("value");
  EXPECT_EQ(ReadNumber<uint64_t>(tree_.Path("value"), buffer_).error().kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace kepler::os
