// Images of the current batch, device by device, and the weights of the first layer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "compute/core/language.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr float kLeastPicture = 48;  // units, the least side of a picture
constexpr float kPictureGap = 6;     // units
constexpr std::size_t kMostStrips = 4;

// Screen pixels per picture pixel: a whole number, so that all are equal.
float pixel_step(const Ui& ui, int columns) {
  return std::max(1.0F, std::ceil(ui.px(kLeastPicture) / static_cast<float>(columns)));
}

// Returns the number of pictures of `width` that fit side by side.
std::size_t pictures_beside(const Ui& ui, float width) {
  const float room = ImGui::GetContentRegionAvail().x + ui.px(kPictureGap);
  return static_cast<std::size_t>(std::max(1.0F, room / (width + ui.px(kPictureGap))));
}

struct StripDevice {
  std::string name;
  Device device;
};

// The device at `position` of the devices of all ranks.
StripDevice strip_device(const TrainingRun& run, std::size_t position) {
  const auto& tracks = run.devices().all();
  if (position < tracks.size()) {
    return {device_text(run.devices(), tracks[position]), tracks[position].device};
  }
  const auto& devices = run.request().devices;
  const Device device = position < devices.size() ? devices[position] : cpu();
  return {lab::to_string(device), device};
}

// The images of one device's slice on one line, under a bar of the device's colour.
void draw_strip(const Panel& p, const TrainingRun& run, const Insight& insight,
                std::size_t position) {
  Ui& ui = p.ui;
  std::vector<const BatchImage*> images;
  for (const BatchImage& image : insight.batch) {
    if (static_cast<std::size_t>(image.device) == position) images.push_back(&image);
  }
  if (images.empty()) return;
  const float step = pixel_step(ui, kImageSide), side = step * kImageSide;
  images.resize(std::min(images.size(), pictures_beside(ui, side)));
  const StripDevice owner = strip_device(run, position);
  caption(ui, owner.name);
  const std::string path = fmt::format("training/insight/batch/{}", position);
  const float bar = ui.px(4);
  const float each = side + ui.px(kPictureGap);
  const Item item =
      control(path, {each * static_cast<float>(images.size()) - ui.px(kPictureGap), side + bar});
  if (!item.visible) return;
  ImGui::GetWindowDrawList()->AddRectFilled(item.min, {item.max.x, item.min.y + bar - ui.px(1)},
                                            styled(device_color(*ui.theme, owner.device)));
  for (std::size_t i = 0; i < images.size(); ++i) {
    const ImVec2 pos(item.min.x + each * static_cast<float>(i), item.min.y + bar);
    draw_grey(images[i]->pixels, kImageSide, pos, step);
    hint_at(ui, pos, {pos.x + side, pos.y + side}, class_name(run, images[i]->label));
  }
  record(ui, item, path, "strip", owner.name, std::to_string(images.size()));
}

// Grey levels of weights: the middle is 0, white is `most`, black its negative.
std::vector<std::uint8_t> weight_greys(std::span<const float> weights, float most) {
  std::vector<std::uint8_t> out;
  out.reserve(weights.size());
  for (const float w : weights) {
    const float share = most > 0 && !std::isnan(w) ? std::clamp(w / most, -1.0F, 1.0F) : 0;
    out.push_back(static_cast<std::uint8_t>(std::lround(127.5F + 127.5F * share)));
  }
  return out;
}

float largest_magnitude(std::span<const float> weights) {
  float most = 0;
  for (const float w : weights) {
    if (std::isfinite(w)) most = std::max(most, std::abs(w));
  }
  return most;
}

void draw_first_layer(const Panel& p, const Insight& insight) {
  Ui& ui = p.ui;
  if (insight.weights.empty()) return muted(ui, tr("The weights follow after the first epoch."));
  const auto each =
      static_cast<std::size_t>(insight.width) * static_cast<std::size_t>(insight.height);
  const float step = pixel_step(ui, insight.width);
  const ImVec2 size(step * static_cast<float>(insight.width),
                    step * static_cast<float>(insight.height));
  const std::size_t columns = pictures_beside(ui, size.x);
  const std::size_t most_lines = insight.width == kImageSide ? 1 : 2;
  const std::size_t shown = std::min(insight.weights.size() / each, columns * most_lines);
  const std::size_t lines = (shown + columns - 1) / columns;
  caption(ui, trf("First layer after step {}: {} of {} units, {} × {} weights each",
                  insight.weights_step, shown, insight.units, insight.width, insight.height));
  const float gap = ui.px(kPictureGap);
  const Item item = control("training/insight/weights",
                            {(size.x + gap) * static_cast<float>(std::min(shown, columns)) - gap,
                             (size.y + gap) * static_cast<float>(lines) - gap});
  if (!item.visible) return;
  const std::span<const float> weights(insight.weights);
  const auto grey = weight_greys(weights.first(shown * each), largest_magnitude(weights));
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t line = i / columns, column = i % columns;
    const ImVec2 pos(item.min.x + (size.x + gap) * static_cast<float>(column),
                     item.min.y + (size.y + gap) * static_cast<float>(line));
    draw_grey(std::span(grey).subspan(i * each, each), insight.width, pos, step);
  }
  hint(ui, tr("Grey: 0. White: positive, the input raises the unit's output. Black: negative."));
  record(ui, item, "training/insight/weights", "image", std::to_string(shown));
}

}  // namespace

void draw_training_insight(const Panel& p, const TrainingRun& run) {
  if (!run.request().insight || run.restored()) return;
  Card card(p, "training/insight", tr("What it learns"),
            {.hint = tr("Images of a batch, divided among the devices, and the weights of the "
                        "first layer.")});
  if (!card) return;
  const auto& insight = run.insight();
  if (!insight) return muted(p.ui, tr("Available after the first step."));
  std::size_t devices = 0;
  for (const BatchImage& image : insight->batch) {
    devices = std::max(devices, static_cast<std::size_t>(image.device) + 1);
  }
  if (devices > 0)
    caption(p.ui, devices > 1 ? trf("Some images of step {}, by device", insight->step)
                              : trf("Some images of step {}", insight->step));
  for (std::size_t d = 0; d < std::min(devices, kMostStrips); ++d) draw_strip(p, run, *insight, d);
  if (devices > kMostStrips) caption(p.ui, trf("and {} more devices", devices - kMostStrips));
  draw_first_layer(p, *insight);
}

}  // namespace lab::ui
