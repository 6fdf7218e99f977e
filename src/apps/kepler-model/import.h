#pragma once
// What the two forms of kepler-model import have in common: one file, and all archives of a pipeline.
#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/files/model_archive.h"

namespace kepler::lab::tool {

/// A model from elsewhere, and what its file states about it.
struct Imported {
  files::SharedModel shared;
  std::string kind;    // "an archive of Kepler's model server"
  std::string stated;  // errors; may be empty
  bool has_card = false;
};

/// Reads an archive of export or of Kepler's model server.
[[nodiscard]] Result<Imported> ReadPackedModel(std::string_view bytes);

/// What `import --pipeline` works on.
struct PipelineImport {
  std::string pipeline;  // directory of one pipeline in a database of Kepler 0.7
  std::string output;    // directory for a directory per model, and for index.json
  std::string data;      // table of several machines; may be empty
  std::string group;     // its column with the node type of each row
  bool json = false;
};

/// Writes one model per archive of the pipeline. An archive that cannot be imported is listed with the reason; an error
/// if none can.
[[nodiscard]] Status ImportPipeline(const PipelineImport& config);

}  // namespace kepler::lab::tool
