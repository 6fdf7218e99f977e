#pragma once
// Files of a small store, for the tests: archives and weights as upstream publishes them, and our own models.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/files/archive.h"
#include "testing/fake_tree.h"

namespace kepler::modelserver::testing {

struct ArchiveOptions {
  std::string name = "SGDRegressorTrainer_0";
  std::string output = "AbsPower";
  std::string features = R"(["bpf_cpu_time_ms","bpf_page_cache_hit"])";
  double mae = 5;
  std::optional<double> mape{};               // nothing: twice the MAE
  std::optional<double> mape_of_component{};  // nothing: mape
  std::string component = "package";
  std::string model_file = "package.pkl";
};

inline std::string Archive(const ArchiveOptions& options) {
  const double mape = options.mape.value_or(options.mae * 2);
  const std::string metadata = fmt::format(
      R"({{"model_name":"{}","model_class":"scikit","model_file":"{}.json","features":{},"fe_files":[],"output_type":"{}",)"
      R"("mae":{},"mape":{},"{}_mae":{},"{}_mape":{}}})",
      options.name, options.name, options.features, options.output, options.mae, mape, options.component, options.mae,
      options.component, options.mape_of_component.value_or(mape));
  const std::string list = fmt::format(R"({{"{}":{{"model_file":"{}","features":{},"fe_files":["scaler.pkl"]}}}})",
                                       options.component, options.model_file, options.features);
  const std::vector<lab::files::Member> members = {{options.name + ".json", list},
                                                   {"metadata.json", metadata},
                                                   {options.component + ".pkl", "a pickle that nobody opens"},
                                                   {"scaler.pkl", "another"}};
  return lab::files::WriteArchive(members).value();
}

inline std::string Weights(double bias, std::string_view component = "package") {
  return fmt::format(R"({{"{}": {{"All_Weights": {{"Bias_Weight": {}, "Categorical_Variables": {{}}, )"
                     R"("Numerical_Variables": {{"bpf_cpu_time_ms": {{"scale": 2.0, "weight": 3.5}}}}}}}}}})",
                     component, bias);
}

inline constexpr std::string_view kTypes =
    R"({"0":{"attrs":{"processor":"intel_xeon_platinum_8259cl","cores":96,"chips":2,"memory":377,"frequency":3600},)"
    R"("members":["a"]},"1":{"attrs":{"processor":"intel_xeon_e5_2686v4","cores":72,"chips":2,"memory":503,)"
    R"("frequency":3000},"members":["b","c"]},"10":{"attrs":{"processor":"amd_epyc_7763","cores":128,"chips":2,)"
    R"("memory":503,"frequency":3500},"members":[]}})";

inline std::string OwnModel(std::string_view name, double bias, std::string_view processor) {
  return fmt::format(R"({{"kepler_model":1,"name":"{}","version":1,"output":"AbsPower","features":["bpf_cpu_time_ms"],)"
                     R"("domain":[[0,1e6]],"components":[{{"component":"package","trainer":"linear","label":[0,500],)"
                     R"("accuracy":{{"rows":9,"mae_watts":1.5,"mape":2.5,"r2":0.5}},)"
                     R"("predictor":{{"formula":"linear","bias":{},"weights":[0.5]}}}}],)"
                     R"("machine":{{"processor":"{}","cores":64,"chips":2,"memory_gib":128,"frequency_mhz":2500}}}})",
                     name, bias, processor);
}

/// 20 W up to 10 ms of CPU time, and 50 W above.
inline std::string OwnTrees(std::string_view name, std::string_view processor) {
  return fmt::format(
      R"({{"kepler_model":1,"name":"{}","version":1,"output":"AbsPower","features":["bpf_cpu_time_ms","bpf_page_cache_hit"],)"
      R"("domain":[[0,1e6],[0,1]],"components":[{{"component":"package","trainer":"xgboost","label":[20,50],)"
      R"("accuracy":{{"rows":9,"mae_watts":1.5,"mape":2.5,"r2":0.5}},)"
      R"("predictor":{{"formula":"trees","base":0.5,"roots":[0],"value":[10,19.5,49.5],"left":[1,0,0],"right":[2,0,0],)"
      R"("feature":[0,0,0],"missing_left":[1,0,0]}}}}],)"
      R"("machine":{{"processor":"{}","cores":64,"chips":2,"memory_gib":128,"frequency_mhz":2500}}}})",
      name, processor);
}

/// "ec2/rapl-sysfs/AbsPower/BPFOnly": where the archives of a pipeline are.
inline constexpr std::string_view kGroupDir = "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/";

/// A pipeline "ec2" with three node types, an archive and weights of types 0 and 1, and an archive of type 10.
inline void WriteStore(kepler::testing::FakeTree& tree) {
  tree.Write("v0.7/ec2/metadata.json", R"({"name":"ec2"})");
  tree.Write("v0.7/ec2/node_type_index.json", kTypes);
  const std::string dir(kGroupDir);
  tree.Write(dir + "SGDRegressorTrainer_0.zip", Archive({.mae = 9}));
  tree.Write(dir + "SGDRegressorTrainer_0.json", Weights(100));
  tree.Write(dir + "SGDRegressorTrainer_1.zip", Archive({.name = "SGDRegressorTrainer_1", .mae = 7}));
  tree.Write(dir + "SGDRegressorTrainer_1.json", Weights(50));
  tree.Write(dir + "GradientBoostingRegressorTrainer_10.zip",
             Archive({.name = "GradientBoostingRegressorTrainer_10", .mae = 1}));
  tree.Write("own/epyc/model.json", OwnModel("trained", 40, "amd_epyc_9654"));
  tree.Write("own/epyc/model.json.sig", "signature");
}

}  // namespace kepler::modelserver::testing
