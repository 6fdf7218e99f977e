#include "http/server/routes.h"

#include <gtest/gtest.h>

namespace kepler::http::server {
namespace {

/// The largest body that the endpoint takes, which tells the routes apart; "allow ..." or "nothing" without a
/// route.
std::string Found(const Routes& routes, std::string_view path, std::string_view method = "GET") {
  const auto match = routes.Find(path, method);
  if (match.endpoint != nullptr) return std::to_string(match.endpoint->max_body);
  return match.allow.empty() ? "nothing" : "allow " + match.allow;
}

TEST(Routes, Path_IsExactUnlessItEndsInASlash) {
  Routes routes;
  routes.Add({.path = "/a", .max_body = 1}, {});
  routes.Add({.path = "/b/", .max_body = 2}, {});
  EXPECT_EQ(Found(routes, "/a"), "1");
  EXPECT_EQ(Found(routes, "/b/"), "2");
  EXPECT_EQ(Found(routes, "/b/c/d"), "2");
  for (const auto* path : {"/", "/a/", "/a/b", "/ab", "/b", "/bc", "", "*"})
    EXPECT_EQ(Found(routes, path), "nothing") << path;
}

TEST(Routes, Root_IsThatPageOnly) {
  Routes routes;
  routes.Add({.path = "/", .max_body = 1}, {});
  EXPECT_EQ(Found(routes, "/"), "1");
  EXPECT_EQ(Found(routes, "/a"), "nothing");
}

TEST(Routes, LongestPath_Wins) {
  Routes routes;
  routes.Add({.path = "/a/b/", .max_body = 2}, {});
  routes.Add({.path = "/a/", .max_body = 1}, {});
  routes.Add({.path = "/a/b/c", .max_body = 3}, {});
  routes.Add({.path = "/a/-", .max_body = 4}, {});  // between the two in any order of bytes
  EXPECT_EQ(Found(routes, "/a/x"), "1");
  EXPECT_EQ(Found(routes, "/a/b"), "1");
  EXPECT_EQ(Found(routes, "/a/b/x"), "2");
  EXPECT_EQ(Found(routes, "/a/b/c"), "3");
  EXPECT_EQ(Found(routes, "/a/b/c/"), "2");
}

TEST(Routes, Methods_AreOfThePath) {
  Routes routes;
  routes.Add({.path = "/a", .methods = {"PUT", "GET"}, .max_body = 1}, {});
  routes.Add({.path = "/a", .methods = {"DELETE"}, .max_body = 2}, {});
  routes.Add({.path = "/b", .methods = {"POST"}, .max_body = 3}, {});
  EXPECT_EQ(Found(routes, "/a", "HEAD"), "1");
  EXPECT_EQ(Found(routes, "/a", "PUT"), "1");
  EXPECT_EQ(Found(routes, "/a", "DELETE"), "2");
  EXPECT_EQ(Found(routes, "/a", "POST"), "allow DELETE, GET, HEAD, PUT");
  EXPECT_EQ(Found(routes, "/b", "HEAD"), "allow POST");
  EXPECT_EQ(Found(routes, "/b", "post"), "allow POST");  // methods are case-sensitive
}

TEST(Routes, SameAgain_Replaces) {
  Routes routes;
  routes.Add({.path = "/a", .max_body = 1}, {});
  routes.Add({.path = "/a", .max_body = 2}, {});
  EXPECT_EQ(Found(routes, "/a"), "2");
}

}  // namespace
}  // namespace kepler::http::server
