#pragma once
// A page for browsers that needs nothing but itself. Pure.
#include <string>
#include <string_view>
#include <vector>

namespace kepler::lab::plot {

struct Sheet {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // each as long as the head
};

/// `svg` as RenderSvg() has it, and the figures as tables below. Texts stand for themselves.
[[nodiscard]] std::string HtmlPage(std::string_view title, std::string_view svg, const std::vector<Sheet>& sheets);

}  // namespace kepler::lab::plot
