#pragma once
// What members may be called and be. Pure; internal to the room.
#include <cstdint>
#include <string_view>

namespace kepler::lab::files {

/// Types of files in the modes that archives made on Unix have (inode(7)).
inline constexpr uint32_t kTypeMask = 0170000;
inline constexpr uint32_t kRegularFile = 0100000;
inline constexpr uint32_t kLink = 0120000;
inline constexpr uint32_t kDirectory = 0040000;

/// Why a member cannot be called so, or "".
[[nodiscard]] std::string_view WhyNoName(std::string_view name);

}  // namespace kepler::lab::files
