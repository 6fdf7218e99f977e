// Rules of the settings of Kubernetes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>

#include "apps/kepler/config_test_util.h"

namespace kepler::agent {
namespace {

using settings::From;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KubeRules : public Validation {
 protected:
  void EnableKube() {
    tree_.Write("kubeconfig",
                "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\n"
                "clusters: [{name: b, cluster: {server: 'https://127.0.0.1:1'}}]\n");
    config_.kube_enabled = true;
    config_.kube_config = tree_.Path("kubeconfig");
    config_.node_name = "node-1";
  }
};

TEST_F(KubeRules, KubeWithoutNodeName_IsAnError) {
  EnableKube();
  config_.node_name.clear();
  draft_.GiveByFile("kube.enabled", 2);
  EXPECT_THAT(Errors(),
              ElementsAre(HasSubstr("k.yaml:2: kube.enabled: needs the name of this node; set kube.nodeName")));
}

TEST_F(KubeRules, NodeNameThatKubernetesNeverHas_IsAnErrorOfAnEnabledKube) {
  EnableKube();
  EXPECT_THAT(Errors(), IsEmpty());
  config_.node_name = "N1_Upper";
  draft_.GiveByFile("kube.nodeName", 3);
  EXPECT_THAT(Errors(),
              ElementsAre("k.yaml:3: kube.nodeName: \"N1_Upper\" cannot be the name of a node, which has only "
                          "lower-case letters, digits, '-' and '.'; set a name that kubectl get nodes shows"));
  ConfigDraft label_only;
  label_only.config.host = config_.host;
  label_only.config.node_name = "N1_Upper";
  CheckRules(label_only, label_only.config);
  EXPECT_THAT(label_only.errors(), IsEmpty());
}

TEST_F(KubeRules, LabelsOfPods_AreNamesOfLabels) {
  config_.pod_labels = {"team", "app.kubernetes.io/name"};
  EXPECT_THAT(Errors(), IsEmpty());
  config_.pod_labels = {"a,b", "team", "a b", "a=b"};
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("\"a,b\" is not the name of a label"), HasSubstr("\"a b\" is not"),
                                    HasSubstr("\"a=b\" is not")));
}

TEST_F(KubeRules, LabelsOfPods_AreNotTooMany) {
  config_.pod_labels.assign(32, "team");
  EXPECT_THAT(Errors(), IsEmpty());
  config_.pod_labels.emplace_back("team");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("has 33 names; the maximum is 32")));
}

TEST_F(KubeRules, AnnotationsOfPods_AsLabels) {
  config_.pod_annotations.assign(32, "example.com/owner");
  EXPECT_THAT(Errors(), IsEmpty());
  config_.pod_annotations.emplace_back("*");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("kube.podInformer.annotations: \"*\" is not the name of an annotation"),
                                    HasSubstr("kube.podInformer.annotations: has 33 names; the maximum is 32")));
}

TEST_F(KubeRules, QuestionsForPods_AreASecondApart) {
  for (const Duration interval : {Duration(0), Duration(std::chrono::seconds(1))}) {
    config_.informer_poll_interval = interval;
    EXPECT_THAT(Errors(), IsEmpty());
  }
  config_.informer_poll_interval = std::chrono::milliseconds(999);
  EXPECT_THAT(Errors(), ElementsAre("kube.podInformer.pollInterval: 999ms is neither 0 nor at least 1s"));
}

TEST_F(KubeRules, KubeConfig_IsCheckedWhereItIsUsedOrGivenByFlag) {
  config_.kube_config = tree_.Path("none");
  draft_.GiveByFile("kube.config", 1);
  EXPECT_THAT(Errors(), IsEmpty());
  draft_.origin("kube.config") = {.from = From::kFlag, .flag = "--kube.config"};
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("--kube.config: cannot read")));
}

TEST_F(KubeRules, KubeConfigOfAnEnabledKube_MustBeReadable) {
  EnableKube();
  config_.kube_config = tree_.Path("none");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("kube.config: cannot read")));
}

TEST_F(KubeRules, KubeConfigOfAnEnabledKube_MustLeadToACluster) {
  EnableKube();
  tree_.Write("kubeconfig", "a: b\n");
  draft_.GiveByFile("kube.config", 4);
  EXPECT_THAT(Errors(),
              ElementsAre("k.yaml:4: kube.config: " + config_.kube_config + ":1: current-context is missing"));
}

TEST_F(KubeRules, AuthorityOfTheKubelet_MustHaveCertificates) {
  EnableKube();
  tree_.Write("ca.crt", "no PEM");
  config_.kubelet_ca_file = tree_.Path("ca.crt");
  draft_.GiveByFile("kube.podInformer.kubeletCaFile", 6);
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("k.yaml:6: kube.podInformer.kubeletCaFile: " + config_.kubelet_ca_file +
                                              " has no certificate in PEM")));
}

TEST_F(KubeRules, FilesOfTheCluster_AreCheckedAtTheStartOnly) {
  EnableKube();
  tree_.Write("kubeconfig", "");
  tree_.Write("ca.crt", "");
  config_.kubelet_ca_file = tree_.Path("ca.crt");
  CheckRules(draft_, config_, Moment::kReload);
  EXPECT_THAT(draft_.errors(), IsEmpty());
  CheckRules(draft_, config_, Moment::kStart);
  EXPECT_THAT(draft_.errors(), ElementsAre(HasSubstr("kube.config: "), HasSubstr("kube.podInformer.kubeletCaFile: ")));
}

TEST_F(KubeRules, KubeWithoutKubeConfig_MustBeInAPod) {
  EnableKube();
  config_.kube_config.clear();
  draft_.GiveByFile("kube.enabled", 2);
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("k.yaml:2: kube.enabled: this is no pod of a cluster")));
}

}  // namespace
}  // namespace kepler::agent
