#include "model_store/incoming_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "model_store/model_text_test_util.h"
#include "model_store/source.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::model_store {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(IncomingText, CountsWhatHasCome_WhileItIsThere) {
  TextBudget budget({.all = 10});
  std::optional<IncomingText> one(budget);
  ASSERT_TRUE(one->Append("1234"));
  ASSERT_TRUE(one->Append("5678"));
  IncomingText other(budget);
  ASSERT_TRUE(other.Append("ab"));
  const Status refused = other.Append("c");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("more than 10 bytes of models are being read at once"));
  EXPECT_EQ(other.text(), "ab");
  EXPECT_EQ(one->text(), "12345678");
  one.reset();
  EXPECT_TRUE(other.Append("cdefghij"));
  EXPECT_FALSE(other.Append("k")) << "what was refused was never counted, what is gone is not counted twice";
}

TEST(IncomingText, OneThatIsMoved_CountsOnce) {
  TextBudget budget({.all = 10});
  IncomingText text(budget);
  ASSERT_TRUE(text.Append("123456"));
  {
    const IncomingText moved = std::move(text);
    EXPECT_EQ(moved.text(), "123456");
    EXPECT_FALSE(IncomingText(budget).Append("12345"));
  }
  EXPECT_TRUE(IncomingText(budget).Append("1234567890"));
}

// Sixteen places may read sixteen large files at once.
TEST(IncomingText, AFileForWhichThereIsNoRoomNow_IsRefusedByName_AndReadLater) {
  testing::FakeTree tree;
  testing::FakeClock clock;
  const std::string text = ModelText("a");
  tree.Write("a.json", text);
  TextBudget budget({.all = text.size() + 10});
  std::optional<IncomingText> elsewhere(budget);
  ASSERT_TRUE(elsewhere->Append("12345678901"));
  FileSource source(*ParsePlace(tree.Path("a.json")), budget, clock);
  Look refused;
  source.LoadLocal(refused);
  EXPECT_EQ(refused.failed_refreshes, 1u);
  ASSERT_THAT(refused.problems, SizeIs(1));
  EXPECT_THAT(refused.problems.front().message, HasSubstr("a.json: more than "));
  elsewhere.reset();
  Look taken;
  source.Refresh(taken, {});
  EXPECT_EQ(taken.failed_refreshes, 0u);
  EXPECT_TRUE(taken.changed);
  IncomingText more(budget);
  EXPECT_TRUE(more.Append(std::string(text.size() + 10, ' '))) << "what was read is not being read";
}

}  // namespace
}  // namespace kepler::model_store
