#pragma once
// Where labels that stand on their lines go. Pure.
#include <imgui.h>

#include <optional>
#include <span>
#include <vector>

namespace lab::ui::plot {

struct LineLabel {
  std::span<const ImVec2> path;  // the label's own line, in pixels
  ImVec2 size{0, 0};             // of the label
};

struct Box {
  ImVec2 min{0, 0}, max{0, 0};
};

bool crosses(const Box& box, ImVec2 a, ImVec2 b);

// For each label the box centred on that point of its line where it covers the fewest other lines
// and points, the earliest such point; it lies inside `area` and on no label before it. Empty:
// there is no room. `lines` are all lines of the plot, the labels' own among them.
std::vector<std::optional<Box>> place_line_labels(std::span<const LineLabel> labels,
                                                  std::span<const std::span<const ImVec2>> lines,
                                                  const Box& area);

}  // namespace lab::ui::plot
