#include "workload/kubernetes/refresh_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace kepler::workload::kubernetes {
namespace {

using namespace std::chrono_literals;

constexpr BootTime kStart{1h};

constexpr std::string_view kPod = "p";

bool Everybody(const std::string&) { return true; }
bool Nobody(const std::string&) { return false; }

RefreshPlan::Times TimesOf(Nanoseconds interval) {
  return {.interval = interval, .jitter = interval / 10, .max_delay = std::min<Nanoseconds>(interval, 60s)};
}

/// One that has just succeeded, at kStart.
RefreshPlan Fresh(Nanoseconds interval = 15s, uint64_t seed = 1) {
  RefreshPlan plan(TimesOf(interval), seed);
  plan.Begin(kStart);
  plan.Succeed(kStart, Everybody);
  return plan;
}

TEST(RefreshPlan, FirstQuestionIsDueAtOnce_AndNoneWhileOneIsAsked) {
  RefreshPlan plan(TimesOf(15s), 1);
  EXPECT_LE(plan.next(), kStart);
  plan.Begin(kStart);
  EXPECT_EQ(plan.next(), BootTime::max());
}

TEST(RefreshPlan, AtMostOncePerInterval_AndNotInStep) {
  std::set<BootTime> times;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const BootTime next = Fresh(15s, seed).next();
    EXPECT_GE(next, kStart + 15s);
    EXPECT_LE(next, kStart + 16500ms);
    times.insert(next);
  }
  EXPECT_GT(times.size(), 90u);
}

TEST(RefreshPlan, LongQuestion_IsNotFollowedAtOnceByAnother) {
  RefreshPlan plan({.interval = 1s, .jitter = 5s, .max_delay = 60s}, 1);
  std::set<BootTime> times;
  for (int i = 0; i < 20; ++i) {
    plan.Begin(kStart);
    plan.Succeed(kStart + 300s, Everybody);
    EXPECT_GE(plan.next(), kStart + 300s);
    EXPECT_LE(plan.next(), kStart + 305s);
    times.insert(plan.next());
  }
  EXPECT_GT(times.size(), 15u);
}

TEST(RefreshPlan, UnknownContainers_AreAskedForOnceAndTogether) {
  RefreshPlan plan = Fresh();
  const BootTime now = kStart + 5s;
  EXPECT_TRUE(plan.Miss(kPod, "a", now));
  const BootTime next = plan.next();
  EXPECT_EQ(next, now + RefreshPlan::kGather) << "at once";
  for (int i = 0; i < 100; ++i) static_cast<void>(plan.Miss(kPod, "b" + std::to_string(i), now));
  EXPECT_EQ(plan.next(), next);
  plan.Begin(now + 1s);
  plan.Succeed(now + 1s, Everybody);
  EXPECT_GE(plan.next(), now + 16s);
}

TEST(RefreshPlan, AnswersWithoutThem_AreTriedAgainThreeTimes) {
  RefreshPlan plan = Fresh(1h);
  BootTime now = kStart + 5s;
  EXPECT_TRUE(plan.Miss(kPod, "a", now));
  for (const Nanoseconds pause : {2s, 4s, 8s}) {
    now = plan.next();
    plan.Begin(now);
    plan.Succeed(now, Nobody);
    EXPECT_GE(plan.next(), now + pause);
    EXPECT_LE(plan.next(), now + pause + RefreshPlan::kMaxJitter);
  }
  now = plan.next();
  plan.Begin(now);
  plan.Succeed(now, Nobody);
  EXPECT_GE(plan.next(), now + 1h) << "nobody will ever name it";
  EXPECT_FALSE(plan.Miss(kPod, "a", now + 3s));
}

/// Succeeds with an answer that names these.
void Name(RefreshPlan& plan, BootTime now, const std::set<std::string>& known) {
  plan.Begin(now);
  plan.Succeed(now, [&](const std::string& id) { return known.contains(id); });
}

TEST(RefreshPlan, SandboxOfAPod_IsLearntWithItsFirstContainer) {
  RefreshPlan plan = Fresh(1h);
  BootTime now = kStart + 5s;
  static_cast<void>(plan.Miss("u1", "sandbox", now));
  static_cast<void>(plan.Miss("u1", "app", now));
  Name(plan, plan.next(), {"u1"});
  now = plan.next();
  EXPECT_LE(now, kStart + 8s) << "the kubelet does not show its containers yet";
  Name(plan, now, {"u1", "app"});
  EXPECT_GE(plan.next(), now + 1h) << "who is left is the sandbox";
  EXPECT_FALSE(plan.Miss("u1", "sandbox", now + 3s));
  EXPECT_TRUE(plan.Miss("u1", "restarted app", now + 4s)) << "a pod has one sandbox";
  Name(plan, plan.next(), {"u1", "app"});
  EXPECT_LE(plan.next(), now + 7s);
}

TEST(RefreshPlan, SeveralUnnamed_AreNoSandboxes) {
  RefreshPlan plan = Fresh(1h);
  const BootTime now = kStart + 5s;
  for (const char* id : {"sandbox", "app", "helper"}) static_cast<void>(plan.Miss("u1", id, now));
  Name(plan, now + 1s, {"u1", "app"});
  EXPECT_LE(plan.next(), now + 4s);
}

TEST(RefreshPlan, SandboxIsForgottenWithItsPod) {
  RefreshPlan plan = Fresh(1h);
  const BootTime now = kStart + 5s;
  for (const char* id : {"sandbox", "app"}) static_cast<void>(plan.Miss("u1", id, now));
  for (int i = 0; i < 2; ++i) Name(plan, plan.next(), {"u1", "app"});
  ASSERT_GE(plan.next(), now + 1h) << "the sandbox is known";
  Name(plan, now + 1h, {});
  EXPECT_TRUE(plan.Miss("u1", "sandbox", now + 1h + 5s));
}

TEST(RefreshPlan, SandboxLeftOutOfTwoAnswers_IsLearnt) {
  RefreshPlan plan = Fresh(1h);
  const BootTime now = kStart + 5s;
  for (const char* id : {"sandbox", "app"}) static_cast<void>(plan.Miss("u1", id, now));
  Name(plan, plan.next(), {"u1", "app"});
  EXPECT_LE(plan.next(), now + 3s);
  Name(plan, plan.next(), {"u1", "app"});
  EXPECT_GE(plan.next(), now + 1h);
}

// CRI-O starts no sandbox container for a pod that needs no shared PID namespace (drop_infra_ctr).
TEST(RefreshPlan, SecondContainerOfAPodWithoutASandbox_IsAskedForAgain) {
  RefreshPlan plan = Fresh(1h);
  const BootTime now = kStart + 5s;
  for (const char* id : {"app", "helper"}) static_cast<void>(plan.Miss("u1", id, now));
  Name(plan, plan.next(), {"u1", "app"});
  EXPECT_LE(plan.next(), now + 3s) << "the kubelet does not show it yet";
  Name(plan, plan.next(), {"u1", "app", "helper"});
  EXPECT_TRUE(plan.Miss("u1", "helper", now + 10s)) << "nothing is remembered of it";
}

TEST(RefreshPlan, ContainerThatALaterAnswerNames_IsNoSandbox) {
  RefreshPlan plan = Fresh(1h);
  const BootTime now = kStart + 5s;
  for (const char* id : {"app", "helper"}) static_cast<void>(plan.Miss("u1", id, now));
  for (int i = 0; i < 2; ++i) Name(plan, plan.next(), {"u1", "app"});
  ASSERT_GE(plan.next(), now + 1h);
  Name(plan, now + 1h, {"u1", "app", "helper"});
  EXPECT_TRUE(plan.Miss("u1", "helper", now + 1h + 5s));
}

TEST(RefreshPlan, UnknownPod_IsAskedForWithoutAContainer) {
  RefreshPlan plan = Fresh(1h);
  EXPECT_TRUE(plan.Miss("u1", "", kStart + 5s));
  Name(plan, plan.next(), {"u1"});
  EXPECT_GE(plan.next(), kStart + 1h);
}

TEST(RefreshPlan, ContainerThatStartsDuringAQuestion_IsAskedForAfterIt) {
  RefreshPlan plan = Fresh(24h);
  plan.Begin(kStart + 24h);
  EXPECT_FALSE(plan.Miss(kPod, "a", kStart + 24h));
  plan.Succeed(kStart + 24h + 1s, Nobody);
  EXPECT_LE(plan.next(), kStart + 24h + 1s + RefreshPlan::kMinGap + RefreshPlan::kMaxJitter);
}

TEST(RefreshPlan, NewContainersAllTheTime_KeepTheGap) {
  RefreshPlan plan = Fresh();
  int requests = 0;
  int id = 0;
  for (BootTime now = kStart; now < kStart + 60s; now += 10ms) {
    if (now >= plan.next()) {
      plan.Begin(now);
      plan.Succeed(now, Everybody);
      ++requests;
    }
    static_cast<void>(plan.Miss(kPod, std::to_string(++id), now));
  }
  EXPECT_LE(requests, 30);
  EXPECT_GE(requests, 25);
}

TEST(RefreshPlan, Failures_DoubleThePause_UpToTheMax) {
  RefreshPlan plan = Fresh();
  BootTime now = kStart;
  for (const Nanoseconds pause : {1s, 2s, 4s, 8s, 15s, 15s}) {
    plan.Begin(now);
    plan.Fail(now);
    EXPECT_GE(plan.next(), now + pause / 2);
    EXPECT_LE(plan.next(), now + 2 * pause);
    now = plan.next();
  }
  plan.Begin(now);
  plan.Succeed(now, Everybody);
  EXPECT_GE(plan.next(), now + 15s);
  plan.Fail(now);
  EXPECT_LE(plan.next(), now + 2s);
}

TEST(RefreshPlan, WhoFailsTogether_DoesNotComeBackTogether) {
  std::set<BootTime> times;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RefreshPlan plan = Fresh(15s, seed);
    plan.Fail(kStart);
    times.insert(plan.next());
  }
  EXPECT_GT(*times.rbegin() - *times.begin(), 900ms) << "of 1 s";
}

TEST(RefreshPlan, LongIntervals_RecoverWithinTwoMinutes) {
  RefreshPlan plan = Fresh(24h);
  for (int i = 0; i < 1000; ++i) plan.Fail(kStart);
  EXPECT_LE(plan.next(), kStart + 120s);
}

TEST(RefreshPlan, WhileItFails_UnknownContainersChangeNothing) {
  RefreshPlan plan = Fresh();
  for (int i = 0; i < 3; ++i) plan.Fail(kStart);
  const BootTime next = plan.next();
  EXPECT_FALSE(plan.Miss(kPod, "a", kStart));
  EXPECT_EQ(plan.next(), next);
}

TEST(RefreshPlan, RemembersABoundedNumber) {
  RefreshPlan plan = Fresh(24h);
  for (size_t i = 0; i <= RefreshPlan::kMaxMissed; ++i) static_cast<void>(plan.Miss(kPod, std::to_string(i), kStart));
  plan.Begin(kStart + 1min);
  plan.Succeed(kStart + 1min, Everybody);
  EXPECT_TRUE(plan.Miss(kPod, "0", kStart + 2min));  // forgotten with all others
}

}  // namespace
}  // namespace kepler::workload::kubernetes
