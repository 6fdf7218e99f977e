#include "lab/files/model_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/files/files.h"
#include "model/model_json.h"
#include "model/sha256.h"

namespace kepler::lab::files {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SharedModel Shared(decltype(model::Predictor::formula) formula = model::Linear{.bias = 1, .weights = {2}}) {
  SharedModel shared;
  shared.model.name = "node \"7\"";
  shared.model.version = 3;
  shared.model.features = {"cpu_cycles"};
  shared.model.machine = model::MachineSpec{.processor = "intel_xeon", .cores = 96};
  model::ComponentModel& package = shared.model.components.emplace_back();
  package.trainer = "linear";
  package.accuracy = model::Accuracy{.rows = 10, .mae_watts = 1.5, .mape = 2.5, .r2 = 0.5};
  package.predictor.formula = std::move(formula);
  shared.json = model::WriteModelJson(shared.model);
  shared.card = "# card\n";
  return shared;
}

std::vector<std::string> Names(const std::vector<Member>& members) {
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const Member& member : members) names.push_back(member.name);
  return names;
}

std::string& BytesOf(std::vector<Member>& members, std::string_view name) {
  return std::ranges::find(members, name, &Member::name)->bytes;
}

/// With sums that hold again.
void SumUp(std::vector<Member>& members) {
  std::string sums;
  for (const Member& member : members)
    if (member.name != "SHA256SUMS") sums += model::Sha256(member.bytes) + "  " + member.name + "\n";
  BytesOf(members, "SHA256SUMS") = sums;
}

std::string UnpackComplaint(const std::vector<Member>& members) {
  const auto unpacked = UnpackModel(members);
  return unpacked ? "" : unpacked.error().message;
}

TEST(ModelArchive, PackedModel_ComesBack) {
  const SharedModel shared = Shared();
  const std::vector<Member> members = PackModel(shared);
  EXPECT_THAT(Names(members), ElementsAre("model.json", "card.md", "weight.json", "metadata.json", "SHA256SUMS"));
  EXPECT_TRUE(IsPackedModel(members));
  const auto unpacked = UnpackModel(members);
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  EXPECT_TRUE(unpacked->model == shared.model);
  EXPECT_EQ(unpacked->json, shared.json);
  EXPECT_EQ(unpacked->card, shared.card);
  EXPECT_TRUE(PackModel(shared) == members);
}

TEST(ModelArchive, Metadata_SayWhatIsKnownOfTheMachine) {
  std::vector<Member> members = PackModel(Shared());
  EXPECT_THAT(BytesOf(members, "metadata.json"), HasSubstr("\"machine\":{\"processor\":\"intel_xeon\",\"cores\":96},"));
}

TEST(ModelArchive, FormulaThatWeightFilesDoNotHave_IsWithoutOne) {
  const auto members = PackModel(Shared(model::Neighbors{.k = 1, .points = {1}, .labels = {2}}));
  EXPECT_THAT(Names(members), ElementsAre("model.json", "card.md", "metadata.json", "SHA256SUMS"));
  EXPECT_TRUE(UnpackModel(members));
}

TEST(ModelArchive, AnyMemberMissingChangedOrCut_IsRefused) {
  const std::vector<Member> good = PackModel(Shared());
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<Member> members = good;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(UnpackComplaint(members), HasSubstr("member '" + good[i].name + "': "));
    for (size_t size = 0; size + 1 < good[i].bytes.size(); size += 7) {  // the last line feed may go
      members = good;
      members[i].bytes.resize(size);
      EXPECT_NE(UnpackComplaint(members), "") << good[i].name << " " << size;
    }
    members = good;
    members[i].bytes[0] = static_cast<char>(members[i].bytes[0] ^ 1);
    EXPECT_NE(UnpackComplaint(members), "") << good[i].name;
  }
}

TEST(ModelArchive, MoreThanWhatIsListed_IsRefused) {
  std::vector<Member> members = PackModel(Shared());
  members.push_back({"more", "x"});
  EXPECT_THAT(UnpackComplaint(members), HasSubstr("member 'more': a model archive must not contain this file"));
  SumUp(members);
  EXPECT_THAT(UnpackComplaint(members), HasSubstr("member 'more': a model archive must not contain this file"));
  members = PackModel(Shared());
  BytesOf(members, "SHA256SUMS") += model::Sha256("") + "  SHA256SUMS\n";
  EXPECT_THAT(UnpackComplaint(members), HasSubstr("SHA256SUMS lists it, but it is missing"));
}

TEST(ModelArchive, CardThatCouldNotBePackedAgain_IsRefused) {
  SharedModel shared = Shared();
  shared.card = std::string(kMaxCardBytes, 'x');
  EXPECT_TRUE(UnpackModel(PackModel(shared)));
  shared.card += 'x';
  EXPECT_EQ(UnpackComplaint(PackModel(shared)), "member 'card.md': larger than the maximum of 1 MiB");
}

TEST(ModelArchive, ModelThatTheMetadataAreNotOf_IsRefused) {
  std::vector<Member> members = PackModel(Shared());
  SharedModel other = Shared();
  other.model.version = 4;
  BytesOf(members, "model.json") = model::WriteModelJson(other.model);
  SumUp(members);
  EXPECT_THAT(UnpackComplaint(members), HasSubstr("version: the model in model.json has another version"));
  BytesOf(members, "metadata.json").replace(0, 19, "{\"kepler_archive\":9");
  EXPECT_THAT(UnpackComplaint(members),
              HasSubstr("kepler_archive: version 9 is not supported; this program reads version 1"));
}

TEST(ModelArchive, OtherArchives_AreNone) {
  EXPECT_FALSE(IsPackedModel(std::vector<Member>{{"metadata.json", "{}"}, {"weight.json", "{}"}}));
  EXPECT_FALSE(IsPackedModel(std::vector<Member>{{"metadata.json", "no"}}));
  EXPECT_FALSE(IsPackedModel(std::vector<Member>{}));
  EXPECT_TRUE(IsPackedModel(std::vector<Member>{{"metadata.json", R"({"kepler_archive":7})"}}));
}

}  // namespace
}  // namespace kepler::lab::files
