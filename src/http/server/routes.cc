#include "http/server/routes.h"

#include <algorithm>

namespace kepler::http::server {

void Routes::Add(const Route& route, const Handler& handler) {
  // A budget below one body would refuse each body whose length is unknown.
  const size_t max_bodies = std::max(route.max_bodies, route.max_body);
  const Endpoint endpoint{handler, route.max_body, BodyBudget(max_bodies), route.runs_on, route.open};
  for (const auto& method : route.methods) by_path_[route.path].insert_or_assign(method, endpoint);
}

bool Routes::NeedWorkers() const {
  return std::ranges::any_of(by_path_, [](const auto& route) {
    return std::ranges::any_of(route.second,
                               [](const auto& method) { return method.second.runs_on == RunsOn::kWorkers; });
  });
}

Routes::Match Routes::Find(std::string_view path, std::string_view method) const {
  const Methods* methods = nullptr;
  for (const auto& [route, its] : by_path_) {
    const bool is_prefix = route.size() > 1 && route.ends_with('/');
    // The map sorts the prefixes of a path by length: the longest is last.
    if (path == route || (is_prefix && path.starts_with(route))) methods = &its;
  }
  if (methods == nullptr) return {};
  if (const auto found = methods->find(method == "HEAD" ? "GET" : method); found != methods->end())
    return {.endpoint = &found->second};
  Match match;
  for (const auto& [name, endpoint] : *methods)
    match.allow += (match.allow.empty() ? "" : ", ") + (name == "GET" ? "GET, HEAD" : name);
  return match;
}

}  // namespace kepler::http::server
