#pragma once
// Routes: finds the handler for a method and a path. Pure; does not change while the server runs.
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "http/server/body_budget.h"
#include "http/server/server.h"

namespace kepler::http::server {

class Routes {
 public:
  struct Endpoint {
    Handler handler;
    size_t max_body = 0;
    BodyBudget bodies;  // of the route, whatever the method
    RunsOn runs_on = RunsOn::kIoThread;
    bool open = false;
  };
  struct Match {
    const Endpoint* endpoint = nullptr;  // null: the path does not have the method; valid as long as the routes
    std::string allow{};                 // if null: the methods of the path; "" for an unknown path
  };

  /// Replaces the handler of the same method and path, if there is one.
  void Add(const Route& route, const Handler& handler);
  /// Returns true if any route runs on workers.
  [[nodiscard]] bool NeedWorkers() const;
  /// Finds the route with the longest path that is equal to `path` or a prefix of it. HEAD counts as GET.
  [[nodiscard]] Match Find(std::string_view path, std::string_view method) const;

 private:
  using Methods = std::map<std::string, Endpoint, std::less<>>;
  std::map<std::string, Methods, std::less<>> by_path_;
};

}  // namespace kepler::http::server
