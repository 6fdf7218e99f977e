#pragma once
// The routes of training: POST /train, and GET, DELETE /jobs. Handlers answer from memory, or on the workers.
#include <string>

#include "http/server/server.h"
#include "modelserver/jobs/job_queue.h"

namespace kepler::modelserver::jobs {

/// Maximum size of a recording. The limit of the server for all bodies also limits the recordings in memory.
inline constexpr size_t kMaxTrainBytes = size_t{64} << 20;

/// Adds the routes, before the server starts. Both must outlive the requests. With users in the web file, the
/// server itself demands a login. `need_login` also refuses clients without login and certificate if there are none.
void AddJobRoutes(http::server::Server& server, JobQueue& queue, bool need_login);

/// One job, and all jobs, as JSON.
[[nodiscard]] std::string WriteJob(const JobView& job);
[[nodiscard]] std::string WriteJobs(const std::vector<JobView>& jobs);

/// The metrics in the text format of Prometheus.
[[nodiscard]] std::string WriteJobMetrics(const JobQueue& queue);

}  // namespace kepler::modelserver::jobs
