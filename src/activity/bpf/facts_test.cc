#include "activity/bpf/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/fake_tree.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::HasSubstr;

Facts Good() {
  return {.first_pid_namespace = true,
          .procfs_has_our_pids = true,
          .btf = true,
          .cap_bpf = true,
          .cap_perfmon = true,
          .memlock = true,
          .seccomp = false,
          .lockdown = "none"};
}

TEST(Facts, AllThere_NothingIsMissing) {
  EXPECT_TRUE(MayTry(Good()));
  EXPECT_EQ(Missing(Good()), "");
}

TEST(Facts, WhatIsMissing_IsNamed) {
  Facts facts = Good();
  facts.cap_bpf = facts.cap_perfmon = false;
  EXPECT_EQ(Missing(facts), "CAP_BPF, CAP_PERFMON");
  facts = Good();
  facts.btf = false;
  EXPECT_THAT(Missing(facts), HasSubstr("/sys/kernel/btf/vmlinux"));
  facts = Good();
  facts.lockdown = "confidentiality";
  EXPECT_THAT(Missing(facts), HasSubstr("lockdown"));
  facts.lockdown = "integrity";
  EXPECT_EQ(Missing(facts), "");
  facts = Good();
  facts.memlock = false;
  EXPECT_EQ(Missing(facts), "RLIMIT_MEMLOCK of 16 MiB");
}

TEST(Facts, Seccomp_IsNamedWhereNothingElseExplains) {
  Facts facts = Good();
  facts.seccomp = true;
  EXPECT_THAT(Missing(facts), HasSubstr("seccomp"));
  facts.cap_bpf = false;
  EXPECT_EQ(Missing(facts), "CAP_BPF");
  EXPECT_TRUE(ParseSeccompFilter("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
  EXPECT_FALSE(ParseSeccompFilter("Seccomp:\t0\n"));
  EXPECT_FALSE(ParseSeccompFilter("Seccomp_filters:\t2\n"));
  EXPECT_FALSE(ParseSeccompFilter(""));
}

TEST(Facts, OwnPidNamespace_IsNotWorthATry) {
  Facts facts = Good();
  facts.first_pid_namespace = false;
  ASSERT_FALSE(MayTry(facts));
  EXPECT_THAT(MayTry(facts).error().message, HasSubstr("hostPID"));
  facts = Good();
  facts.procfs_has_our_pids = false;
  EXPECT_THAT(MayTry(facts).error().message, HasSubstr("host.procfs"));
}

TEST(Facts, ProcfsOfOthers_IsFoundOut) {
  testing::FakeTree tree;
  tree.Write("proc/self/status", "Name:\tx\nNSpid:\t1234567\n");
  EXPECT_FALSE(ReadFacts(tree.Path("proc")).procfs_has_our_pids);
  tree.Write("proc/self/status", "NSpid:\t" + std::to_string(::getpid()) + "\n");
  EXPECT_TRUE(ReadFacts(tree.Path("proc")).procfs_has_our_pids);
  tree.Write("proc/self/status", "");
  EXPECT_FALSE(ReadFacts(tree.Path("proc")).procfs_has_our_pids);
  EXPECT_FALSE(ReadFacts(tree.Path("none")).procfs_has_our_pids);
}

TEST(ParseEffectiveCapabilities, OkMissingMalformedTruncated) {
  EXPECT_EQ(ParseEffectiveCapabilities("Name:\tx\nCapEff:\t000000c000000000\nCapBnd:\t0\n").value_or(0), 0xc000000000U);
  EXPECT_FALSE(ParseEffectiveCapabilities(""));
  EXPECT_FALSE(ParseEffectiveCapabilities("CapPrm:\t1\n"));
  EXPECT_FALSE(ParseEffectiveCapabilities("CapEff:\tzz\n"));
  EXPECT_FALSE(ParseEffectiveCapabilities("CapEff:\t12 34\n"));
  EXPECT_FALSE(ParseEffectiveCapabilities("CapEff:"));
  EXPECT_FALSE(ParseEffectiveCapabilities("CapEff:\t1ffffffffffffffff\n"));
}

TEST(ParseLockdown, TheWordInBrackets) {
  EXPECT_EQ(ParseLockdown("none [integrity] confidentiality\n"), "integrity");
  EXPECT_EQ(ParseLockdown("[none] integrity confidentiality\n"), "none");
  EXPECT_EQ(ParseLockdown(""), "");
  EXPECT_EQ(ParseLockdown("none [integ"), "");
  EXPECT_EQ(ParseLockdown("] none ["), "");
}

}  // namespace
}  // namespace kepler::activity::bpf
