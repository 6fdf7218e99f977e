#pragma once
// The former names of the structs of src/status, until every room uses the new ones.
#include "status/activity_status.h"
#include "status/agent_status.h"
#include "status/energy_status.h"
#include "status/estimate_status.h"
#include "status/http_status.h"
#include "status/model_store_status.h"
#include "status/node_load.h"
#include "status/pod_informer_status.h"

namespace kepler::snapshot {

using status::ActivityStatus;
using status::AuditStatus;
using status::DeniedRequests;
using status::Domain;
using status::EstimateStatus;
using status::HttpStatus;
using status::ModelStoreStatus;
using status::NodeFeatures;
using status::NodeSoftirqs;
using status::PipelineStatus;
using status::PodInformerStatus;
using status::RecordCount;
using status::RefusedClaims;
using status::SelfStatus;
using status::SourceStatus;
using status::Zone;
using status::ZoneDomains;
using status::ZoneModel;

}  // namespace kepler::snapshot
