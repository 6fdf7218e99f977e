#pragma once
// For tests: a BMC on 127.0.0.1 with resources that a test writes down, logins, sessions and faults.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "testing/scripted_peer.h"

namespace kepler::energy::platform::redfish {

class FakeBmc {
 public:
  static constexpr std::string_view kUser = "kepler";
  static constexpr std::string_view kPassword = "geheim";
  static constexpr std::string_view kBasic = "Basic a2VwbGVyOmdlaGVpbQ==";
  /// Returns false if the connection must be closed.
  using Fault = std::function<bool(testing::PeerConnection& client, const std::stop_token& stop)>;

  explicit FakeBmc(const testing::PeerCertificate& certificate = {})
      : peer_(testing::ScriptedPeer::Conversation(
                  [this](testing::PeerConnection& client, const std::stop_token& stop) { Serve(client, stop); }),
              certificate) {
    Set("/redfish/v1/", R"({"Chassis": {"@odata.id": "/redfish/v1/Chassis"},
                            "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}}})");
    Set("/redfish/v1/Chassis", R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1"}]})");
    Set("/redfish/v1/Chassis/1", R"({"Id": "1", "Power": {"@odata.id": "/redfish/v1/Chassis/1/Power"}})");
    SetWatts("300");
  }

  [[nodiscard]] uint16_t port() const { return peer_.port(); }
  [[nodiscard]] size_t connections() const { return peer_.connections(); }

  void Set(const std::string& uri, const std::string& body) { Answer(uri, "200 OK", body); }
  void SetWatts(const std::string& watts) {
    Set("/redfish/v1/Chassis/1/Power",
        R"({"PowerControl": [{"MemberId": "0", "Name": "Server", "PowerConsumedWatts": )" + watts + "}]}");
  }
  /// `status`: the status line without HTTP/1.1, with more headers after CR LF.
  void Answer(const std::string& uri, const std::string& status, const std::string& body) {
    const std::scoped_lock lock(mutex_);
    faults_.erase(uri);
    answers_[uri] = Text(status, body);
  }
  void Break(const std::string& uri, Fault fault) {
    const std::scoped_lock lock(mutex_);
    faults_[uri] = std::move(fault);
  }
  enum class Login { kBasic, kSession };
  void Require(Login login) {
    const std::scoped_lock lock(mutex_);
    login_ = login;
  }
  void ChangePassword() {
    const std::scoped_lock lock(mutex_);
    password_changed_ = true;
  }
  void ExpireSessions() {
    const std::scoped_lock lock(mutex_);
    sessions_.clear();
  }
  [[nodiscard]] size_t sessions() const {
    const std::scoped_lock lock(mutex_);
    return sessions_.size();
  }
  [[nodiscard]] size_t max_sessions() const {
    const std::scoped_lock lock(mutex_);
    return max_sessions_;
  }
  /// "METHOD URI" of each request since the last call.
  [[nodiscard]] std::vector<std::string> TakeRequests() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(requests_, {});
  }

 private:
  static std::string Text(const std::string& status, const std::string& body) {
    return fmt::format("HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
                       body.size(), body);
  }
  static std::string HeaderOf(const std::string& head, const std::string& name) {
    const size_t at = head.find(fmt::format("\r\n{}: ", name));
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }

  void Serve(testing::PeerConnection& client, const std::stop_token& stop) {
    while (const auto head = client.ReadHead()) {
      const size_t space = head->find(' ');
      const std::string method = head->substr(0, space);
      const std::string uri = head->substr(space + 1, head->find(' ', space + 1) - space - 1);
      const std::string body = client.ReadBytes(ParseNumber<size_t>(HeaderOf(*head, "Content-Length")).value_or(0));
      std::string answer;
      Fault fault;
      {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(method + " " + uri);
        if (const auto found = faults_.find(uri); found != faults_.end())
          fault = found->second;
        else
          answer = AnswerTo(method, uri, *head, body);
      }
      if (fault ? !fault(client, stop) : !client.Send(answer)) return;
    }
  }
  std::string AnswerTo(const std::string& method, const std::string& uri, const std::string& head,
                       const std::string& body) {
    if (method == "POST") return LogIn(body);
    const std::string token = HeaderOf(head, "X-Auth-Token");
    const bool has_login = login_ == Login::kSession ? sessions_.contains(token)
                           : login_ == Login::kBasic ? HeaderOf(head, "Authorization") == kBasic && !password_changed_
                                                     : true;
    if (!has_login && uri != "/redfish/v1/")
      return Text("401 Unauthorized", R"({"error": {"message": "Unauthorized"}})");
    if (method == "DELETE") {
      sessions_.erase(token);
      return Text("200 OK", "{}");
    }
    const auto answer = answers_.find(uri);
    return answer != answers_.end() ? answer->second : Text("404 Not Found", R"({"error": {"message": "no such"}})");
  }
  std::string LogIn(const std::string& body) {
    if (!body.contains(R"("UserName": "kepler")") || !body.contains(R"("Password": "geheim")") || password_changed_)
      return Text("401 Unauthorized", "{}");
    const std::string token = "token-" + std::to_string(++made_);
    sessions_.insert(token);
    max_sessions_ = std::max(max_sessions_, sessions_.size());
    return Text("201 Created\r\nX-Auth-Token: " + token +
                    "\r\nLocation: https://bmc.example/redfish/v1/SessionService/Sessions/" + std::to_string(made_),
                "{}");
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> answers_;
  std::map<std::string, Fault> faults_;
  std::vector<std::string> requests_;
  std::optional<Login> login_;
  bool password_changed_ = false;
  std::set<std::string> sessions_;  // tokens
  size_t made_ = 0;
  size_t max_sessions_ = 0;
  testing::ScriptedPeer peer_;  // keep last: its threads use the others
};

}  // namespace kepler::energy::platform::redfish
