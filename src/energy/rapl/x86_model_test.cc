#include "energy/rapl/x86_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::energy::rapl {
namespace {

using ::testing::HasSubstr;

TEST(X86ModelTest, ParseModalias_NamesOfTheKernel_AreVendorFamilyAndModel) {
  EXPECT_EQ(ParseModalias("cpu:type:x86,ven0000fam0006mod0055:feature:,0000,0001"), (X86Model{0, 6, 0x55}));
  EXPECT_EQ(ParseModalias("cpu:type:x86,ven0002fam0019mod00A0:feature:"), (X86Model{2, 0x19, 0xA0}));
  EXPECT_TRUE((X86Model{0, 6, 0x55}).is_intel());
  EXPECT_FALSE((X86Model{0, 6, 0x55}).is_amd());
  EXPECT_TRUE((X86Model{2, 0x19, 1}).is_amd());
  EXPECT_TRUE((X86Model{9, 0x18, 0}).is_amd()) << "Hygon";
  EXPECT_FALSE((X86Model{2, 0x19, 1}).is_intel());
}

TEST(X86ModelTest, ParseModalias_OtherTexts_AreNone) {
  for (const char* text :
       {"", "cpu:type:aarch64:feature:,0000", "cpu:type:x86,", "cpu:type:x86,ven0000", "cpu:type:x86,ven0000fam0006",
        "cpu:type:x86,ven0000fam0006mod005", "cpu:type:x86,ven00zzfam0006mod0055", "cpu:type:x86,ven-001fam0006mod0055",
        "x cpu:type:x86,ven0000fam0006mod0055"})
    EXPECT_FALSE(ParseModalias(text)) << text;
}

TEST(X86ModelTest, ReadX86Model_MissingOrOther_NamesTheFile) {
  testing::FakeTree tree;
  os::ReadBuffer buffer;
  EXPECT_EQ(ReadX86Model(tree.root(), buffer).error().kind, ErrorKind::kNotFound);
  tree.Write("devices/system/cpu/modalias", "cpu:type:aarch64\n");
  const auto other = ReadX86Model(tree.root(), buffer);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kMalformed);
  EXPECT_THAT(other.error().message, HasSubstr("cpu/modalias"));
  tree.Write("devices/system/cpu/modalias", "cpu:type:x86,ven0000fam0006mod008F:feature:,0000\n");
  EXPECT_EQ(ReadX86Model(tree.root(), buffer)->model, 0x8Fu);
}

}  // namespace
}  // namespace kepler::energy::rapl
