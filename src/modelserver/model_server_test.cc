// The routes of the model server over a real socket.
#include "modelserver/model_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "http/server/test_client.h"
#include "modelserver/decision_log.h"
#include "modelserver/store_test_util.h"

namespace kepler::modelserver {
namespace {

using http::server::testing::Reply;
using http::server::testing::TestClient;
using ::testing::HasSubstr;

struct ModelServerTest : ::testing::Test {
  kepler::testing::FakeTree files;
  ModelServer models{{.store = files.root(), .rules = {}, .version = "1.2.3"}};
  std::unique_ptr<http::server::Server> server;

  ModelServerTest() {
    testing::WriteStore(files);
    EXPECT_TRUE(models.Load());
    server = http::server::Server::Create({.listen_addresses = {"127.0.0.1:0"}}).value();
    models.AddRoutes(*server);
    EXPECT_TRUE(server->Start());
  }
  ~ModelServerTest() override { server->Stop(); }

  [[nodiscard]] TestClient Connect() const { return TestClient(server->addresses().front()); }
  [[nodiscard]] Reply Get(std::string_view path) const { return Connect().Get(path); }
  [[nodiscard]] Reply Post(std::string_view path, std::string_view body,
                           std::string_view type = "application/json") const {
    TestClient client = Connect();
    client.Send(fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", path,
                            type, body.size(), body));
    return client.Read();
  }
};

constexpr std::string_view kRequest =
    R"({"metrics":["bpf_cpu_time_ms","bpf_page_cache_hit"],"output_type":"AbsPower","source":"rapl-sysfs",)"
    R"("trainer_name":"SGDRegressorTrainer","filter":""})";

TEST_F(ModelServerTest, AnswersTheRoutesOfUpstream) {
  const Reply model = Post("/model", kRequest);
  EXPECT_EQ(model.status, 200U) << model.body;
  EXPECT_EQ(model.body, testing::Archive({.name = "SGDRegressorTrainer_1", .mae = 7}));
  EXPECT_EQ(model.headers.at("content-disposition"), "attachment; filename=SGDRegressorTrainer_1.zip");
  EXPECT_EQ(Get("/best-models?node-type=0").body, "{\"AbsPower\":{\"BPFOnly\":\"SGDRegressorTrainer_0\"}}\n");
  EXPECT_EQ(Post("/model", kRequest, "text/plain").status, 415U);
  EXPECT_EQ(Post("/model", "").status, 400U);
  EXPECT_EQ(Post("/model", std::string(kMaxRequestBytes + 1, ' ')).status, 413U);
  EXPECT_EQ(Get("/model").status, 405U);
}

TEST_F(ModelServerTest, GivesFilesOnlyOfItsIndex) {
  EXPECT_EQ(Get("/models/epyc/model.json").body, testing::OwnModel("trained", 40, "amd_epyc_9654"));
  EXPECT_EQ(Get("/models/epyc/model.json.sig").body, "signature");
  EXPECT_EQ(Get("/db/v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_0.json").body, testing::Weights(100));
  files.Write("secret", "not for clients");
  for (const char* path : {"/models/epyc/", "/models/epyc/card", "/models/none/model.json", "/models/../secret",
                           "/models/epyc/../../secret", "/db/secret", "/db/../secret", "/db/%2e%2e/secret",
                           "/db//secret", "/db/v0.7/ec2/metadata.json", "/models/SGDRegressorTrainer_0/model.json"}) {
    const Reply reply = Get(path);
    EXPECT_TRUE(reply.status == 404 || reply.status == 400) << path << " " << reply.status;
    EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("not for clients")));
  }
}

TEST_F(ModelServerTest, GivesAnAgentTheModelOfItsMachine) {
  const std::string query = "?machine=processor%3Damd_epyc_9654%2Ccores%3D64";
  EXPECT_EQ(Get("/best/model.json" + query).body, testing::OwnModel("trained", 40, "amd_epyc_9654"));
  EXPECT_EQ(Get("/best/model.json.sig" + query).body, "signature");
  EXPECT_EQ(Get("/best/model.json").status, 400U);
  EXPECT_EQ(Get("/best/model.json?machine=processor%3Dother").status, 404U);
  files.Remove("own/epyc/model.json.sig");
  models.Rescan(BootTime{});
  EXPECT_EQ(Get("/best/model.json.sig" + query).status, 404U);
}

TEST_F(ModelServerTest, PagesForPeople) {
  const Reply list = Get("/");
  EXPECT_EQ(list.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_THAT(list.headers.at("content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(list.body, HasSubstr("4 models"));
  EXPECT_THAT(Get("/models/epyc").body, HasSubstr("<h1>epyc</h1>"));
  EXPECT_THAT(Get("/models/v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_1").body,
              HasSubstr("<h1>SGDRegressor<wbr>Trainer_<wbr>1</h1>"));
  EXPECT_EQ(Get("/models/none").status, 404U);
}

TEST_F(ModelServerTest, PagesThatAreKeptFollowTheStore) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Get("/models/epyc").body, HasSubstr("<th>Signed</th><td>yes</td>"));
    EXPECT_THAT(Get("/").body, HasSubstr("4 models"));
    EXPECT_THAT(Get("/models").body, ::testing::Not(HasSubstr("second")));
  }
  files.Remove("own/epyc/model.json.sig");
  files.Write("own/second/model.json", testing::OwnModel("second", 1, "p"));
  models.Rescan(BootTime{});
  EXPECT_THAT(Get("/models/epyc").body, HasSubstr("<th>Signed</th><td>no</td>")) << "model.json is the same";
  EXPECT_THAT(Get("/").body, HasSubstr("5 models"));
  EXPECT_THAT(Get("/models").body, HasSubstr(R"("name":"second")"));
  files.Write(".versions/epyc/decisions.jsonl", DecisionLine({.reason = "a reason"}, "epyc") + "\n");
  EXPECT_THAT(Get("/models/epyc").body, HasSubstr("a reason"));
}

TEST_F(ModelServerTest, HealthListAndMetrics) {
  EXPECT_EQ(Get("/healthz").status, 200U);
  EXPECT_THAT(Get("/models").body, HasSubstr(R"("name":"epyc")"));
  EXPECT_EQ(Post("/model", "{}").status, 400U);
  const std::string page = Get("/metrics").body;
  EXPECT_THAT(page, HasSubstr("kepler_model_server_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("kepler_model_server_models{kind=\"archive\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("kepler_model_server_models{kind=\"own\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("kepler_model_server_requests_total{route=\"model\",code=\"400\"} 1\n"));
}

TEST_F(ModelServerTest, AScanThatFailsKeepsTheModels) {
  files.Write("own/second/model.json", testing::OwnModel("second", 1, "p"));
  models.Rescan(BootTime{});
  EXPECT_EQ(Get("/models/second/model.json").status, 200U);
  files.Remove("");
  models.Rescan(BootTime{});
  EXPECT_THAT(models.Metrics(), HasSubstr("kepler_model_server_failed_scans_total 1\n"));
  EXPECT_THAT(models.Metrics(), HasSubstr("kepler_model_server_models{kind=\"own\"} 2\n"));
}

TEST_F(ModelServerTest, UploadsNeedALogin) {
  TestClient client = Connect();
  client.Send("PUT /models/new HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
  const Reply reply = client.Read();
  EXPECT_EQ(reply.status, 403U);
  EXPECT_THAT(reply.body, HasSubstr("--web-config-file"));
}

TEST_F(ModelServerTest, OpenReadersNeedNoLoginAndWritersDo) {
  files.Write("web.yaml", "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n");
  for (const Readers readers : {Readers::kLogin, Readers::kOpen}) {
    ModelServer served({.store = files.root(), .rules = {}, .readers = readers, .version = ""});
    ASSERT_TRUE(served.Load());
    server->Stop();
    server =
        http::server::Server::Create({.listen_addresses = {"127.0.0.1:0"}, .web_config_file = files.Path("web.yaml")})
            .value();
    served.AddRoutes(*server);
    ASSERT_TRUE(server->Start());
    const unsigned expected = readers == Readers::kOpen ? 200 : 401;
    for (const char* path : {"/", "/models", "/models/epyc", "/models/epyc/model.json", "/models/epyc/model.json.sig",
                             "/best/model.json?machine=processor%3Damd_epyc_9654", "/best-models", "/healthz",
                             "/metrics", "/db/v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_0.json"})
      EXPECT_EQ(Get(path).status, expected) << path;
    EXPECT_EQ(Post("/model", kRequest).status, expected);
    TestClient writer = Connect();
    writer.Send("PUT /models/new HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(writer.Read().status, 401U);
    server->Stop();
  }
}

TEST_F(ModelServerTest, TheThreadScansWhenWoken) {
  ASSERT_TRUE(models.Watch(std::chrono::hours(1)));
  files.Write("own/third/model.json", testing::OwnModel("third", 1, "p"));
  models.Wake();
  while (models.answers().index()->FindOwn("third") == nullptr) std::this_thread::yield();
}

TEST(ModelServer, AMissingStoreIsAnError) {
  ModelServer models({.store = "/nowhere/at/all", .rules = {}, .version = ""});
  EXPECT_FALSE(models.Load());
}

}  // namespace
}  // namespace kepler::modelserver
