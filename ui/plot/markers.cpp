// The shapes that tell series apart where colours do not.
#include <algorithm>

#include "ui/plot/frame.h"

namespace lab::ui::plot {
namespace {

void fill(ImDrawList* list, Marker marker, ImVec2 at, float r, ImU32 color) {
  switch (marker) {
    case Marker::None:
    case Marker::Cross: break;
    case Marker::Circle: list->AddCircleFilled(at, r, color); break;
    case Marker::Square: {
      const float h = r * 0.9F;
      list->AddRectFilled({at.x - h, at.y - h}, {at.x + h, at.y + h}, color);
      break;
    }
    case Marker::Triangle: {
      const float h = r * 1.2F;
      list->AddTriangleFilled({at.x, at.y - h}, {at.x + h, at.y + h * 0.75F},
                              {at.x - h, at.y + h * 0.75F}, color);
      break;
    }
    case Marker::Wedge: {
      const float h = r * 1.2F;
      list->AddTriangleFilled({at.x, at.y + h}, {at.x - h, at.y - h * 0.75F},
                              {at.x + h, at.y - h * 0.75F}, color);
      break;
    }
    case Marker::Diamond: {
      const float h = r * 1.3F;
      list->AddQuadFilled({at.x, at.y - h}, {at.x + h, at.y}, {at.x, at.y + h}, {at.x - h, at.y},
                          color);
      break;
    }
  }
}

void draw_cross(ImDrawList* list, ImVec2 at, float r, ImU32 color, bool upright) {
  const float h = r * 0.95F, w = std::max(1.0F, r * 0.55F);
  if (upright) {
    list->AddLine({at.x - h, at.y}, {at.x + h, at.y}, color, w);
    list->AddLine({at.x, at.y - h}, {at.x, at.y + h}, color, w);
  } else {
    list->AddLine({at.x - h, at.y - h}, {at.x + h, at.y + h}, color, w);
    list->AddLine({at.x - h, at.y + h}, {at.x + h, at.y - h}, color, w);
  }
}

}  // namespace

void draw_marker(ImDrawList* list, Marker marker, ImVec2 at, float r, ImU32 color, ImU32 back,
                 bool hollow) {
  if (marker == Marker::None) return;
  const float rim = std::max(1.0F, r * 0.4F);
  if (marker == Marker::Cross) {
    list->AddCircleFilled(at, r + rim, back);
    draw_cross(list, at, r, color, hollow);
    return;
  }
  // Corners need more of a rim than sides.
  const bool pointed = marker != Marker::Circle && marker != Marker::Square;
  fill(list, marker, at, r + rim * (pointed ? 1.2F : 1.0F), back);
  fill(list, marker, at, r, color);
  if (hollow) fill(list, marker, at, r * 0.5F, back);
}

}  // namespace lab::ui::plot
