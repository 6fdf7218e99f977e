#pragma once
// OpenGroups: the containers, or the pods, that have an account in the ledger, by their id. Attribution reports once
// per tick which ones ended or lost their account; nothing asks the ledger. A look-up allocates nothing. Collection
// thread only.
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "attribution/group_accounts.h"

namespace kepler::pipeline {

class OpenGroups {
 public:
  struct Group {
    std::string kind;  // runtime of a container; "" for a pod
    std::string id;
    attribution::Row pod = attribution::kNoRow;  // of a container
    bool running = false;                        // false: ended, but still listed
  };

  /// The row of the group, running or ended; kNoRow if it has no account.
  [[nodiscard]] attribution::Row Find(std::string_view kind, std::string_view id) const {
    const auto it = rows_.find(Key{kind, id});
    return it == rows_.end() ? attribution::kNoRow : it->second;
  }
  [[nodiscard]] bool IsRunning(std::string_view kind, std::string_view id) const {
    const attribution::Row row = Find(kind, id);
    return row != attribution::kNoRow && groups_[row].running;
  }
  /// The ledger gave this row to the group, which runs.
  void Open(attribution::Row row, std::string_view kind, std::string_view id);
  /// The group runs (again).
  void Touch(attribution::Row row) { groups_[row].running = true; }
  /// What attribution reports at the end of a tick.
  void Close(const attribution::ClosedGroups& closed);

  [[nodiscard]] attribution::Row size() const {
    return static_cast<attribution::Row>(groups_.size());
  }  // with free rows
  [[nodiscard]] Group& operator[](attribution::Row row) { return groups_[row]; }

 private:
  using Key = std::pair<std::string_view, std::string_view>;

  std::deque<Group> groups_;  // by row; the keys point into it
  boost::unordered_flat_map<Key, attribution::Row> rows_;
};

}  // namespace kepler::pipeline
