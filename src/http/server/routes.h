#pragma once
// Which handler a method and a path mean. Pure; fixed once the server runs.
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
    const Endpoint* endpoint = nullptr;  // null: no such method here; lives as long as the routes
    std::string allow{};                 // then: which methods there are; "" where there is nothing at the path
  };

  /// The same method and path again replace what was there.
  void Add(const Route& route, const Handler& handler);
  /// Whether a route runs on workers.
  [[nodiscard]] bool NeedWorkers() const;
  /// The longest path that is `path`, or is a prefix of it. HEAD is GET.
  [[nodiscard]] Match Find(std::string_view path, std::string_view method) const;

 private:
  using Methods = std::map<std::string, Endpoint, std::less<>>;
  std::map<std::string, Methods, std::less<>> by_path_;
};

}  // namespace kepler::http::server
