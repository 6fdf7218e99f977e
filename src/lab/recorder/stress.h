#pragma once
// stress-ng as a child: it and all that it starts end with this object, and with this process.
#include <sys/types.h>

#include <optional>
#include <set>
#include <string>

#include "base/result.h"

namespace kepler::lab::recorder {

/// kNotFound, with the package that has it, where there is none in PATH.
[[nodiscard]] Result<std::string> FindStressNg();
/// The names of the stressors that `program` knows.
[[nodiscard]] Result<std::set<std::string, std::less<>>> ListStressors(const std::string& program);

class Stress {
 public:
  /// It ends by itself after `seconds`, should nobody be there any more to end it.
  [[nodiscard]] static Result<Stress> Start(const std::string& program, const std::string& stressor, unsigned instances,
                                            unsigned seconds);
  Stress(Stress&& other) noexcept;
  Stress& operator=(Stress&&) = delete;
  ~Stress();

  [[nodiscard]] bool IsRunning();
  /// "exit code 2", "signal 9"; empty while it runs.
  [[nodiscard]] std::string Ending() const;

 private:
  explicit Stress(pid_t leader) : leader_(leader) {}

  pid_t leader_;                       // of its process group; 0: of nobody
  std::optional<std::string> ending_;  // it is reaped with this object: its group keeps its number until then
};

}  // namespace kepler::lab::recorder
