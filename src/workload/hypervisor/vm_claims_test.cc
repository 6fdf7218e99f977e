#include "workload/hypervisor/vm_claims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kepler::workload::hypervisor {
namespace {

const snapshot::VmIdentity kWeb{"7f1d", "web", "kvm"};
const snapshot::VmIdentity kFalseWeb{"7f1d", "false", "kvm"};
const VmOwner kOwner{1000, "/machine.slice/a.scope"};
const VmOwner kOther{1001, "/user.slice"};
const VmOwner kNextScope{1000, "/machine.slice/b.scope"};

class VmClaimsTest : public ::testing::Test {
 protected:
  /// A process claims the machine and joins it if it may.
  Machine Run(const snapshot::VmIdentity& vm, const VmOwner& owner, const Evidence& evidence = {}) {
    const Machine machine = claims_.Claim(vm, owner, evidence, kNoMachine);
    claims_.Join(machine);
    return machine;
  }
  VmClaims claims_;
};

TEST_F(VmClaimsTest, OwnersProcessRuns_AnotherOwnerIsRefusedAndChangesNothing) {
  const Machine web = Run(kWeb, kOwner, {.trusted_user = true});
  EXPECT_FALSE(claims_.MayClaim(kFalseWeb, kOther));
  EXPECT_EQ(Run(kFalseWeb, kOther, {.in_scope = true}), kNoMachine);
  EXPECT_EQ(claims_.holder(web).owner, kOwner);
  EXPECT_EQ(claims_.holder(web).vm.name, "web");
  EXPECT_FALSE(claims_.holder(web).evidence.in_scope);
}

TEST_F(VmClaimsTest, SameOwner_IsTheSameMachineWithTheEvidenceOfBoth) {
  const Machine web = Run(kWeb, kOwner, {.trusted_user = true});
  EXPECT_TRUE(claims_.MayClaim(kWeb, kOwner));
  EXPECT_EQ(Run(kWeb, kOwner, {.holds_machine = true}), web);
  EXPECT_EQ(claims_.holder(web).processes, 2u);
  EXPECT_TRUE(claims_.holder(web).evidence.trusted_user);
  EXPECT_TRUE(claims_.holder(web).evidence.holds_machine);
}

TEST_F(VmClaimsTest, SameIdOfAnotherHypervisor_IsAnotherMachine) {
  EXPECT_NE(Run(kWeb, kOwner), Run({"7f1d", "web", "xen"}, kOther));
  EXPECT_EQ(claims_.running(), 2u);
}

TEST_F(VmClaimsTest, LastProcessLeaves_AnotherOwnerMayClaimItWithItsOwnEvidenceOnly) {
  const Machine web = Run(kWeb, kOwner, {.in_scope = true});
  Run(kWeb, kOwner);
  claims_.Leave(web);
  EXPECT_FALSE(claims_.MayClaim(kWeb, kOther)) << "one of two still runs";
  claims_.Leave(web);
  EXPECT_EQ(claims_.Find(kWeb), kNoMachine);
  const Machine next = Run(kWeb, kOther);
  ASSERT_NE(next, kNoMachine);
  EXPECT_EQ(claims_.holder(next).owner, kOther);
  EXPECT_FALSE(claims_.holder(next).evidence.in_scope);
}

TEST_F(VmClaimsTest, OnlyProcessChangesItsOwner_TheMachineHasTheNewOwner) {
  const Machine web = Run(kWeb, kOwner);
  EXPECT_EQ(claims_.Claim(kWeb, kNextScope, {}, web), web);
  EXPECT_EQ(claims_.holder(web).owner, kNextScope);
  EXPECT_FALSE(claims_.MayClaim(kWeb, kOwner));
}

TEST_F(VmClaimsTest, OneOfTwoProcessesChangesItsOwner_StaysAndTheMachineKeepsItsOwner) {
  const Machine web = Run(kWeb, kOwner);
  Run(kWeb, kOwner);
  EXPECT_EQ(claims_.Claim(kWeb, kNextScope, {}, web), web);
  EXPECT_EQ(claims_.holder(web).owner, kOwner);
}

TEST_F(VmClaimsTest, MemberOfAnotherMachine_IsRefused) {
  Run(kWeb, kOwner);
  const Machine other = Run({"other", "", "kvm"}, kOther);
  EXPECT_EQ(claims_.Claim(kWeb, kOther, {}, other), kNoMachine);
}

TEST_F(VmClaimsTest, ProcessMovesToAnotherMachine_TheNumberOfTheFirstIsFree) {
  const Machine web = Run(kWeb, kOwner);
  const Machine other = claims_.Claim({"other", "", "kvm"}, kOwner, {}, web);
  claims_.Join(other);
  claims_.Leave(web);
  EXPECT_NE(other, web);
  EXPECT_EQ(Run({"third", "", "kvm"}, kOther), web);
  EXPECT_EQ(claims_.holder(web).owner, kOther);
  EXPECT_EQ(claims_.running(), 2u);
}

TEST_F(VmClaimsTest, KvmDescriptorIsFound_IsEvidence) {
  const Machine web = Run(kWeb, kOwner);
  claims_.AddKvmEvidence(web);
  EXPECT_TRUE(claims_.holder(web).evidence.holds_machine);
}

TEST(ClaimRank, EvidenceThenRefusalThenAge) {
  const ClaimRank scope{{.in_scope = true}, true, {30, 9}};
  const ClaimRank old{{}, false, {20, 1}};
  const ClaimRank young{{}, false, {10, 2}};
  const ClaimRank younger{{}, false, {11, 2}};
  const ClaimRank refused{{}, true, {5, 0}};
  std::vector<ClaimRank> ranks{refused, younger, young, old, scope};
  std::ranges::sort(ranks, [](const ClaimRank& a, const ClaimRank& b) { return a.IsBefore(b); });
  std::vector<int32_t> pids;
  for (const ClaimRank& rank : ranks) pids.push_back(rank.process.tgid);
  EXPECT_EQ(pids, (std::vector<int32_t>{30, 20, 10, 11, 5}));
}

}  // namespace
}  // namespace kepler::workload::hypervisor
