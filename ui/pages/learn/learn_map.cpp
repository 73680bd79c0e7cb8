// The machine as a picture: cores inside the caches that they share, memory, GPUs and links.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr float kCoreSide = 26, kLeastCore = 9;  // units
constexpr float kNestPad = 5, kNestLabel = 15;   // around and above what a cache holds
constexpr std::size_t kFewCores = 8;             // whose private caches are drawn

// A CPU device, a cache or at the bottom a core, with what it holds.
struct Nest {
  int level = 0;  // 0: a core
  std::int64_t bytes = 0;
  std::size_t core = 0;  // position in DeviceInfo::cores
  std::vector<Nest> inner;
};

bool contains(const std::vector<int>& cores, int core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

// The cores that one cache serves.
struct HeldCores {
  std::int64_t bytes = 0;
  std::vector<int> cores;
};

// The caches of the level, which may differ in size, with the cores among `cores` that they serve.
std::vector<HeldCores> held_by(const DeviceInfo& device, const std::vector<int>& cores, int level) {
  std::vector<HeldCores> held;
  for (const CacheInfo& cache : device.caches) {
    if (cache.level != level) continue;
    for (const std::vector<int>& served : cache.cores) {
      HeldCores one{cache.size_bytes, {}};
      for (const int core : served) {
        if (contains(cores, core)) one.cores.push_back(core);
      }
      if (!one.cores.empty()) held.push_back(std::move(one));
    }
  }
  return held;
}

// The cores among `cores` inside the caches of `level` and below. With many cores, the caches of a
// single core are left to its tooltip.
std::vector<Nest> nests_of(const DeviceInfo& device, const std::vector<int>& cores, int level) {
  for (; level > 0; --level) {
    const std::vector<HeldCores> held = held_by(device, cores, level);
    const bool shared = std::any_of(held.begin(), held.end(),
                                    [](const HeldCores& one) { return one.cores.size() > 1; });
    if (held.empty() || (!shared && device.cores.size() > kFewCores)) continue;
    std::vector<Nest> nests;
    nests.reserve(held.size());
    std::vector<int> rest = cores;  // those that no cache of the level serves
    for (const HeldCores& one : held) {
      nests.push_back({level, one.bytes, 0, nests_of(device, one.cores, level - 1)});
      std::erase_if(rest, [&](int core) { return contains(one.cores, core); });
    }
    if (rest.empty()) return nests;
    for (Nest& nest : nests_of(device, rest, level - 1)) nests.push_back(std::move(nest));
    return nests;
  }
  std::vector<Nest> nests;
  nests.reserve(cores.size());
  for (const int core : cores) nests.push_back({0, 0, static_cast<std::size_t>(core), {}});
  return nests;
}

constexpr int kDeviceLevel = 100;

// A CPU device with its cores inside their caches.
Nest nest_of(const DeviceInfo& device) {
  std::vector<int> cores;
  cores.reserve(device.cores.size());
  int levels = 0;
  for (std::size_t i = 0; i < device.cores.size(); ++i) cores.push_back(static_cast<int>(i));
  for (const CacheInfo& cache : device.caches) levels = std::max(levels, cache.level);
  return {kDeviceLevel, 0, 0, nests_of(device, cores, levels)};
}

// A nest with its size in pixels; inner nests flow in lines.
struct MapBox {
  const Nest* nest = nullptr;
  ImVec2 pos{0, 0}, size{0, 0};  // relative to the enclosing box
  std::vector<MapBox> inner = {};
};

// Lays the boxes out in lines of at most `width`; returns the size that they take.
ImVec2 flow(std::vector<MapBox>& boxes, float width, float gap) {
  float x = 0, y = 0, line = 0, right = 0;
  for (MapBox& box : boxes) {
    if (x > 0 && x + box.size.x > width) {
      x = 0;
      y += line + gap;
      line = 0;
    }
    box.pos = {x, y};
    x += box.size.x + gap;
    right = std::max(right, x - gap);
    line = std::max(line, box.size.y);
  }
  return {right, y + line};
}

MapBox box_of(const Ui& ui, const Nest& nest, float core, float width) {
  MapBox box{.nest = &nest};
  if (nest.level == 0) {
    box.size = {core, core};
    return box;
  }
  const float pad = ui.px(kNestPad);
  box.inner.reserve(nest.inner.size());
  for (const Nest& inner : nest.inner) {
    box.inner.push_back(box_of(ui, inner, core, width - 2 * pad));
  }
  const bool cores = !nest.inner.empty() && nest.inner.front().level == 0;
  const float square =
      std::ceil(std::sqrt(static_cast<float>(box.inner.size()))) * (core + ui.px(3));
  const float label = text_size(ui.fonts.caption, "L3 32.0 MiB").x;
  ImVec2 inside = flow(box.inner, cores ? std::max(square, label) : width - 2 * pad, ui.px(3));
  inside.x = std::max(inside.x, label);
  for (MapBox& one : box.inner) one.pos = {one.pos.x + pad, one.pos.y + pad + ui.px(kNestLabel)};
  box.size = {inside.x + 2 * pad, inside.y + 2 * pad + ui.px(kNestLabel)};
  return box;
}

// The caches of its own that the core has.
std::string private_caches(const DeviceInfo& device, int core) {
  std::string text;
  for (const CacheInfo& cache : device.caches) {
    const bool own = std::find(cache.cores.begin(), cache.cores.end(), std::vector<int>{core}) !=
                     cache.cores.end();
    if (own) text += fmt::format("\nL{} {}", cache.level, format_bytes(cache.size_bytes));
  }
  return text;
}

struct BoxDevice {
  const DeviceInfo& info;
  const DeviceTelemetry& last;  // the latest reading
};

// A core, filled from below by the share of time in which it is busy.
void draw_core(const Panel& p, std::size_t core, ImVec2 min, ImVec2 max, const BoxDevice& device) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 color = device_color(*ui.theme, device.info.device);
  const std::vector<double>& busy = device.last.core_utilisation;
  const double share = core < busy.size() ? std::clamp(busy[core], 0.0, 1.0) : 0;
  list->AddRectFilled(min, max, styled(mix(ui.theme->card, color, 0.25F)), ui.px(3));
  const float full = (max.y - min.y) * static_cast<float>(share);
  if (full >= 1) {
    list->AddRectFilled({min.x, max.y - full}, max, styled(mix(ui.theme->card, color, 0.8F)),
                        ui.px(3));
  }
  const int number = device.info.cores[core];
  const std::string name = std::to_string(number);
  const ImVec2 text = text_size(ui.fonts.caption, name);
  if (text.x + ui.px(2) < max.x - min.x && text.y < max.y - min.y) {
    draw_text(list, ui.fonts.caption, {(min.x + max.x - text.x) / 2, (min.y + max.y - text.y) / 2},
              ui.theme->text, name);
  }
  record_rect(ui, fmt::format("learn/map/{}/{}", to_string(device.info.device), number), "meter",
              name, core < busy.size() ? percent(share) : "", true, min, max);
  if (!ImGui::IsMouseHoveringRect(min, max)) return;
  hint_at(ui, min, max,
          (core < busy.size() ? trf("Core {}, busy {} of the time", number, percent(share))
                              : trf("Core {}", number)) +
              private_caches(device.info, static_cast<int>(core)));
}

void draw_box(const Panel& p, const MapBox& box, ImVec2 origin, const BoxDevice& device,
              int depth) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 min(origin.x + box.pos.x, origin.y + box.pos.y);
  const ImVec2 max(min.x + box.size.x, min.y + box.size.y);
  const ImU32 color = device_color(*ui.theme, device.info.device);
  if (box.nest->level == 0) return draw_core(p, box.nest->core, min, max, device);
  list->AddRectFilled(min, max, styled(mix(ui.theme->raised, color, depth == 0 ? 0.10F : 0.22F)),
                      ui.px(5));
  list->AddRect(min, max, styled(with_alpha(color, 0.5F)), ui.px(5));
  const std::string label =
      box.nest->level == kDeviceLevel
          ? to_string(device.info.device)
          : fmt::format("L{} {}", box.nest->level, format_bytes(box.nest->bytes));
  draw_text_fitted(list, ui.fonts.caption, {min.x + ui.px(kNestPad), min.y + ui.px(2)},
                   box.size.x - ui.px(2 * kNestPad), ui.theme->muted, label);
  for (const MapBox& inner : box.inner) draw_box(p, inner, min, device, depth + 1);
}

// The side of a core so that the device's cores take at most a third of a usual window.
float core_side(const Ui& ui, std::size_t cores, float width) {
  const float area = width * ui.px(150);
  const float side = std::sqrt(area / static_cast<float>(std::max<std::size_t>(1, cores))) / 2;
  return std::clamp(side, ui.px(kLeastCore), ui.px(kCoreSide));
}

// All CPU devices side by side, each with its cores inside their caches.
void draw_processors(const Panel& p, const LessonMap& map) {
  Ui& ui = p.ui;
  std::vector<const DeviceInfo*> devices;
  std::vector<Nest> nests;
  std::size_t cores = 0;
  for (const DeviceInfo& device : map.devices) {
    if (device.device.kind != DeviceKind::Cpu) continue;
    devices.push_back(&device);
    nests.push_back(nest_of(device));
    cores += device.cores.size();
  }
  if (devices.empty()) return;
  caption(ui, trf("{}; cores: {}", devices.front()->name, cores));
  const float width = ImGui::GetContentRegionAvail().x;
  const float side = core_side(ui, cores, width);
  std::vector<MapBox> boxes;
  boxes.reserve(nests.size());
  for (const Nest& nest : nests) boxes.push_back(box_of(ui, nest, side, width));
  const ImVec2 size = flow(boxes, width, ui.px(8));
  const Item item = control("learn/map/processors", {width, size.y});
  if (!item.visible) return;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const ImVec2 min(item.min.x + boxes[i].pos.x, item.min.y + boxes[i].pos.y);
    const std::string name = to_string(devices[i]->device);
    record_rect(ui, "learn/map/" + name, "map", name,
                fmt::format("{} cores", devices[i]->cores.size()), true, min,
                {min.x + boxes[i].size.x, min.y + boxes[i].size.y});
    draw_box(p, boxes[i], item.min, {*devices[i], p.model.history(devices[i]->device).last}, 0);
  }
}

void draw_gpu(const Panel& p, const DeviceInfo& device) {
  Ui& ui = p.ui;
  const std::string path = "learn/map/" + to_string(device.device);
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(28)});
  const GpuRecord* gpu = p.model.gpu(device.pci_bus_id);
  const Maybe<double> busy =
      gpu == nullptr ? Maybe<double>::missing(tr("not read yet")) : gpu->history.last.utilisation;
  std::string text = trf("{}: {}, memory {}", to_string(device.device), device.name,
                         format_bytes(device.memory_total_bytes));
  if (busy) text = trf("{}, busy {} of the time", text, percent(*busy));
  record(ui, item, path, "map", text);
  if (!item.visible) return;
  const ImU32 color = device_color(*ui.theme, device.device);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(item.min, item.max, styled(mix(ui.theme->raised, color, 0.20F)), ui.px(5));
  if (busy) {
    const float share = static_cast<float>(std::clamp(*busy, 0.0, 1.0));
    list->AddRectFilled(item.min, {item.min.x + share * (item.max.x - item.min.x), item.max.y},
                        styled(mix(ui.theme->raised, color, 0.6F)), ui.px(5));
  }
  draw_text_fitted(list, ui.fonts.caption, {item.min.x + ui.px(8), item.min.y + ui.px(6)},
                   item.max.x - item.min.x - ui.px(16), ui.theme->text, text);
}

// The main memory below all CPU devices, and the links of the GPUs to it.
void draw_memory(const Panel& p, const LessonMap& map) {
  Ui& ui = p.ui;
  const float width = ImGui::GetContentRegionAvail().x;
  const Item item = control("learn/map/memory", {width, ui.px(28)});
  const std::string text =
      trf("Main memory, {}", format_bytes(map.devices.front().memory_total_bytes));
  record(ui, item, "learn/map/memory", "map", text);
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(item.min, item.max, styled(ui.theme->active), ui.px(5));
  draw_text(list, ui.fonts.caption, {item.min.x + ui.px(8), item.min.y + ui.px(6)}, ui.theme->text,
            text);
}

// A line with the link's name between two parts of the map.
void draw_link(const Panel& p, const std::string& what) {
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float height = ui.px(20);
  ImGui::Dummy({ImGui::GetContentRegionAvail().x, height});
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float x = pos.x + ui.px(24);
  list->AddLine({x, pos.y}, {x, pos.y + height}, styled(ui.theme->muted), ui.px(2));
  draw_text(list, ui.fonts.caption, {x + ui.px(8), pos.y + ui.px(2)}, ui.theme->muted, what);
}

}  // namespace

void draw_map(const Panel& p, const LessonMap& map) {
  if (map.devices.empty()) return;
  Card card(p, "learn/map", tr("This machine"),
            {.hint = tr("Cores inside the caches that they share; the caches of a single core are "
                        "shown on hover. Each core is filled as far as it is busy now.")});
  if (!card) return;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(8), p.ui.px(4)});
  draw_processors(p, map);
  draw_link(p, tr("loads and stores"));
  draw_memory(p, map);
  for (const DeviceInfo& device : map.devices) {
    if (device.device.kind == DeviceKind::Cpu) continue;
    for (const LessonMap::Link& link : map.links) {
      if (link.to != device.device) continue;
      draw_link(
          p, link.from.kind == DeviceKind::Cpu
                 ? link.what
                 : fmt::format("{} - {}: {}", to_string(link.from), to_string(link.to), link.what));
    }
    draw_gpu(p, device);
  }
  for (const AbsentDevice& absent : map.absent) {
    muted(p.ui, absent.what + ": " + tr(absent.reason));
  }
  ImGui::PopStyleVar();
}

}  // namespace lab::ui
