#include "modelserver/jobs/job_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "modelserver/jobs/train_request.h"
#include "modelserver/jobs/trained_models.h"

namespace kepler::modelserver::jobs {
namespace {

using http::server::Request;
using http::server::Responder;
using http::server::Response;
using http::server::RunsOn;

constexpr std::string_view kJobs = "/jobs/";
constexpr size_t kMaxLogBytes = size_t{1} << 20;

Response Text(unsigned status, std::string text, std::string type = "text/plain; charset=utf-8") {
  return {
      .status = status, .content_type = std::move(type), .body = std::make_shared<const std::string>(std::move(text))};
}

Response Json(unsigned status, std::string text) { return Text(status, std::move(text), "application/json"); }

Response Zip(std::string bytes, std::string_view name) {
  Response response = Text(200, std::move(bytes), "application/zip");
  response.headers.emplace_back("Content-Disposition", fmt::format("attachment; filename={}.zip", name));
  return response;
}

Response Refusal(unsigned status, std::string_view reason) {
  return Text(status, SanitizeUtf8(EscapeControls(reason), 1000) + "\n");
}

/// What a synchronous client gets at the end.
Response ResponseOf(const JobView& job, std::string result) {
  if (job.state == JobState::kDone) return Zip(std::move(result), job.name);
  const unsigned status = job.state != JobState::kFailed ? 503 : job.is_server_fault ? 500 : 400;
  return Refusal(status, fmt::format("training {}: {}; GET {}{}/log", Name(job.state), job.reason, kJobs, job.id));
}

bool IsAsync(const Request& request) { return ToLowerAscii(request.headers.Get("Prefer")).contains("respond-async"); }

void OnTrain(JobQueue& queue, const Request& request, const Responder& answer) {
  if (request.body == nullptr) return answer(Refusal(400, "the body is empty"));
  const auto read = ReadTrainRequest(*request.body);
  if (!read) return answer(Refusal(400, read.error().message));
  Job job{.name = read->name,
          .user = request.user,
          .input_name = "recording.json",
          .input = read->recording,
          .steps = TrainSteps(*read),
          .collect = ArchiveOfTrained};
  const bool is_async = IsAsync(request);
  if (!is_async)
    job.done = [answer](const JobView& ended, std::string result) { answer(ResponseOf(ended, std::move(result))); };
  const auto id = queue.Add(std::move(job));
  if (!id) return answer(Refusal(id.error().kind == ErrorKind::kUnavailable ? 503 : 500, id.error().message));
  if (!is_async) return;
  Response accepted = Json(202, WriteJob(queue.Find(*id).value_or(JobView{})) + "\n");
  accepted.headers = {{"Location", std::string(kJobs) + *id}, {"Preference-Applied", "respond-async"}};
  answer(std::move(accepted));
}

Response OnJob(JobQueue& queue, const Request& request) {
  const std::string_view rest = std::string_view(request.path).substr(kJobs.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view id = rest.substr(0, slash);
  const std::string_view part = rest.substr(slash);
  const auto job = queue.Find(id);
  if (!job) return Refusal(404, "there is no such job; GET /jobs lists them");
  if (part.empty()) return Json(200, WriteJob(*job) + "\n");
  if (part != "/log" && part != "/result") return Refusal(404, "a job has /log and /result");
  auto text = part == "/log" ? queue.Log(id, kMaxLogBytes) : queue.ReadResult(id);
  if (!text) return Refusal(text.error().kind == ErrorKind::kNotFound ? 404 : 500, text.error().message);
  // Sanitizing makes a byte three at most. It must not cut the end of the log, which has the error.
  return part == "/log" ? Text(200, SanitizeUtf8(*text, 4 * kMaxLogBytes)) : Zip(*std::move(text), job->name);
}

Response OnCancel(JobQueue& queue, const Request& request) {
  const std::string_view id = std::string_view(request.path).substr(kJobs.size());
  if (!queue.Find(id)) return Refusal(404, "there is no such job; GET /jobs lists them");
  if (!queue.Cancel(id)) return Refusal(409, "the job has ended");
  return Text(202, "the job is cancelled\n");
}

}  // namespace

std::string WriteJob(const JobView& job) {
  const auto asked = std::chrono::duration<double>(job.asked.time_since_epoch()).count();
  return fmt::format(
      R"({{"id":{},"name":{},"user":{},"status":"{}","reason":{},"server_fault":{},"asked_at":{:.0f},"seconds":{:.3f},)"
      R"("result_bytes":{}}})",
      json::Quote(job.id), json::Quote(job.name), json::Quote(job.user), Name(job.state), json::Quote(job.reason),
      job.is_server_fault, asked, job.seconds, job.result_bytes);
}

std::string WriteJobs(const std::vector<JobView>& jobs) {
  std::string list;
  for (const JobView& job : jobs) list += (list.empty() ? "" : ",") + WriteJob(job);
  return "{\"jobs\":[" + list + "]}\n";
}

void AddJobRoutes(http::server::Server& server, JobQueue& queue, bool need_login) {
  const auto add = [&](const http::server::Route& route, http::server::Handler handler) {
    if (!need_login) return server.Handle(route, handler);
    server.Handle(route, [handler = std::move(handler)](const Request& request, const Responder& answer) {
      if (!request.user.empty() || !request.peer.certificate.empty()) return handler(request, answer);
      answer(Refusal(403, "training needs a login or a client certificate, because of --readers=open"));
    });
  };
  add({.path = "/train",
       .methods = {"POST"},
       .max_body = kMaxTrainBytes,
       .max_bodies = kMaxTrainBytes,
       .runs_on = RunsOn::kWorkers},
      [&queue](const Request& request, const Responder& answer) { OnTrain(queue, request, answer); });
  add({.path = "/jobs", .runs_on = RunsOn::kWorkers},
      [&queue](const Request& /*request*/, const Responder& answer) { answer(Json(200, WriteJobs(queue.All()))); });
  add({.path = std::string(kJobs), .runs_on = RunsOn::kWorkers},
      [&queue](const Request& request, const Responder& answer) { answer(OnJob(queue, request)); });
  add({.path = std::string(kJobs), .methods = {"DELETE"}, .runs_on = RunsOn::kWorkers},
      [&queue](const Request& request, const Responder& answer) { answer(OnCancel(queue, request)); });
}

std::string WriteJobMetrics(const JobQueue& queue) {
  std::string page =
      "# HELP kepler_model_server_jobs Training jobs that wait or run\n# TYPE kepler_model_server_jobs gauge\n";
  const auto jobs = queue.All();
  for (const JobState state : {JobState::kQueued, JobState::kRunning})
    page += fmt::format("kepler_model_server_jobs{{state=\"{}\"}} {}\n", Name(state),
                        std::ranges::count(jobs, state, &JobView::state));
  page +=
      "# HELP kepler_model_server_ended_jobs_total Training jobs that have ended\n"
      "# TYPE kepler_model_server_ended_jobs_total counter\n";
  const auto ended = queue.ended();
  for (const JobState state : {JobState::kDone, JobState::kFailed, JobState::kTimedOut, JobState::kCancelled})
    page += fmt::format("kepler_model_server_ended_jobs_total{{state=\"{}\"}} {}\n", Name(state),
                        ended[static_cast<size_t>(state)]);
  return page;
}

}  // namespace kepler::modelserver::jobs
