#include "ui/widgets/icons.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace lab::ui {
namespace {

constexpr float kPi = 3.14159265F;

// Draws in a 20 x 20 grid; coordinates at .5 are pixel centres at scale 1.
class Pen {
 public:
  Pen(ImDrawList* list, ImVec2 origin, float size, ImU32 color)
      : list_(list),
        origin_(std::round(origin.x), std::round(origin.y)),
        unit_(size / 20),
        color_(color),
        width_(std::max(1.0F, 1.6F * unit_)) {}

  void line(std::initializer_list<ImVec2> points, bool closed = false) {
    list_->PathClear();
    for (const ImVec2& p : points) list_->PathLineTo(at(p));
    list_->PathStroke(color_, closed ? ImDrawFlags_Closed : ImDrawFlags_None, width_);
  }
  void shape(std::initializer_list<ImVec2> points) {
    list_->PathClear();
    for (const ImVec2& p : points) list_->PathLineTo(at(p));
    list_->PathFillConvex(color_);
  }
  void rect(float x0, float y0, float x1, float y1, float radius) {
    list_->AddRect(at({x0, y0}), at({x1, y1}), color_, radius * unit_, 0, width_);
  }
  void circle(ImVec2 centre, float radius) {
    list_->AddCircle(at(centre), radius * unit_, color_, 0, width_);
  }
  void dot(ImVec2 centre, float radius = 1.2F) {
    list_->AddCircleFilled(at(centre), radius * unit_, color_);
  }
  // Angles are in turns, clockwise: 0 is right, 0.25 is down.
  void arc(ImVec2 centre, float radius, float from, float to) {
    list_->PathClear();
    list_->PathArcTo(at(centre), radius * unit_, from * 2 * kPi, to * 2 * kPi, 24);
    list_->PathStroke(color_, ImDrawFlags_None, width_);
  }

 private:
  ImVec2 at(ImVec2 p) const { return {origin_.x + p.x * unit_, origin_.y + p.y * unit_}; }

  ImDrawList* list_;
  ImVec2 origin_;
  float unit_;
  ImU32 color_;
  float width_;
};

// A gauge with its needle.
void tour(Pen& p) {
  p.arc({10, 11.5F}, 7.3F, 0.44F, 1.06F);
  p.line({{10, 11.5F}, {13.6F, 7.2F}});
  p.dot({10, 11.5F}, 1.4F);
}

// An open book.
void learn(Pen& p) {
  p.line({{10, 5}, {7, 3.6F}, {2.5F, 3.6F}, {2.5F, 15.2F}, {7, 15.2F}, {10, 16.8F}});
  p.line({{10, 16.8F}, {13, 15.2F}, {17.5F, 15.2F}, {17.5F, 3.6F}, {13, 3.6F}, {10, 5}});
  p.line({{10, 5}, {10, 16.8F}});
}

void devices(Pen& p) {
  p.rect(5.5F, 5.5F, 14.5F, 14.5F, 1.5F);
  p.rect(8.5F, 8.5F, 11.5F, 11.5F, 0.5F);
  for (const float at : {7.5F, 12.5F}) {
    p.line({{at, 2.5F}, {at, 5.5F}});
    p.line({{at, 14.5F}, {at, 17.5F}});
    p.line({{2.5F, at}, {5.5F, at}});
    p.line({{14.5F, at}, {17.5F, at}});
  }
}

void memory(Pen& p) {
  p.rect(2.5F, 5.5F, 17.5F, 13.5F, 1.5F);
  for (const float x : {6.5F, 10.0F, 13.5F}) p.line({{x, 8}, {x, 11}});
  for (const float x : {5.0F, 8.3F, 11.7F, 15.0F}) p.line({{x, 13.5F}, {x, 16.5F}});
}

void transfers(Pen& p) {
  p.line({{3, 7}, {17, 7}});
  p.line({{13.5F, 3.5F}, {17, 7}, {13.5F, 10.5F}});
  p.line({{17, 13}, {3, 13}});
  p.line({{6.5F, 9.5F}, {3, 13}, {6.5F, 16.5F}});
}

void matmul(Pen& p) {
  p.rect(2.5F, 2.5F, 17.5F, 17.5F, 2);
  for (const float at : {7.5F, 12.5F}) {
    p.line({{at, 2.5F}, {at, 17.5F}});
    p.line({{2.5F, at}, {17.5F, at}});
  }
}

void training(Pen& p) {
  p.line({{2.5F, 2.5F}, {2.5F, 17.5F}, {17.5F, 17.5F}});
  p.line({{5.5F, 4.5F}, {7, 9.5F}, {9.5F, 12.3F}, {13, 13.7F}, {17, 14.2F}});
}

// One, two, then four devices: bars that rise along a diagonal.
void scaling(Pen& p) {
  p.rect(2.5F, 12.5F, 6.5F, 17.5F, 0.8F);
  p.rect(8.0F, 8.5F, 12.0F, 17.5F, 0.8F);
  p.rect(13.5F, 3.5F, 17.5F, 17.5F, 0.8F);
  p.line({{2.5F, 9}, {8.5F, 3}});
  p.line({{5, 2.7F}, {8.8F, 2.7F}, {8.8F, 6.5F}});
}

void log(Pen& p) {
  for (const float y : {5.0F, 10.0F, 15.0F}) {
    p.dot({3.8F, y}, 1.1F);
    p.line({{7.5F, y}, {17, y}});
  }
}

void copy(Pen& p) {
  p.rect(7, 7, 16.5F, 16.5F, 1.8F);
  p.line({{4.5F, 12.8F}, {3.5F, 12.8F}, {3.5F, 3.5F}, {12.8F, 3.5F}, {12.8F, 4.5F}});
}

void eye(Pen& p) {
  p.arc({10, 16}, 9.5F, 0.625F, 0.875F);
  p.arc({10, 4}, 9.5F, 0.125F, 0.375F);
  p.circle({10, 10}, 2.4F);
}

void trash(Pen& p) {
  p.line({{3.5F, 5.5F}, {16.5F, 5.5F}});
  p.line({{7.5F, 5.3F}, {7.5F, 3}, {12.5F, 3}, {12.5F, 5.3F}});
  p.line({{5, 5.5F}, {5.8F, 17}, {14.2F, 17}, {15, 5.5F}});
  p.line({{8.5F, 8.5F}, {8.5F, 13.8F}});
  p.line({{11.5F, 8.5F}, {11.5F, 13.8F}});
}

void help(Pen& p) {
  p.circle({10, 10}, 7.3F);
  p.arc({10, 8.1F}, 2.2F, -0.5F, 0.22F);
  p.line({{10.35F, 10.2F}, {10, 11.6F}});
  p.dot({10, 14}, 1.05F);
}

void sun(Pen& p) {
  p.circle({10, 10}, 3.4F);
  for (int i = 0; i < 8; ++i) {
    const float a = kPi / 4 * static_cast<float>(i), c = std::cos(a), s = std::sin(a);
    p.line({{10 + 5.8F * c, 10 + 5.8F * s}, {10 + 7.8F * c, 10 + 7.8F * s}});
  }
}

void moon(Pen& p) {
  p.arc({10, 10}, 6.8F, 0.03F, 0.72F);
  p.arc({13.4F, 6.6F}, 5.6F, 0.19F, 0.56F);
}

void globe(Pen& p) {
  p.circle({10, 10}, 7.3F);
  p.line({{2.7F, 10}, {17.3F, 10}});
  // The meridians are arcs of large circles through both poles.
  p.arc({4.6F, 10}, 9.1F, -0.148F, 0.148F);
  p.arc({15.4F, 10}, 9.1F, 0.352F, 0.648F);
}

void mark(Pen& p) {
  p.line({{10, 6}, {10, 10.6F}});
  p.dot({10, 13.7F}, 1.1F);
}

}  // namespace

void draw_icon(ImDrawList* list, Icon icon, ImVec2 pos, float size, ImU32 color) {
  Pen p(list, pos, size, color);
  switch (icon) {
    case kIconTour: tour(p); break;
    case kIconLearn: learn(p); break;
    case kIconDevices: devices(p); break;
    case kIconMemory: memory(p); break;
    case kIconTransfers: transfers(p); break;
    case kIconMatmul: matmul(p); break;
    case kIconTraining: training(p); break;
    case kIconScaling: scaling(p); break;
    case kIconLog: log(p); break;
    case kIconPlay: p.line({{6.5F, 4}, {15.5F, 10}, {6.5F, 16}}, true); break;
    case kIconPause:
      p.line({{7, 4.5F}, {7, 15.5F}});
      p.line({{13, 4.5F}, {13, 15.5F}});
      break;
    case kIconCopy: copy(p); break;
    case kIconTrash: trash(p); break;
    case kIconEye: eye(p); break;
    case kIconEyeOff:
      eye(p);
      p.line({{3.5F, 16.5F}, {16.5F, 3.5F}});
      break;
    case kIconHelp: help(p); break;
    case kIconSun: sun(p); break;
    case kIconMoon: moon(p); break;
    case kIconLanguage: globe(p); break;
    case kIconWarning:
      p.line({{10, 3}, {17.5F, 16.5F}, {2.5F, 16.5F}}, true);
      p.line({{10, 8}, {10, 11.6F}});
      p.dot({10, 14.1F}, 1);
      break;
    case kIconError:
      p.circle({10, 10}, 7.3F);
      mark(p);
      break;
    case kIconInfo:
      p.circle({10, 10}, 7.3F);
      p.dot({10, 6.5F}, 1.1F);
      p.line({{10, 9.3F}, {10, 14}});
      break;
    case kIconCheck: p.line({{4.8F, 10.4F}, {8.4F, 14}, {15.4F, 6.4F}}); break;
    case kIconChevronDown: p.line({{5, 7.7F}, {10, 12.7F}, {15, 7.7F}}); break;
    case kIconChevronRight: p.line({{7.7F, 5}, {12.7F, 10}, {7.7F, 15}}); break;
    case kIconClose:
      p.line({{5, 5}, {15, 15}});
      p.line({{15, 5}, {5, 15}});
      break;
    case kIconStop:
      p.line({{5.5F, 5.5F}, {14.5F, 5.5F}, {14.5F, 14.5F}, {5.5F, 14.5F}}, true);
      break;
  }
}

}  // namespace lab::ui
