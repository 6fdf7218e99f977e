#pragma once
// Drawings as files, by Cairo, and as pages for browsers. Fonts are the machine's own (fontconfig's "sans-serif");
// without any, a plain one that Cairo has inside. Text in SVG is kept as outlines, so that it looks the same
// everywhere. Any thread.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/plot/drawing.h"

namespace kepler::lab::plot {

[[nodiscard]] Result<std::string> RenderSvg(const Drawing& drawing);
/// Two pixels for each of the drawing's.
[[nodiscard]] Result<std::string> RenderPng(const Drawing& drawing);

struct Sheet {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // each as long as the head
};

struct Section {
  std::string svg;  // as RenderSvg() has it; may be empty
  std::vector<Sheet> sheets;
};

/// A drawing of RenderSvg() as an element of an HTML page, with a label for screen readers. Each drawing of a page
/// needs another `number`: ids apply to the whole page, and every drawing has the same ones. Empty if `svg` is.
[[nodiscard]] std::string Figure(std::string_view svg, std::string_view label, size_t number);

/// A page that needs nothing but itself: of each section the drawing, and the figures as tables below. Texts stand for
/// themselves.
[[nodiscard]] std::string HtmlPage(std::string_view title, const std::vector<Section>& sections);

}  // namespace kepler::lab::plot
