#include "ui/pages/form_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "compute/core/language.h"

namespace lab::ui {

int cpu_devices_now(const Panel& p) {
  return static_cast<int>(
      std::ranges::count_if(p.model.devices(), [](Device d) { return d.kind == DeviceKind::Cpu; }));
}

std::size_t cpu_cores(const Panel& p) {
  std::set<int> cores;
  for (const DeviceInfo& info : p.model.machine().devices) {
    if (info.device.kind == DeviceKind::Cpu) cores.insert(info.cores.begin(), info.cores.end());
  }
  return cores.size();
}

std::string split_label(int devices) {
  return devices > 1 ? trf("Split the CPU into {} devices", devices) : tr("Join the CPU's cores");
}

int devices_to_split_into(const Panel& p) {
  const std::vector<Device> timed = timed_devices(p.model.machine());
  if (timed.size() != 1 || p.model.machine().devices.front().cores.size() < 2) return 0;
  return std::max(2, static_cast<int>(p.view.forms.devices.cpu_devices));
}

void offer_split(const Panel& p, std::string_view page, std::string_view sentence) {
  const int devices = devices_to_split_into(p);
  if (devices == 0) return;
  muted(p.ui, sentence);
  record_item(p.ui, fmt::format("{}/split_cores", page), "text", sentence);
  const std::string path = fmt::format("{}/split", page);
  if (button(p.ui, path, split_label(devices),
             {.hint = tr("Restarts the lab, which takes about a second, and returns to this page"),
              .width = -1})) {
    p.view.confirm_restart = RestartLab{.cpu_devices = devices};
  }
  error_box(p.ui, path + "/refused", p.model.restart_refusal());
}

std::string untimed_text(const MachineInfo& machine) {
  std::string names;
  for (const DeviceInfo& info : machine.devices) {
    if (is_timed(info.device)) continue;
    names += (names.empty() ? "" : ", ") + lab::to_string(info.device);
  }
  return names.empty() ? "" : trf("{}: {}", names, tr(kEmulatedGpu));
}

void untimed_note(const Panel& p, std::string_view page) {
  const std::string text = untimed_text(p.model.machine());
  if (text.empty()) return;
  footnote(p.ui, text);
  record_item(p.ui, fmt::format("{}/untimed", page), "note", text);
}

}  // namespace lab::ui
