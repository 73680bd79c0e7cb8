#include "ui/pages/portrait_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

constexpr std::size_t kFewCores = 8;  // whose private caches are drawn
constexpr float kCoreGap = 3, kBoxGap = 6, kPackageUnits = 260;

// The size of a core in units for that many cores in the machine.
struct CoreSize {
  std::size_t cores;
  float width, height;
};
constexpr CoreSize kCoreSizes[] = {
    {4, 112, 30}, {8, 92, 30}, {16, 56, 30}, {48, 34, 26}, {160, 24, 20}};
constexpr CoreSize kManyCores{0, 13, 13};

CoreSize core_size(std::size_t cores) {
  for (const CoreSize& size : kCoreSizes) {
    if (cores <= size.cores) return size;
  }
  return kManyCores;
}

// A package or a cache with what it holds; or at the bottom a core.
struct Nest {
  int core = -1;
  std::string label = {}, hint = {};
  std::vector<Nest> inner = {};
};

std::vector<int> served_among(const SiliconCache& cache, const std::vector<int>& cores) {
  std::vector<int> served;
  for (const int core : cache.cores) {
    if (std::find(cores.begin(), cores.end(), core) != cores.end()) served.push_back(core);
  }
  return served;
}

Nest nest_of(const SiliconCache& cache, std::size_t served) {
  Nest nest;
  nest.label = fmt::format("L{} {}", cache.level, format_bytes(cache.bytes));
  nest.hint = trf("Level {} cache", cache.level);
  add_row(nest.hint, tr("size"), format_bytes(cache.bytes));
  add_row(nest.hint, tr("cores"), std::to_string(served));
  return nest;
}

// The cores inside the caches of `level` and below.
std::vector<Nest> nests_of(const Silicon& silicon, const std::vector<int>& cores, int level) {
  for (; level > 0; --level) {
    std::vector<std::pair<const SiliconCache*, std::vector<int>>> held;
    bool shared = false;
    for (const SiliconCache& cache : silicon.caches) {
      if (cache.level != level) continue;
      std::vector<int> served = served_among(cache, cores);
      if (served.empty()) continue;
      shared = shared || served.size() > 1;
      held.emplace_back(&cache, std::move(served));
    }
    if (held.empty() || (!shared && silicon.cores.size() > kFewCores)) continue;
    std::vector<Nest> nests;
    std::vector<int> rest = cores;  // those that no cache of the level serves
    for (const auto& [cache, served] : held) {
      nests.push_back(nest_of(*cache, served.size()));
      nests.back().inner = nests_of(silicon, served, level - 1);
      std::erase_if(rest, [&, &here = served](int core) {
        return std::find(here.begin(), here.end(), core) != here.end();
      });
    }
    if (rest.empty()) return nests;
    std::vector<Nest> others = nests_of(silicon, rest, level - 1);
    std::move(others.begin(), others.end(), std::back_inserter(nests));
    return nests;
  }
  std::vector<Nest> nests;
  nests.reserve(cores.size());
  for (const int core : cores) nests.push_back({.core = core});
  return nests;
}

std::vector<Nest> packages_of(const Silicon& silicon) {
  int levels = 0;
  for (const SiliconCache& cache : silicon.caches) levels = std::max(levels, cache.level);
  std::vector<Nest> packages;
  for (const SiliconPackage& package : silicon.packages) {
    Nest nest;
    nest.label = silicon.packages.size() == 1 ? package.name
                                              : trf("Package {}: {}", package.number, package.name);
    nest.hint = package.cores.size() == 1 ? trf("{}, 1 core", nest.label)
                                          : trf("{}, {} cores", nest.label, package.cores.size());
    nest.inner = nests_of(silicon, package.cores, levels);
    packages.push_back(std::move(nest));
  }
  return packages;
}

// --- places ---------------------------------------------------------------------------------

float gap_of(const Ui& ui, bool cores) {
  return ui.px(cores ? kCoreGap : kBoxGap);
}

bool is_core(const Nest& nest) {
  return nest.core >= 0;
}

// The least width in which the nest looks good: its own cores in about two by one.
float wish(const Ui& ui, const Nest& nest, const CoreSize& size) {
  if (is_core(nest)) return ui.px(size.width);
  const auto cores = std::count_if(nest.inner.begin(), nest.inner.end(), is_core);
  const float columns = std::ceil(std::sqrt(2 * static_cast<float>(cores)));
  float widest = text_size(ui.fonts.caption, "L3 32.0 MiB").x;
  if (cores > 0) widest = std::max(widest, columns * ui.px(size.width + kCoreGap));
  for (const Nest& inner : nest.inner) {
    if (!is_core(inner)) widest = std::max(widest, wish(ui, inner, size));
  }
  return widest + 2 * ui.px(kPortraitPad);
}

PortraitBox box_of(const Ui& ui, const Nest& nest, const CoreSize& size, float width);

// Lays the nests out in lines of equal columns across `width`; returns their height.
float place_in_lines(const Ui& ui, const std::vector<const Nest*>& nests, const CoreSize& size,
                     ImVec2 at, float width, std::vector<PortraitBox>& to) {
  if (nests.empty()) return 0;
  const float gap = gap_of(ui, is_core(*nests.front()));
  float least = 1;
  for (const Nest* nest : nests) least = std::max(least, wish(ui, *nest, size));
  const std::size_t fit = std::clamp<std::size_t>(
      static_cast<std::size_t>(std::max(0.0F, (width + gap) / (least + gap))), 1, nests.size());
  const std::size_t columns = even_columns(nests.size(), fit).columns;
  const float each = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  float y = 0;
  for (std::size_t first = 0; first < nests.size(); first += columns) {
    const std::size_t end = std::min(first + columns, nests.size());
    const std::size_t begin_of_line = to.size();
    float tallest = 0;
    for (std::size_t i = first; i < end; ++i) {
      PortraitBox box = box_of(ui, *nests[i], size, each);
      box.pos = {at.x + (each + gap) * static_cast<float>(i - first), at.y + y};
      tallest = std::max(tallest, box.size.y);
      to.push_back(std::move(box));
    }
    for (std::size_t i = begin_of_line; i < to.size(); ++i) to[i].size.y = tallest;
    y += tallest + gap;
  }
  return y - gap;
}

PortraitBox box_of(const Ui& ui, const Nest& nest, const CoreSize& size, float width) {
  PortraitBox box{.core = nest.core, .label = nest.label, .hint = nest.hint};
  box.size = {width, ui.px(size.height)};
  if (is_core(nest)) return box;
  const float pad = ui.px(kPortraitPad);
  std::vector<const Nest*> cores, boxes;
  for (const Nest& inner : nest.inner) (is_core(inner) ? cores : boxes).push_back(&inner);
  const float inside = std::max(1.0F, width - 2 * pad);
  float y = ui.px(kPortraitLabel);
  y += place_in_lines(ui, cores, size, {pad, y}, inside, box.inner);
  if (!cores.empty() && !boxes.empty()) y += gap_of(ui, false);
  y += place_in_lines(ui, boxes, size, {pad, y}, inside, box.inner);
  box.size.y = y + pad;
  return box;
}

std::vector<PortraitBox> lay_out(const Ui& ui, const std::vector<Nest>& packages,
                                 const CoreSize& size, float width) {
  const float gap = ui.px(kBoxGap);
  const auto fit =
      static_cast<std::size_t>(std::max(1.0F, (width + gap) / (ui.px(kPackageUnits) + gap)));
  const std::size_t columns = even_columns(packages.size(), fit).columns;
  const float each = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  std::vector<PortraitBox> boxes;
  float y = 0;
  for (std::size_t first = 0; first < packages.size(); first += columns) {
    const std::size_t end = std::min(first + columns, packages.size());
    float tallest = 0;
    for (std::size_t i = first; i < end; ++i) {
      boxes.push_back(box_of(ui, packages[i], size, each));
      boxes.back().pos = {(each + gap) * static_cast<float>(i - first), y};
      tallest = std::max(tallest, boxes.back().size.y);
    }
    y += tallest + gap;
  }
  return boxes;
}

}  // namespace

float bottom_of(const std::vector<PortraitBox>& boxes) {
  float bottom = 0;
  for (const PortraitBox& box : boxes) bottom = std::max(bottom, box.pos.y + box.size.y);
  return bottom;
}

std::vector<PortraitBox> lay_out(const Ui& ui, const Silicon& silicon, float width, float spare) {
  const std::vector<Nest> packages = packages_of(silicon);
  CoreSize size = core_size(silicon.cores.size());
  std::vector<PortraitBox> boxes = lay_out(ui, packages, size, width);
  if (spare < 1) return boxes;
  const float bottom = bottom_of(boxes);
  const float height = size.height;
  size.height = 2 * height;
  const float lines = (bottom_of(lay_out(ui, packages, size, width)) - bottom) / ui.px(height);
  if (lines < 0.5F) return boxes;
  size.height = height + spare / ui.scale / lines;
  return lay_out(ui, packages, size, width);
}

const std::vector<PortraitBox>& PortraitLayout::of(const Ui& ui,
                                                   const std::shared_ptr<const Silicon>& silicon,
                                                   float width, float spare) {
  const bool same = silicon_ == silicon && width_ == width && spare_ == spare &&
                    scale_ == ui.scale && language_ == language();
  if (!same) {
    silicon_ = silicon;
    width_ = width;
    spare_ = spare;
    scale_ = ui.scale;
    language_ = language();
    boxes_ = lay_out(ui, *silicon, width, spare);
  }
  return boxes_;
}

}  // namespace lab::ui
