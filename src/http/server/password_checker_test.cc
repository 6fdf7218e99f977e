#include "http/server/password_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/thread.h"
#include "http/server/scripted_hashes.h"
#include "testing/fake_clock.h"
#include "testing/no_threads.h"

namespace kepler::http::server {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedHashes;

const PasswordChecker::Users kUsers = {
    {"alice", "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"},  // secret
    {"bob", "$2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa"},    // geheim
    {"carol", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"},  // U*U
};

constexpr ClientAddress Client(int number) { return {.prefix = {10, 0, 0, static_cast<unsigned char>(number)}}; }
constexpr ClientAddress kClient = Client(1);

class PasswordCheckerTest : public ::testing::Test {
 protected:
  /// The verdict, waiting for the worker where one is needed.
  LoginVerdict Check(const std::string& user, const std::string& password) {
    std::optional<LoginVerdict> verdict;
    loop_.emplace();
    PasswordChecker checker(*loop_);
    checker.Check(kUsers, {user, password}, kClient, [&](LoginVerdict v) {
      verdict = v;
      loop_->Stop();
    });
    loop_->Run();
    return verdict.value();
  }
  std::optional<EventLoop> loop_;
};

TEST_F(PasswordCheckerTest, RightPassword_IsAllowed) {
  EXPECT_EQ(Check("alice", "secret"), LoginVerdict::kAllowed);
  EXPECT_EQ(Check("bob", "geheim"), LoginVerdict::kAllowed);
  EXPECT_EQ(Check("carol", "U*U"), LoginVerdict::kAllowed);
}

TEST_F(PasswordCheckerTest, AnythingElse_IsDenied) {
  EXPECT_EQ(Check("alice", "Secret"), LoginVerdict::kDenied);
  EXPECT_EQ(Check("alice", ""), LoginVerdict::kDenied);
  EXPECT_EQ(Check("alice", "geheim"), LoginVerdict::kDenied);
  EXPECT_EQ(Check("mallory", "secret"),
            LoginVerdict::kDenied);  // the password of the hash that stands in for unknown names
  EXPECT_EQ(Check("", ""), LoginVerdict::kDenied);
  EXPECT_EQ(Check("alice", std::string("secret\0x", 8)), LoginVerdict::kDenied);
}

TEST(PasswordChecker, SecondTime_AnswersAtOnce) {
  EventLoop loop;
  PasswordChecker checker(loop);
  for (const auto* password : {"secret", "wrong"})
    checker.Check(kUsers, {"alice", password}, kClient, [](LoginVerdict) {});
  checker.Check(kUsers, {"alice", "third"}, kClient, [&](LoginVerdict) { loop.Stop(); });
  loop.Run();  // one worker, in order: all three are known now
  std::optional<LoginVerdict> right, wrong;
  checker.Check(kUsers, {"alice", "secret"}, kClient, [&](LoginVerdict v) { right = v; });
  checker.Check(kUsers, {"alice", "wrong"}, kClient, [&](LoginVerdict v) { wrong = v; });
  EXPECT_EQ(right, LoginVerdict::kAllowed);
  EXPECT_EQ(wrong, LoginVerdict::kDenied);
}

TEST(PasswordChecker, ChangedHash_IsNotAnsweredFromTheCache) {
  EventLoop loop;
  PasswordChecker checker(loop);
  checker.Check(kUsers, {"alice", "secret"}, kClient, [&](LoginVerdict) { loop.Stop(); });
  loop.Run();
  const PasswordChecker::Users changed = {{"alice", kUsers.at("bob")}};
  bool at_once = false;
  checker.Check(changed, {"alice", "secret"}, kClient, [&](LoginVerdict) { at_once = true; });
  EXPECT_FALSE(at_once);
}

TEST(PasswordChecker, SamePasswordAtOnce_SharesOneHashUpToABound) {
  constexpr size_t kMax = PasswordChecker::kMaxOfOneLogin;  // far more than the queue holds of a client
  EventLoop loop;
  PasswordChecker checker(loop);
  std::vector<LoginVerdict> verdicts;
  const auto check = [&] {
    checker.Check(kUsers, {"alice", "secret"}, kClient, [&](LoginVerdict v) {
      verdicts.push_back(v);
      if (verdicts.size() == kMax + 1) loop.Stop();
    });
  };
  for (size_t i = 0; i < kMax; ++i) check();
  EXPECT_TRUE(verdicts.empty());
  check();
  EXPECT_EQ(verdicts, std::vector{LoginVerdict::kBusy});
  loop.Run();
  EXPECT_EQ(std::ranges::count(verdicts, LoginVerdict::kAllowed), std::ptrdiff_t{kMax});
}

TEST(PasswordChecker, TooManyDifferentPasswords_AreBusy) {
  EventLoop loop;
  PasswordChecker checker(loop);
  int busy = 0;
  for (int i = 0; i < 300; ++i) {
    checker.Check(kUsers, {"alice", std::to_string(i)}, kClient,
                  [&](LoginVerdict v) { busy += v == LoginVerdict::kBusy ? 1 : 0; });
  }
  EXPECT_GT(busy, 0);
}

TEST(PasswordChecker, NoThreadForTheHash_IsBusyAndTriedAgainByTheNext) {
  EventLoop loop;
  PasswordChecker checker(loop);
  std::vector<LoginVerdict> verdicts;
  const auto check = [&] {
    checker.Check(kUsers, {"alice", "secret"}, kClient, [&](LoginVerdict v) {
      verdicts.push_back(v);
      if (v != LoginVerdict::kBusy) loop.Stop();
    });
  };
  {
    const kepler::testing::NoThreads limit;
    check();
    check();
  }
  EXPECT_EQ(verdicts, std::vector<LoginVerdict>(2, LoginVerdict::kBusy));
  check();
  loop.Run();
  EXPECT_EQ(verdicts.back(), LoginVerdict::kAllowed);
}

TEST(PasswordChecker, ManyWrongPasswords_DoNotForgetTheRightOne) {
  EventLoop loop;
  PasswordChecker checker(loop);
  checker.Check(kUsers, {"alice", "secret"}, kClient, [](LoginVerdict) {});
  int done = 0;
  std::move_only_function<void()> next = [&] {
    if (++done > 150) return loop.Stop();
    // Each from elsewhere: one client would be put off.
    checker.Check(kUsers, {"alice", std::to_string(done)}, Client(done), [&](LoginVerdict) { next(); });
  };
  next();
  loop.Run();
  std::optional<LoginVerdict> verdict;
  checker.Check(kUsers, {"alice", "secret"}, kClient, [&](LoginVerdict v) { verdict = v; });
  EXPECT_EQ(verdict, LoginVerdict::kAllowed);
}

class PasswordGuessTest : public ::testing::Test {
 protected:
  /// The verdict on one login, all hashes in between done.
  LoginVerdict Login(const ClientAddress& client, const std::string& user, const std::string& password) {
    std::optional<LoginVerdict> verdict;
    checker_.Check(kUsers, {user, password}, client, [&](LoginVerdict v) {
      verdict = v;
      loop_.Post([this] { loop_.Stop(); });
    });
    loop_.Run();
    return verdict.value();
  }
  void FailUntilPutOff(const ClientAddress& client) {
    for (uint64_t i = 0; i < FailedLogins::kFirstToWait; ++i)
      ASSERT_EQ(Login(client, "alice", "wrong" + std::to_string(i)), LoginVerdict::kDenied);
  }
  std::shared_ptr<kepler::testing::FakeClock> clock_ = std::make_shared<kepler::testing::FakeClock>();
  std::atomic<int> hashed_ = 0;
  EventLoop loop_;
  PasswordChecker checker_{loop_,
                           [this](const std::string& password, const std::string&) {
                             ++hashed_;
                             return password == "right";
                           },
                           clock_};
};

TEST(PasswordChecker, EndsWhileAHashGoesOn_AndLeavesItsThreadBehind) {
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();  // of other tests
  ScriptedHashes hashes;
  EventLoop loop;
  {
    PasswordChecker checker(loop, hashes.Function());
    checker.Check(kUsers, {"alice", "right"}, kClient, [](LoginVerdict) { FAIL(); });
    hashes.WaitFor(1);
  }
  EXPECT_EQ(ThreadsLeftBehind(), 1u);
  hashes.EndAll();
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
}

TEST(PasswordChecker, FirstLogin_WaitsForOneHashOfAGuesserOnly) {
  ScriptedHashes hashes;
  EventLoop loop;
  PasswordChecker checker(loop, hashes.Function());
  int busy = 0, waiting = 4;
  const auto count_down = [&](LoginVerdict) {
    if (--waiting == 0) loop.Stop();
  };
  for (int i = 0; i < 80; ++i) {
    checker.Check(kUsers, {"alice", std::to_string(i)}, Client(1), [&](LoginVerdict v) {
      if (v == LoginVerdict::kBusy)
        ++busy;
      else
        count_down(v);
    });
    if (i == 0) hashes.WaitFor(1);
  }
  EXPECT_EQ(busy, 75);  // one is being hashed and four wait
  std::optional<LoginVerdict> verdict;
  checker.Check(kUsers, {"bob", "right"}, Client(2), [&](LoginVerdict v) {
    verdict = v;
    loop.Stop();
  });
  hashes.EndAll();
  loop.Run();
  EXPECT_EQ(verdict, LoginVerdict::kAllowed);
  EXPECT_EQ(hashes.begun()[0], "0");
  EXPECT_EQ(hashes.begun()[1], "right");
}

/// 80 clients of one network that fill the queue with guesses.
class PasswordSiegeTest : public ::testing::Test {
 protected:
  static constexpr int kSources = 80;

  /// Four of each source, other ones each `round`; then one is being hashed and the queue is full.
  void Guess(const std::string& round) {
    const size_t begun = hashes_.begun().size();
    hashes_.End(begun);
    for (int guess = 0; guess < 4; ++guess) {
      for (int source = 0; source < kSources; ++source) {
        const std::string password = round + std::to_string(source) + "-" + std::to_string(guess);
        checker_.Check(kUsers, {"alice", password}, Client(source), [](LoginVerdict) {});
        if (guess == 0 && source == 0) hashes_.WaitFor(begun + 1);
      }
    }
  }
  /// How many hashes begin between the one in progress and that of a first login of `user`, which is right.
  ptrdiff_t HashesBefore(const ClientAddress& user) {
    const auto in_progress = static_cast<ptrdiff_t>(hashes_.begun().size());
    std::optional<LoginVerdict> verdict;
    checker_.Check(kUsers, {"bob", "right"}, user, [&](LoginVerdict v) {
      verdict = v;
      loop_.Stop();
    });
    EXPECT_FALSE(verdict) << "not even queued";
    hashes_.EndAll();
    if (!verdict) loop_.Run();
    EXPECT_EQ(verdict, LoginVerdict::kAllowed);
    const auto begun = hashes_.begun();
    return std::ranges::find(begun, "right") - begun.begin() - in_progress;
  }
  void FailOnce() {
    hashes_.EndAll();
    for (int source = 0; source < kSources; ++source) {
      checker_.Check(kUsers, {"alice", "fail" + std::to_string(source)}, Client(source),
                     [&](LoginVerdict) { loop_.Stop(); });
      loop_.Run();
    }
  }
  ScriptedHashes hashes_;
  EventLoop loop_;
  PasswordChecker checker_{loop_, hashes_.Function()};
};

TEST_F(PasswordSiegeTest, FirstLoginFromAnotherNetwork_WaitsForOneOfTheirs) {
  Guess("a");
  EXPECT_LE(HashesBefore({.prefix = {10, 0, 1, 1}}), 1);
}

TEST_F(PasswordSiegeTest, FirstLoginFromTheSameNetwork_WaitsForOneOfEachSource) {
  Guess("a");
  EXPECT_LE(HashesBefore(Client(kSources)), kSources - 1);
}

TEST_F(PasswordSiegeTest, FirstLoginFromTheSameNetwork_GoesBeforeAllWhoHaveFailed) {
  FailOnce();
  Guess("a");
  EXPECT_EQ(HashesBefore(Client(kSources)), 0);
}

TEST(PasswordChecker, LoginThatHadToMakeRoom_IsBusy) {
  ScriptedHashes hashes;
  EventLoop loop;
  PasswordChecker checker(loop, hashes.Function());
  std::vector<std::string> busy;
  for (size_t i = 0; i <= LoginQueue::kMax; ++i) {
    const auto client = Client(static_cast<int>(i / LoginQueue::kMaxOfOne));
    checker.Check(kUsers, {"alice", std::to_string(i)}, client, [&, i](LoginVerdict v) {
      if (v == LoginVerdict::kBusy) busy.push_back(std::to_string(i));
    });
    if (i == 0) hashes.WaitFor(1);
  }
  ASSERT_TRUE(busy.empty());  // one is being hashed, the others fill the queue
  checker.Check(kUsers, {"bob", "right"}, {.prefix = {10, 0, 1, 1}}, [](LoginVerdict) {});
  EXPECT_EQ(busy, std::vector<std::string>{"255"});  // the last of the last client with four of them
}

TEST(PasswordChecker, UnknownUser_CostsWhatTheDearestOneCosts) {
  ScriptedHashes hashes;
  hashes.EndAll();
  EventLoop loop;
  PasswordChecker checker(loop, hashes.Function());
  std::optional<LoginVerdict> verdict;
  checker.Check(kUsers, {"mallory", "right"}, kClient, [&](LoginVerdict v) {
    verdict = v;
    loop.Stop();
  });
  loop.Run();
  EXPECT_EQ(verdict, LoginVerdict::kDenied);
  EXPECT_EQ(hashes.hashes(), std::vector{kUsers.at("carol")});  // 05, the others 04
}

TEST_F(PasswordGuessTest, WhoFailsTooOften_IsPutOffWithoutAHash) {
  FailUntilPutOff(kClient);
  const int hashed = hashed_;
  for (int i = 0; i < 100; ++i) {
    std::optional<LoginVerdict> verdict;
    checker_.Check(kUsers, {"alice", "more" + std::to_string(i)}, kClient, [&](LoginVerdict v) { verdict = v; });
    ASSERT_EQ(verdict, LoginVerdict::kPutOff);
  }
  EXPECT_EQ(hashed_, hashed);
  EXPECT_EQ(checker_.WaitOf(kClient), FailedLogins::kFirstWait);
  clock_->Advance(FailedLogins::kFirstWait);
  EXPECT_EQ(Login(kClient, "alice", "again"), LoginVerdict::kDenied);
  EXPECT_EQ(checker_.WaitOf(kClient), 2 * FailedLogins::kFirstWait);
}

TEST_F(PasswordGuessTest, OtherClients_ArePutOffByNobody) {
  FailUntilPutOff(kClient);
  EXPECT_EQ(Login(Client(2), "alice", "right"), LoginVerdict::kAllowed);
}

TEST_F(PasswordGuessTest, WhoWasLetIn_StaysSoNextToAGuesserOfTheSameAddress) {
  EXPECT_EQ(Login(kClient, "alice", "right"), LoginVerdict::kAllowed);
  FailUntilPutOff(kClient);
  EXPECT_TRUE(checker_.Knows(kUsers, {"alice", "right"}));
  EXPECT_EQ(Login(kClient, "alice", "right"), LoginVerdict::kAllowed);
  EXPECT_FALSE(checker_.Knows(kUsers, {"alice", "wrong0"}));
  EXPECT_FALSE(checker_.Knows(kUsers, {"mallory", "right"}));
}

TEST(PasswordChecker, WhatWaitsOfAClientThatIsPutOff_IsNotHashed) {
  ScriptedHashes hashes;
  hashes.End(FailedLogins::kFirstToWait);
  EventLoop loop;
  PasswordChecker checker(loop, hashes.Function());
  for (uint64_t i = 1; i < FailedLogins::kFirstToWait; ++i) {
    checker.Check(kUsers, {"alice", std::to_string(i)}, kClient, [&](LoginVerdict) { loop.Stop(); });
    loop.Run();
  }
  std::map<std::string, LoginVerdict> verdicts;
  for (const char* password : {"last", "in progress", "waiting"})
    checker.Check(kUsers, {"alice", password}, kClient, [&, password](LoginVerdict v) {
      verdicts[password] = v;
      if (verdicts.size() == 1) hashes.WaitFor(FailedLogins::kFirstToWait + 1);
      if (verdicts.size() == 2) hashes.EndAll();
      if (verdicts.size() == 3) loop.Stop();
    });
  loop.Run();
  EXPECT_EQ(verdicts["last"], LoginVerdict::kDenied);
  EXPECT_EQ(verdicts["in progress"], LoginVerdict::kDenied);
  EXPECT_EQ(verdicts["waiting"], LoginVerdict::kPutOff);
}

TEST_F(PasswordGuessTest, Guessers_AreNamedInTheLogOnceAMinute) {
  ::testing::internal::CaptureStdout();
  FailUntilPutOff(kClient);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Login(kClient, "alice", "wrong0"), LoginVerdict::kDenied);  // known to be wrong
  const std::string first = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(first, HasSubstr("client=10.0.0.1 user=alice failures=1"));
  EXPECT_EQ(first.find("refused"), first.rfind("refused"));
  EXPECT_THAT(first, Not(HasSubstr("wrong0")));
  clock_->Advance(std::chrono::minutes(1));
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Login(kClient, "alice", "wrong"), LoginVerdict::kDenied);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("user=alice failures=11"));
}

TEST_F(PasswordGuessTest, UserThatDoesNotExist_IsNotNamedInTheLog) {
  const std::string nul(1, '\0');
  for (const std::string& password : {"wrong"s, "wrong"s, nul}) {  // hashed, known to be wrong, denied without a hash
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(Login(kClient, "my-pa55word", password), LoginVerdict::kDenied);
    const std::string line = ::testing::internal::GetCapturedStdout();
    EXPECT_THAT(line, HasSubstr("client=10.0.0.1 user=unknown failures="));
    EXPECT_THAT(line, Not(HasSubstr("my-pa55word")));
    clock_->Advance(std::chrono::minutes(1));
  }
}

TEST_F(PasswordGuessTest, GuesserWithManyAddresses_DoesNotFillTheLog) {
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 250; ++i) static_cast<void>(Login(Client(i), "alice", "wrong"));
  const std::string lines = ::testing::internal::GetCapturedStdout();
  EXPECT_LT(std::ranges::count(lines, '\n'), 100);
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
}  // namespace kepler::http::server
