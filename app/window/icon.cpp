#include "app/window/icon.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lab::app {
namespace {

struct Point {
  float x, y;
};
struct Color {
  float r, g, b;
};

// Drawing units: a square of side 64, y downwards.
constexpr float kSide = 64;
constexpr float kCorner = 14;
constexpr std::array<Point, 4> kCurve = {{{12, 46}, {26, 38}, {38, 24}, {52, 16}}};
constexpr Color kTile = {15, 18, 22};
constexpr Color kGrid = {48, 57, 69};
constexpr Color kLine = {76, 141, 255};
constexpr Color kDot = {230, 233, 238};

// Distances are compared squared: the window opens sooner without a quarter of a million roots.
float square(float x) {
  return x * x;
}

bool within(float dx, float dy, float distance) {
  return square(dx) + square(dy) <= square(distance);
}

bool near_segment(Point p, Point a, Point b, float distance) {
  const float dx = b.x - a.x;
  const float dy = b.y - a.y;
  const float along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (square(dx) + square(dy));
  const float t = std::clamp(along, 0.0F, 1.0F);
  return within(p.x - a.x - t * dx, p.y - a.y - t * dy, distance);
}

bool inside_tile(Point p) {
  const float dx = std::max({kCorner - p.x, p.x - (kSide - kCorner), 0.0F});
  const float dy = std::max({kCorner - p.y, p.y - (kSide - kCorner), 0.0F});
  return within(dx, dy, kCorner);
}

Color color_at(Point p) {
  for (std::size_t i = 1; i < kCurve.size(); ++i) {
    if (within(p.x - kCurve[i].x, p.y - kCurve[i].y, 4.2F)) return kDot;
  }
  for (std::size_t i = 1; i < kCurve.size(); ++i) {
    if (near_segment(p, kCurve[i - 1], kCurve[i], 2.4F)) return kLine;
  }
  const bool axis =
      near_segment(p, {12, 12}, {12, 52}, 1.2F) || near_segment(p, {12, 52}, {52, 52}, 1.2F);
  return axis ? kGrid : kTile;
}

}  // namespace

Icon make_icon(int side) {
  constexpr int kSamples = 4;
  Icon icon{side, {}};
  icon.rgba.reserve(static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * 4);
  const float step = kSide / static_cast<float>(side * kSamples);
  for (int pixel = 0; pixel < side * side; ++pixel) {
    Color sum{0, 0, 0};
    int covered = 0;
    for (int sample = 0; sample < kSamples * kSamples; ++sample) {
      const int column = (pixel % side) * kSamples + sample % kSamples;
      const int row = (pixel / side) * kSamples + sample / kSamples;
      const Point p{(static_cast<float>(column) + 0.5F) * step,
                    (static_cast<float>(row) + 0.5F) * step};
      if (!inside_tile(p)) continue;
      const Color c = color_at(p);
      sum = {sum.r + c.r, sum.g + c.g, sum.b + c.b};
      ++covered;
    }
    const float n = static_cast<float>(std::max(1, covered));
    for (const float channel : {sum.r / n, sum.g / n, sum.b / n}) {
      icon.rgba.push_back(static_cast<std::uint8_t>(std::lround(channel)));
    }
    icon.rgba.push_back(static_cast<std::uint8_t>(covered * 255 / (kSamples * kSamples)));
  }
  return icon;
}

}  // namespace lab::app
