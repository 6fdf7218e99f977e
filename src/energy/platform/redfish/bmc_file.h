#pragma once
// The BMC file: which BMC each node has, and how to log in to it. Upstream's format, with more keys:
//
//   nodes: {worker-1: bmc-1}            # node name: id of its BMC
//   chassis: {worker-1: [Blade1]}       # optional; ids of the chassis that are the node. Without: all of the BMC
//   bmcs:
//     bmc-1:
//       endpoint: https://10.0.0.1
//       username: kepler
//       password: secret                # or passwordFile: /etc/kepler/bmc-password
//       insecure: false                 # true: the certificate of the BMC is not verified
//       caFile: bmc-ca.pem              # certFile, keyFile: of the client
//       auth: basic                     # or session
//
// Relative paths are relative to the directory of the file. Any thread.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/small_file.h"
#include "http/client/peer.h"

namespace kepler::energy::platform::redfish {

enum class Auth : uint8_t {
  kBasic,   // name and password in each request
  kSession  // log in once; the BMC keeps a session until it is deleted or expires
};

/// An entry of `bmcs`. Paths are absolute or relative to the working directory.
struct Bmc {
  std::string endpoint;
  std::string username;  // "": no login
  std::string password;
  std::string password_file;
  bool insecure = false;
  std::string ca_file;  // "": the CAs of the system
  std::string cert_file, key_file;
  Auth auth = Auth::kBasic;
  bool operator==(const Bmc&) const = default;
};

/// The part of the file that is about one node.
struct NodeBmc {
  std::string id;
  Bmc bmc;
  http::client::Peer peer;           // address from the endpoint; no certificates yet
  std::vector<std::string> chassis;  // empty: all
  bool operator==(const NodeBmc&) const = default;
};

/// Parses the whole file and returns the entry of `node`. `path` is where `text` came from. kInvalid for a mistake
/// anywhere in the file: the message begins with PATH, and :LINE if there is one. It never contains a password.
[[nodiscard]] Result<NodeBmc> ParseBmcFile(std::string_view text, const std::string& path, std::string_view node);

/// Everything that a client of the BMC needs.
struct BmcAccess {
  std::string id;
  http::client::Peer peer;
  std::string username;  // "": no login
  std::string password;
  Auth auth = Auth::kBasic;
  std::vector<std::string> chassis;  // empty: all
  std::string warning;               // the file works, but is unsafe; "" if it is safe
};

/// The files that a BmcAccess was read from, as they were right before.
using FileStamps = std::vector<std::pair<std::string, FileStamp>>;
[[nodiscard]] bool HaveChanged(const FileStamps& stamps);

/// Reads the BMC file and the files that it names. `stamps` is set even if there is an error, so that a corrected file
/// is noticed.
[[nodiscard]] Result<BmcAccess> ReadBmcFile(const std::string& path, std::string_view node, FileStamps& stamps);

}  // namespace kepler::energy::platform::redfish
