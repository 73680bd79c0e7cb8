// An NVIDIA card on the Devices page: what it does now, what it is, who uses it.
#include <fmt/format.h>

#include <algorithm>

#include "compute/types/gpu_words.h"
#include "compute/types/units.h"
#include "ui/panels/devices_parts.h"

namespace lab::ui {
namespace {

constexpr std::size_t kMostProcesses = 12;

void big_words(const Panel& p, const char* words, const std::string& why) {
  ImGui::PushFont(p.ui.fonts.figure);
  ImGui::TextUnformatted(words);
  ImGui::PopFont();
  hint(p.ui, why);
}

void figure(const Panel& p, const GpuTelemetry& last) {
  if (last.asleep) {
    big_words(p, "Asleep", last.utilisation.reason());
    caption(p.ui, "switched off to save power");
    return;
  }
  if (last.utilisation) {
    number(p.ui, percent(*last.utilisation), p.ui.fonts.figure);
    hint(p.ui, kGpuUtilisationHint);
  } else {
    big_words(p, "N/A", "Utilisation is not available: " + last.utilisation.reason());
  }
  caption(p.ui, "of the time a kernel ran");
}

void memory_bar(const Panel& p, const std::string& path, const GpuTelemetry& last,
                const DeviceInfo* device, ImU32 color) {
  if (!last.memory_used_bytes || !last.memory_total_bytes) {
    fact(p.ui, "Memory in use", Maybe<std::string>::missing(last.memory_used_bytes.reason()));
    return;
  }
  const std::int64_t used = *last.memory_used_bytes, total = *last.memory_total_bytes;
  fact(p.ui, "Memory in use", fmt::format("{} of {}", format_bytes(used), format_bytes(total)),
       "Of the card, by every program; without what the driver keeps for itself.");
  const std::string text =
      device == nullptr
          ? std::string("The lab holds nothing here.")
          : fmt::format("The lab's tensors hold {}; they may hold {} here.",
                        format_bytes(p.model.history(device->device).last.lab_used_bytes),
                        format_bytes(device->memory_limit_bytes));
  bar(p.ui, path, total > 0 ? static_cast<double>(used) / static_cast<double>(total) : 0, color,
      text);
}

void power_bar(const Panel& p, const std::string& path, const GpuTelemetry& last, ImU32 color) {
  fact(p.ui, "Power", power_text(last), "Now, and the limit in force.");
  if (!last.power_w || !last.power_limit_w || *last.power_limit_w <= 0) return;
  bar(p.ui, path, *last.power_w / *last.power_limit_w, color,
      "At its limit a card lowers its clocks.");
}

void lines(const Panel& p, const std::vector<GpuLine>& all, bool important) {
  for (const GpuLine& line : all) {
    if (line.important == important) fact(p.ui, line.label, line.value, line.hint);
  }
}

bool unfolded(const Panel& p, const std::string& key, const std::string& label) {
  auto& open_ones = p.view.forms.devices.open_gpus;
  bool open = open_ones.contains(key);
  if (foldout(p.ui, "devices/gpu/" + key, label, open)) {
    open ? static_cast<void>(open_ones.insert(key)) : static_cast<void>(open_ones.erase(key));
  }
  return open;
}

void process_lines(const Panel& p, const std::vector<GpuProcess>& all) {
  if (all.empty()) muted(p.ui, "No process uses the card.");
  for (std::size_t i = 0; i < std::min(all.size(), kMostProcesses); ++i) {
    const GpuProcess& one = all[i];
    const auto memory = one.memory_bytes ? Maybe<std::string>(format_bytes(*one.memory_bytes))
                                         : Maybe<std::string>::missing(one.memory_bytes.reason());
    fact(p.ui, fmt::format("{}  {}", one.pid, one.name.value_or("(not visible)")), memory,
         one.name ? "Process number, name, and its memory on the card." : one.name.reason());
  }
  if (all.size() > kMostProcesses) {
    caption(p.ui, fmt::format("and {} more", all.size() - kMostProcesses));
  }
}

void processes(const Panel& p, const GpuCard& card) {
  const auto& all = card.history.last.processes;
  if (!all) {
    fact(p.ui, "Processes", Maybe<std::string>::missing(all.reason()));
  } else if (unfolded(p, card.facts.pci_bus_id + "/processes",
                      fmt::format("Processes ({})", all->size()))) {
    process_lines(p, *all);
  }
}

// Facts that files alone tell, and why there are no more.
void little_known(const Panel& p, const GpuCard& card) {
  if (card.history.last.asleep) {
    muted(p.ui, "The lab does not wake a card by looking at it.");
  } else {
    muted(p.ui, "No readings: " + card.facts.unread + ".");
  }
  for (const GpuLine& line : describe_facts(card.facts)) {
    if (line.value) fact(p.ui, line.label, line.value, line.hint);
  }
}

// Why the lab does not compute on the card.
void unused_note(const Panel& p, const GpuCard& card) {
  const std::string why = why_unused(p.model.machine(), card.facts.pci_bus_id);
  if (!why.empty()) muted(p.ui, "Not used: " + why + ".");
}

void meters(const Panel& p, const std::string& path, const GpuCard& card, const DeviceInfo* device,
            ImU32 color) {
  const GpuTelemetry& last = card.history.last;
  memory_bar(p, path + "/memory", last, device, color);
  power_bar(p, path + "/power", last, color);
  lines(p, describe_reading(last, card.facts), true);
}

std::string title_of(const Panel& p, std::size_t place, const DeviceInfo* device) {
  const std::string& name = p.model.gpus()[place].facts.name;
  const bool alone = device == nullptr && p.model.gpus().size() == 1;
  return alone ? name : fmt::format("{}   {}", card_name(p.model, place), name);
}

}  // namespace

void gpu_card(const Panel& p, std::size_t place, const DeviceInfo* device) {
  const GpuCard& card = p.model.gpus()[place];
  const GpuTelemetry& last = card.history.last;
  const std::string path = "devices/gpu/" + card.facts.pci_bus_id;
  const Card box(p, path, title_of(p, place, device));
  if (!box) return;
  const Device as{DeviceKind::Cuda, static_cast<int>(place)};
  const ImU32 color = device_color(*p.ui.theme, device == nullptr ? as : device->device);
  const bool unread = !card.facts.unread.empty();
  if (!unread || last.asleep) figure(p, last);
  if (unread) {
    little_known(p, card);
    unused_note(p, card);
    return;
  }
  utilisation_sparkline(p, path + "/spark", card.history.t_s, card.history.utilisation, color);
  if (!last.asleep) meters(p, path, card, device, color);
  unused_note(p, card);
  if (unfolded(p, card.facts.pci_bus_id + "/details", "Details")) {
    lines(p, describe_reading(last, card.facts), false);
    lines(p, describe_facts(card.facts), false);
  }
  if (!last.asleep) processes(p, card);
}

}  // namespace lab::ui
