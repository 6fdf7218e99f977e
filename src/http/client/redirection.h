#pragma once
// The hint for an answer that redirects: the client does not follow redirections. Pure.
#include <string>

#include "http/client/client.h"

namespace kepler::http::client {

/// Returns "the server redirects to URL; redirections are not followed, set that URL" for `answer` of `peer`; "" if
/// the answer does not redirect. The URL is shown without its query and without a password.
[[nodiscard]] std::string DescribeRedirection(const Peer& peer, const Answer& answer);

}  // namespace kepler::http::client
