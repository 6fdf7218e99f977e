#pragma once
// A running server on 127.0.0.1 with a few handlers, for the tests.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "http/server/server.h"
#include "http/server/test_client.h"

namespace kepler::http::server::testing {

inline Response Text(std::string text) { return {.body = std::make_shared<const std::string>(std::move(text))}; }

/// "/hello" answers "hello\n" at once.
inline std::unique_ptr<Server> MakeServer(Limits limits = {}, std::string web_file = "") {
  auto server =
      Server::Create({.listen_addresses = {"127.0.0.1:0"}, .web_config_file = std::move(web_file), .limits = limits});
  EXPECT_TRUE(server) << server.error().message;
  if (!server) return nullptr;
  (*server)->Handle("/hello", [](const Request&, const Responder& answer) {
    answer({.body = std::make_shared<const std::string>("hello\n")});
  });
  return *std::move(server);
}

inline std::unique_ptr<Server> StartServer(Limits limits = {}, std::string web_file = "") {
  auto server = MakeServer(limits, std::move(web_file));
  if (!server) return nullptr;
  EXPECT_TRUE(server->Start());
  return server;
}

inline TestClient Connect(const Server& server) { return TestClient(server.addresses().front()); }

}  // namespace kepler::http::server::testing
