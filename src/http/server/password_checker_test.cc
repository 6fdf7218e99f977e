#include "http/server/password_checker.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "testing/no_threads.h"

namespace kepler::http {
namespace {

const PasswordChecker::Users kUsers = {
    {"alice", "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"},  // secret
    {"bob", "$2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa"},    // geheim
    {"carol", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"},  // U*U
};

class PasswordCheckerTest : public ::testing::Test {
 protected:
  /// The verdict, waiting for the worker where one is needed.
  Verdict Check(const std::string& user, const std::string& password) {
    std::optional<Verdict> verdict;
    loop_.emplace();
    PasswordChecker checker(*loop_);
    checker.Check(kUsers, {user, password}, [&](Verdict v) {
      verdict = v;
      loop_->Stop();
    });
    loop_->Run();
    return verdict.value();
  }
  std::optional<EventLoop> loop_;
};

TEST_F(PasswordCheckerTest, RightPassword_IsAllowed) {
  EXPECT_EQ(Check("alice", "secret"), Verdict::kAllowed);
  EXPECT_EQ(Check("bob", "geheim"), Verdict::kAllowed);
  EXPECT_EQ(Check("carol", "U*U"), Verdict::kAllowed);
}

TEST_F(PasswordCheckerTest, AnythingElse_IsDenied) {
  EXPECT_EQ(Check("alice", "Secret"), Verdict::kDenied);
  EXPECT_EQ(Check("alice", ""), Verdict::kDenied);
  EXPECT_EQ(Check("alice", "geheim"), Verdict::kDenied);
  EXPECT_EQ(Check("mallory", "secret"), Verdict::kDenied);  // the password of the hash that stands in for unknown names
  EXPECT_EQ(Check("", ""), Verdict::kDenied);
  EXPECT_EQ(Check("alice", std::string("secret\0x", 8)), Verdict::kDenied);
}

TEST(PasswordChecker, SecondTime_AnswersAtOnce) {
  EventLoop loop;
  PasswordChecker checker(loop);
  for (const auto* password : {"secret", "wrong"}) {
    checker.Check(kUsers, {"alice", password}, [](Verdict) {});
  }
  checker.Check(kUsers, {"alice", "third"}, [&](Verdict) { loop.Stop(); });
  loop.Run();  // one worker, in order: all three are known now
  std::optional<Verdict> right, wrong;
  checker.Check(kUsers, {"alice", "secret"}, [&](Verdict v) { right = v; });
  checker.Check(kUsers, {"alice", "wrong"}, [&](Verdict v) { wrong = v; });
  EXPECT_EQ(right, Verdict::kAllowed);
  EXPECT_EQ(wrong, Verdict::kDenied);
}

TEST(PasswordChecker, ChangedHash_IsNotAnsweredFromTheCache) {
  EventLoop loop;
  PasswordChecker checker(loop);
  checker.Check(kUsers, {"alice", "secret"}, [&](Verdict) { loop.Stop(); });
  loop.Run();
  const PasswordChecker::Users changed = {{"alice", kUsers.at("bob")}};
  bool at_once = false;
  checker.Check(changed, {"alice", "secret"}, [&](Verdict) { at_once = true; });
  EXPECT_FALSE(at_once);
}

TEST(PasswordChecker, SamePasswordAtOnce_SharesOneHash) {
  EventLoop loop;
  PasswordChecker checker(loop);
  std::vector<Verdict> verdicts;
  for (int i = 0; i < 500; ++i) {  // far more than the queue holds
    checker.Check(kUsers, {"alice", "secret"}, [&](Verdict v) {
      verdicts.push_back(v);
      if (verdicts.size() == 500) loop.Stop();
    });
  }
  loop.Run();
  EXPECT_EQ(verdicts, std::vector<Verdict>(500, Verdict::kAllowed));
}

TEST(PasswordChecker, TooManyDifferentPasswords_AreBusy) {
  EventLoop loop;
  PasswordChecker checker(loop);
  int busy = 0;
  for (int i = 0; i < 300; ++i) {
    checker.Check(kUsers, {"alice", std::to_string(i)}, [&](Verdict v) { busy += v == Verdict::kBusy ? 1 : 0; });
  }
  EXPECT_GT(busy, 0);
}

TEST(PasswordChecker, NoThreadForTheHash_IsBusyAndTriedAgainByTheNext) {
  EventLoop loop;
  PasswordChecker checker(loop);
  std::vector<Verdict> verdicts;
  const auto check = [&] {
    checker.Check(kUsers, {"alice", "secret"}, [&](Verdict v) {
      verdicts.push_back(v);
      if (v != Verdict::kBusy) loop.Stop();
    });
  };
  {
    const kepler::testing::NoThreads limit;
    check();
    check();
  }
  EXPECT_EQ(verdicts, std::vector<Verdict>(2, Verdict::kBusy));
  check();
  loop.Run();
  EXPECT_EQ(verdicts.back(), Verdict::kAllowed);
}

TEST(PasswordChecker, ManyWrongPasswords_DoNotForgetTheRightOne) {
  EventLoop loop;
  PasswordChecker checker(loop);
  checker.Check(kUsers, {"alice", "secret"}, [](Verdict) {});
  int done = 0;
  std::move_only_function<void()> next = [&] {
    if (++done > 150) return loop.Stop();
    checker.Check(kUsers, {"alice", std::to_string(done)}, [&](Verdict) { next(); });
  };
  next();
  loop.Run();
  std::optional<Verdict> verdict;
  checker.Check(kUsers, {"alice", "secret"}, [&](Verdict v) { verdict = v; });
  EXPECT_EQ(verdict, Verdict::kAllowed);
}

TEST(ParseBasicAuth, Credentials_AreDecoded) {
  const auto show = [](std::string_view header) {
    const auto c = ParseBasicAuth(header);
    return c ? c->user + "|" + c->password : "nothing";
  };
  EXPECT_EQ(show("Basic YWxpY2U6c2VjcmV0"), "alice|secret");
  EXPECT_EQ(show("bAsIc YWxpY2U6"), "alice|");
  EXPECT_EQ(show("Basic OmE6Yg=="), "|a:b");
  for (const auto* bad : {"", "Basic", "Basic ", "Bearer YWxpY2U6c2VjcmV0", "Basic YWxpY2U",
                          "Basic YWxpY2U=", "Basic !!!!", "Basic ====", "Basic A==="}) {
    EXPECT_EQ(show(bad), "nothing") << bad;
  }
}

}  // namespace
}  // namespace kepler::http
