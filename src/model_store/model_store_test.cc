#include "model_store/model_store.h"

#include <sys/stat.h>

#include <latch>
#include <memory>
#include <new>
#include <utility>

#include "model/sha256.h"
#include "model_store/store_fixture.h"

namespace kepler::model_store {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(StoreTest, AFile_IsTheModelThatSomebodyChose) {
  tree_.Write("a.json", ModelText("a"));
  Make({tree_.Path("a.json")});
  EXPECT_THAT(Load(), AllOf(HasSubstr("loaded power models"), HasSubstr("a (version 1")));
  ASSERT_THAT(Models(), ElementsAre("a 1"));
  EXPECT_TRUE(board_->Latest()->front()->chosen);
  EXPECT_EQ(board_->Latest()->front()->source, tree_.Path("a.json"));
  const auto status = places_->status();
  EXPECT_EQ(status.refreshes, 1u);
  EXPECT_EQ(status.failed_refreshes, 0u);
  EXPECT_EQ(status.models, 1u);
  EXPECT_EQ(status.last_success, clock_.Wall());
}

TEST_F(StoreTest, AnUnchangedFile_IsNotReadAgain) {
  tree_.Write("a.json", ModelText("a"));
  Make({tree_.Path("a.json")});
  Load();
  const auto set = board_->Latest();
  EXPECT_EQ(RefreshAfter(minutes(2)), "");
  EXPECT_EQ(board_->Latest(), set) << "the very same";
  EXPECT_EQ(places_->status().refreshes, 1u);
  EXPECT_EQ(places_->status().last_success, clock_.Wall()) << "all is well";
}

TEST_F(StoreTest, AReplacedFile_IsPickedUp) {
  tree_.Write("a.json", ModelText("a"));
  Make({tree_.Path("a.json")});
  Load();
  tree_.Write("a.json", ModelText("a", 2));
  EXPECT_EQ(RefreshAfter(seconds(59)), "") << "not yet";
  EXPECT_THAT(RefreshAfter(seconds(1)), HasSubstr("version 2"));
  EXPECT_THAT(Models(), ElementsAre("a 2"));
}

TEST_F(StoreTest, ABrokenOrOlderOrMissingFile_LeavesTheModelInUse) {
  tree_.Write("a.json", ModelText("a", 2));
  Make({tree_.Path("a.json")});
  Load();
  tree_.Write("a.json", ModelText("a", 3).substr(0, 60));
  EXPECT_THAT(RefreshAfter(minutes(1)), AllOf(HasSubstr("level=WARN"), HasSubstr(tree_.Path("a.json"))));
  tree_.Write("a.json", ModelText("a", 1));
  EXPECT_THAT(RefreshAfter(minutes(1)), HasSubstr("is older than version 2"));
  tree_.Remove("a.json");
  EXPECT_THAT(RefreshAfter(minutes(1)), HasSubstr("No such file"));
  const WallTime before = places_->status().last_success;
  EXPECT_EQ(RefreshAfter(minutes(1)), "") << "said already";
  EXPECT_EQ(places_->status().last_success, before);
  EXPECT_THAT(Models(), ElementsAre("a 2"));
  EXPECT_EQ(places_->status().failed_refreshes, 4u);
  tree_.Write("a.json", ModelText("a", 3));
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("a 3"));
}

TEST_F(StoreTest, ADirectory_OneBadFileCostsOnlyItself) {
  tree_.Write("m/a.json", ModelText("a"));
  tree_.Write("m/b/model.json", ModelText("b"));
  tree_.Write("m/b/card.md", "# b");
  tree_.Write("m/bad.json", "{");
  tree_.Write("m/.hidden.json", "{");
  tree_.Write("m/..data/model.json", ModelText("twice"));
  tree_.Write("m/notes.txt", "no model");
  tree_.MakeDir("m/empty");
  Make({tree_.Path("m")});
  EXPECT_THAT(Load(), AllOf(HasSubstr("m/bad.json: "), Not(HasSubstr("hidden")), Not(HasSubstr("notes"))));
  EXPECT_THAT(Models(), ElementsAre("a 1", "b 1"));
  EXPECT_FALSE(board_->Latest()->front()->chosen) << "nobody named that model";
  EXPECT_EQ(places_->status().refreshes, 3u);
  EXPECT_EQ(places_->status().failed_refreshes, 1u);
}

TEST_F(StoreTest, ADirectory_FilesComeAndGo_TheDirectoryItselfOnlyFails) {
  tree_.Write("m/a.json", ModelText("a"));
  Make({tree_.Path("m")});
  Load();
  tree_.Write("m/b.json", ModelText("b"));
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("a 1", "b 1"));
  tree_.Remove("m/a.json");
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("b 1"));
  tree_.Remove("m");
  EXPECT_THAT(RefreshAfter(minutes(1)), HasSubstr("No such file"));
  EXPECT_THAT(Models(), ElementsAre("b 1"));
}

// A server of files that is gone answers so; a link to itself does for whoever runs this.
TEST_F(StoreTest, WhatCannotBeLookedAt_KeepsItsModels) {
  tree_.Write("m/a.json", ModelText("a"));
  tree_.Write("m/b/model.json", ModelText("b"));
  Make({tree_.Path("m")});
  Load();
  tree_.Remove("m/b");
  tree_.Symlink("m/b", "b");
  EXPECT_THAT(RefreshAfter(minutes(1)), HasSubstr("m/b/model.json: Too many levels of symbolic links"));
  EXPECT_THAT(Models(), ElementsAre("a 1", "b 1"));
  tree_.Remove("m");
  tree_.Symlink("m", "m");
  EXPECT_THAT(RefreshAfter(minutes(1)), HasSubstr("m: Too many levels of symbolic links"));
  EXPECT_THAT(Models(), ElementsAre("a 1", "b 1"));
  tree_.Remove("m");
  tree_.Write("m/c.json", ModelText("c"));
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("c 1")) << "those are gone";
}

TEST_F(StoreTest, OneThatTakesAllMemory_CostsItself) {
  class TooLarge final : public Source {
   public:
    void LoadLocal(Look&) override { throw std::bad_alloc(); }
    void Refresh(Look&, const std::stop_token&) override { throw std::bad_alloc(); }
    [[nodiscard]] BootTime next() const override { return {}; }
    void AddTo(model::ModelSet&) const override {}
  };
  TextBudget budget;
  Make({});
  places_->Add("large", std::make_unique<TooLarge>());
  tree_.Write("a.json", ModelText("a"));
  places_->Add("a", std::make_unique<FileSource>(*ParsePlace(tree_.Path("a.json")), budget, clock_));
  EXPECT_THAT(Load(), HasSubstr("out of memory"));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  tree_.Write("a.json", ModelText("a", 2));
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("a 2"));
  EXPECT_EQ(places_->status().failed_refreshes, 2u);
  places_.reset();  // before the budget
}

TEST_F(StoreTest, WhatIsMissingAtTheStart_IsAWarning_AndComesLater) {
  tree_.Write("there.json", ModelText("there"));
  Make({tree_.Path("late.json"), tree_.Path("there.json")});
  EXPECT_THAT(Load(), AllOf(HasSubstr("level=WARN"), HasSubstr("late.json")));
  EXPECT_THAT(Models(), ElementsAre("there 1"));
  tree_.Write("late.json", ModelText("late"));
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("late 1", "there 1"));
}

TEST_F(StoreTest, WhatCannotBeAModel_IsSaid) {
  ASSERT_EQ(::mkfifo(tree_.Path("pipe").c_str(), 0600), 0);
  tree_.MakeDir("m");
  const std::string sum = "#sha256=" + model::Sha256("other");
  tree_.Write("a.json", ModelText("a"));
  Make({tree_.Path("pipe"), tree_.Path("m") + sum, tree_.Path("a.json") + sum, "/dev/zero"});
  EXPECT_THAT(Load(), AllOf(HasSubstr("it is a pipe"), HasSubstr("a directory has no checksum"),
                            HasSubstr("its SHA-256 is"), HasSubstr("read /dev/zero: larger than 16 MiB")));
  EXPECT_THAT(Models(), IsEmpty());
}

TEST_F(StoreTest, TooMuchText_IsRefusedByName_UntilThereIsRoom) {
  for (const char* name : {"a", "b", "c"}) tree_.Write("m/" + std::string(name) + ".json", ModelText(name));
  tree_.Write("m/large.json", ModelText("large") + std::string(1000, ' '));
  const size_t size = ModelText("a").size();
  limits_ = {.model = size + 100, .all = 2 * size};
  Make({tree_.Path("m")});
  EXPECT_THAT(Load(), AllOf(HasSubstr("m/c.json: it has " + std::to_string(size) + " bytes"),
                            HasSubstr("the maximum in all is " + std::to_string(2 * size) + " bytes"),
                            HasSubstr("m/large.json: it has"),
                            HasSubstr("the maximum for a model is " + std::to_string(size + 100) + " bytes")));
  EXPECT_THAT(Models(), ElementsAre("a 1", "b 1"));
  tree_.Remove("m/a.json");
  RefreshAfter(minutes(1));
  EXPECT_THAT(Models(), ElementsAre("b 1", "c 1"));
}

TEST_F(StoreTest, WeightFiles_AreOfThePowerThatTheirPlaceSays) {
  constexpr std::string_view kWeights =
      R"({"package":{"All_Weights":{"Bias_Weight":1,"Categorical_Variables":{},
          "Numerical_Variables":{"bpf_cpu_time_ms":{"scale":10,"weight":1}}}}})";
  const std::string dynamic = "db/DynPower/BPFOnly/SGDRegressorTrainer_0.json";
  const std::string plain = "SGDRegressorTrainer_1.json";
  for (const std::string& path : {dynamic, plain}) tree_.Write(path, kWeights);
  const auto outputs = [this](const std::vector<std::string>& places) {
    Make(places);
    Load();
    std::string text;
    for (const auto& known : *board_->Latest()) text += std::string(model::Name(known->model.output)) + ' ';
    return text;
  };
  EXPECT_EQ(outputs({tree_.Path(dynamic), tree_.Path(plain)}), "DynPower AbsPower ");
  EXPECT_EQ(outputs({tree_.Path(dynamic) + "#power=AbsPower", tree_.Path(plain) + "#power=DynPower"}),
            "AbsPower DynPower ");
}

// The clock of places runs on while the machine is suspended, that of a sleep does not.
TEST_F(StoreTest, Thread_NeverSleepsLong) {
  const BootTime now = clock_.Now();
  EXPECT_EQ(ModelPlaces::Pause(now, now + std::chrono::hours(1)), minutes(1));
  EXPECT_EQ(ModelPlaces::Pause(now, now + seconds(10)), seconds(10));
  EXPECT_LE(ModelPlaces::Pause(now, now - seconds(10)).count(), 0);
}

TEST_F(StoreTest, NoPlaces_ThereIsNothingToDo) {
  Make({});
  EXPECT_EQ(Load(), "");
  EXPECT_EQ(places_->size(), 0u);
}

TEST_F(StoreTest, Thread_ReadsAndStops) {
  tree_.Write("a.json", ModelText("a"));
  Make({tree_.Path("a.json")});
  ASSERT_TRUE(Start(minutes(10)));
  EXPECT_THAT(Models(), ElementsAre("a 1"));
  store_.reset();  // does not wait for the next minute
}

/// A dead disk: nobody gets away from it before the gate opens.
class Hanging final : public Source {
 public:
  explicit Hanging(std::shared_ptr<std::latch> gate) : gate_(std::move(gate)) {}
  void LoadLocal(Look& look) override {
    gate_->wait();
    look.changed = true;
  }
  void Refresh(Look&, const std::stop_token&) override {}
  [[nodiscard]] BootTime next() const override { return BootTime::max(); }
  void AddTo(model::ModelSet& set) const override {
    model::KnownModel late;
    late.model.name = "late";
    set.push_back(std::make_shared<const model::KnownModel>(std::move(late)));
  }

 private:
  const std::shared_ptr<std::latch> gate_;
};

TEST_F(StoreTest, Start_DoesNotWaitForFilesThatHang) {
  const auto gate = std::make_shared<std::latch>(1);
  Make({});
  places_->Add("/mnt/dead", std::make_unique<Hanging>(gate));
  ::testing::internal::CaptureStdout();
  ASSERT_TRUE(Start(std::chrono::milliseconds(1)));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), AllOf(HasSubstr("are not loaded yet"), HasSubstr("/mnt/dead")));
  EXPECT_THAT(Models(), IsEmpty());
  gate->count_down();
  ASSERT_TRUE(ComesToBe([this] { return !Models().empty(); })) << "no model came";
  EXPECT_THAT(Models(), ElementsAre("late 1"));
}

TEST_F(StoreTest, APlaceThatHangs_CostsOnlyItself_AndNobodyWaitsForItAtTheEnd) {
  auto gate = std::make_shared<std::latch>(1);
  tree_.Write("a.json", ModelText("a"));
  farewell_ = std::chrono::milliseconds(1);
  Make({});
  places_->Add("/mnt/dead", std::make_unique<Hanging>(gate));
  static TextBudget budget;  // for who is left behind
  places_->Add("a", std::make_unique<FileSource>(*ParsePlace(tree_.Path("a.json")), budget, clock_));
  ASSERT_TRUE(Start(std::chrono::milliseconds(1)));
  ASSERT_TRUE(ComesToBe([this] { return !Models().empty(); })) << "no model came";
  EXPECT_THAT(Models(), ElementsAre("a 1")) << "behind it";
  store_.reset();
  EXPECT_GE(ThreadsLeftBehind(), 1u) << "the one that hangs";
  gate->count_down();
  const std::weak_ptr<std::latch> left = std::exchange(gate, nullptr);
  ASSERT_TRUE(ComesToBe([&left] { return left.expired(); })) << "the thread that hung has not ended";
  ASSERT_TRUE(ComesToBe([] { return ThreadsLeftBehind() == 0; })) << "nor was it joined";
  EXPECT_THAT(Models(), ElementsAre("a 1")) << "an answer after the end is ignored";
}

}  // namespace
}  // namespace kepler::model_store
