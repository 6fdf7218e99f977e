#include "daemon/descriptor_budget.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace kepler::daemon {
namespace {

using ::testing::HasSubstr;

TEST(ClientDescriptors, AreWhatTheAgentLeaves) {
  EXPECT_EQ(ClientDescriptors(64, 33, 0), 64 - 33 - kSpareDescriptors);
  EXPECT_EQ(ClientDescriptors(2048, 40, 96), 2048 - 40 - kSpareDescriptors - 96);
}

TEST(ClientDescriptors, TooFew_NameTheLimitThatWouldDo) {
  const uint64_t enough = 33 + kSpareDescriptors + 7 + kMinClientDescriptors;
  EXPECT_EQ(ClientDescriptors(enough, 33, 7), kMinClientDescriptors);
  for (const uint64_t limit : {uint64_t{0}, uint64_t{32}, enough - 1}) {
    const auto refused = ClientDescriptors(limit, 33, 7);
    ASSERT_FALSE(refused) << limit;
    EXPECT_THAT(refused.error().message, HasSubstr("needs at least " + std::to_string(enough)));
    EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(kSpareDescriptors + 7) + " are reserved for files"));
    EXPECT_THAT(refused.error().message, HasSubstr("LimitNOFILE"));
  }
}

TEST(CheckDescriptorLimit, NamesTheLimitThatIsNeeded) {
  EXPECT_TRUE(CheckDescriptorLimit(DescriptorLimit()));
  const auto refused = CheckDescriptorLimit(DescriptorLimit() + 1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("needs at least " + std::to_string(DescriptorLimit() + 1)));
}

TEST(CountOpenDescriptors, CountsOneMoreForEachThatIsOpened) {
  const auto before = CountOpenDescriptors();
  ASSERT_TRUE(before);
  const UniqueFd first(open("/dev/null", O_RDONLY | O_CLOEXEC)), second(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(CountOpenDescriptors(), *before + 2);
}

}  // namespace
}  // namespace kepler::daemon
