#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace kepler {
namespace {

Result<int> Double(Result<int> value) {
  KEPLER_TRY(const int known, value);
  return 2 * known;
}

Result<std::string> After(const Status& status) {
  KEPLER_CHECK_OK(status);
  return "went on";
}

TEST(Try, Value_IsBoundAndAnErrorReturned) {
  EXPECT_EQ(Double(4).value(), 8);
  EXPECT_EQ(Double(Fail(ErrorKind::kGone, "gone")).error().kind, ErrorKind::kGone);
}

TEST(CheckOk, Error_IsReturnedAndSuccessGoesOn) {
  EXPECT_EQ(After({}).value(), "went on");
  EXPECT_EQ(After(Fail(ErrorKind::kIo, "broken")).error().message, "broken");
}

TEST(FailErrno, Errno_HasItsKindAndText) {
  const auto failed = FailErrno("open", "/x", EACCES);
  EXPECT_EQ(failed.error().kind, ErrorKind::kPermission);
  EXPECT_EQ(failed.error().message, "open /x: Permission denied");
  EXPECT_EQ(KindOfErrno(ENOENT), ErrorKind::kNotFound);
  EXPECT_EQ(KindOfErrno(ESRCH), ErrorKind::kNotFound);
  EXPECT_EQ(KindOfErrno(ENODEV), ErrorKind::kGone);
  EXPECT_EQ(KindOfErrno(EPERM), ErrorKind::kPermission);
}

}  // namespace
}  // namespace kepler
