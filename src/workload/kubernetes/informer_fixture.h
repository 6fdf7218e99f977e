#pragma once
// For tests: a cluster of one node, its API server and its kubelet, over TLS, with a token.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "testing/certificates.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/scripted_peer.h"
#include "workload/kubernetes/informer.h"

namespace kepler::workload::kubernetes {

using kepler::testing::FakeClock;
using kepler::testing::ScriptedPeer;

inline std::string Ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}
inline std::string Refuse(unsigned code, const std::string& message) {
  const std::string body = R"({"kind":"Status","message":")" + message + R"("})";
  return "HTTP/1.1 " + std::to_string(code) + " No\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}
inline std::string PodsAnswer(const std::string& name) {
  return R"({"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":")" + name +
         R"(","namespace":"shop","uid":"u1"},"status":{"containerStatuses":[{"name":"c","containerID":"containerd://id1"}]}}]})";
}

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() { tree_.Write("token", "t0k"); }

  [[nodiscard]] kepler::testing::PeerCertificate Certificate(const kepler::testing::Certificate& authority) const {
    const auto leaf = kepler::testing::MakeLeaf(authority, "server", "IP:127.0.0.1");
    return {leaf.cert, leaf.key};
  }
  void Answer(const std::string& head, const ScriptedPeer::Send& send) {
    const std::scoped_lock lock(mutex_);
    // The time of a watch is random.
    static const std::regex kTime("timeoutSeconds=[2-5][0-9]&");
    const std::string target = std::regex_replace(head.substr(4, head.find(' ', 4) - 4), kTime, "timeoutSeconds=N&");
    targets_.push_back(target);
    if (!head.contains("Authorization: Bearer " + token_ + "\r\n")) {
      send(Refuse(401, "Unauthorized"));
      return;
    }
    const auto answer = answers_.find(target);
    send(answer != answers_.end() ? answer->second : Refuse(404, "not found: " + target));
  }
  ScriptedPeer::Script Script() {
    return
        [this](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) { Answer(head, send); };
  }
  void Serve(const std::string& target, std::string answer) {
    const std::scoped_lock lock(mutex_);
    answers_[target] = std::move(answer);
  }
  void Accept(const std::string& token) {
    const std::scoped_lock lock(mutex_);
    token_ = token;
  }
  std::vector<std::string> Targets() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(targets_, {});
  }
  void ServeNode(uint16_t port) {
    Serve("/api/v1/nodes/n1", Ok(R"({"kind":"Node","status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"},
      {"type":"Hostname","address":"node-host"}],
      "daemonEndpoints":{"kubeletEndpoint":{"Port":)" +
                                 std::to_string(port) + "}}}}"));
  }
  [[nodiscard]] AccessFinder Access() {
    return [this]() -> Result<ClusterAccess> {
      return ClusterAccess{.api = {.host = "127.0.0.1", .port = api_.port(), .ca = believed_},
                           .token_file = tree_.Path("token"),
                           .kubelet_ca = kubelet_ca_};
    };
  }
  /// What the log says of it.
  static std::string Refresh(Informer& informer) {
    ::testing::internal::CaptureStdout();
    informer.Refresh({});
    return ::testing::internal::GetCapturedStdout();
  }

  kepler::testing::FakeTree tree_;
  FakeClock clock_;
  std::mutex mutex_;
  std::string token_ = "t0k";
  std::map<std::string, std::string> answers_;
  std::vector<std::string> targets_;
  const kepler::testing::Certificate authority_ = kepler::testing::MakeAuthority("cluster");
  std::string believed_ = authority_.cert;
  std::string kubelet_ca_;
  ScriptedPeer api_{Script(), Certificate(authority_)};
  ScriptedPeer kubelet_{Script(), Certificate(authority_)};
};

}  // namespace kepler::workload::kubernetes
