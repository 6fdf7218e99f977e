#pragma once
// Drawings as files, by Cairo. Fonts are the machine's own (fontconfig's "sans-serif"); without any, a plain one that
// Cairo has inside. Text in SVG is kept as outlines, so that it looks the same everywhere. Any thread.
#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/plot/drawing.h"

namespace kepler::lab::plot {

[[nodiscard]] Result<std::string> RenderSvg(const Drawing& drawing);
/// Two pixels for each of the drawing's.
[[nodiscard]] Result<std::string> RenderPng(const Drawing& drawing);

}  // namespace kepler::lab::plot
