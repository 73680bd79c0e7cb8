// Help, confirmations, and the choice of a file to save.
#include "ui/pages/dialogs.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/language.h"
#include "ui/page.h"
#include "ui/pages/form_devices.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

// A centred modal that stays open while `open` is true; returns true if its content must be drawn.
bool begin_modal(const Panel& p, const char* id, bool open, float width_units) {
  if (open && !ImGui::IsPopupOpen(id)) ImGui::OpenPopup(id);
  if (!ImGui::IsPopupOpen(id)) return false;
  const Ui& ui = p.ui;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui.px(width_units), screen.x - ui.px(32));
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, screen.y - ui.px(32)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(20), ui.px(16)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
  ImGui::PushStyleColor(ImGuiCol_PopupBg, ui.theme->card);
  const bool shown = ImGui::BeginPopupModal(
      id, nullptr,
      ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
          ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  if (shown && !open) {
    ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    return false;
  }
  return shown;
}

// The controls of a dialog in the order in which Tab visits them. The initial button has the
// keyboard focus from the start, also after a click, so that Enter and Space press it; it has no
// hint, which would be open then.
class DialogButtons {
 public:
  explicit DialogButtons(Ui& ui) : ui_(ui) {}

  bool add(std::string_view path, std::string_view label, const ButtonOptions& options = {},
           bool initial = false) {
    const bool pressed = button(ui_, path, label, options);
    const ImGuiID id = ImGui::GetItemID();
    if (options.enabled) ids_.push_back(id);
    if (initial && ImGui::IsWindowAppearing()) {
      ImGui::SetItemDefaultFocus();
      focus_item(id);
    }
    return pressed;
  }

  // A field between them.
  void add_field(std::string_view path) {
    ids_.push_back(ImGui::GetID(("##" + std::string(path)).c_str()));
  }

  // After the last one.
  void move_focus() {
    const ImGuiIO& io = ImGui::GetIO();
    if (ids_.empty() || io.KeyCtrl || io.KeyAlt || !key_pressed(GLFW_KEY_TAB, true)) return;
    claim_arrows();  // and Tab, which would find text fields only
    const auto count = static_cast<std::ptrdiff_t>(ids_.size());
    const auto at = std::ranges::find(ids_, GImGui->NavId) - ids_.begin();
    const std::ptrdiff_t next = at == count ? 0 : (at + (io.KeyShift ? count - 1 : 1)) % count;
    focus_item(ids_[static_cast<std::size_t>(next)]);
  }

 private:
  Ui& ui_;
  std::vector<ImGuiID> ids_;
};

// The keyboard shortcuts and their effects.
std::vector<std::pair<std::string, const char*>> shortcuts() {
  return {
      {fmt::format("Ctrl+1 ... Ctrl+{}", kPages), tr("Open a page")},
      {"Ctrl+Enter", tr("Start the page's job")},
      {"Enter", tr("Measure a lesson once its question is answered")},
      {tr("Space"), tr("Pause or resume training; next stage of a lesson")},
      {"Esc", tr("Stop the running job (asks first)")},
      {"Ctrl+T", tr("Dark or light")},
      {"Ctrl++  Ctrl+-", tr("Larger or smaller text")},
      {tr("Arrows, Enter"), tr("Move between controls, activate one")},
      {tr("Drag, Ctrl+wheel"), tr("Pan and zoom a plot")},
      {tr("Right drag, double click"), tr("Zoom to a box, reset the view")},
      {tr("Right click"), tr("Menu of a plot: log axes, data, CSV, PNG")},
      {"F1  ?", tr("This list")},
  };
}

void draw_help_overlay(const Panel& p) {
  if (!begin_modal(p, "##help", p.view.help_open, 520)) return;
  Ui& ui = p.ui;
  title(ui, tr("Keyboard and mouse"));
  ImGui::Dummy({1, ui.px(4)});
  // Where the window is low, the list scrolls and the button stays in sight.
  constexpr float kAround = 224;  // units, with two lines of the sentence below the list
  const float most = ui.px(std::max(80.0F, ImGui::GetIO().DisplaySize.y / ui.scale - kAround));
  const auto known = ui.memory.card_heights.find("help/keys");
  const float wanted = known == ui.memory.card_heights.end() ? most : ui.px(known->second);
  ImGui::BeginChild("help/keys", {0, std::ceil(std::min(wanted, most))}, false,
                    ImGuiWindowFlags_NavFlattened);
  for (const auto& [keys, meaning] : shortcuts()) fact(ui, meaning, keys);
  end_scroll(ui, "help/keys");
  record_item(ui, "help/keys", "list");
  ImGui::Dummy({1, ui.px(4)});
  muted(ui, tr("Hover over any value to see what was measured, how often, and its spread."));
  DialogButtons buttons(ui);
  if (buttons.add("help/close", tr("Close"), {.kind = ButtonKind::Primary}, true)) {
    p.view.help_open = false;
  }
  buttons.move_focus();
  ImGui::EndPopup();
}

// Asks for confirmation when Esc would stop the running job.
void draw_cancel_dialog(const Panel& p) {
  if (p.view.confirm_cancel && !p.model.job()) p.view.confirm_cancel = false;  // the job has ended
  if (!begin_modal(p, "##cancel", p.view.confirm_cancel, 420)) return;
  Ui& ui = p.ui;
  title(ui, tr("Stop this job?"));
  const std::string running =
      trf("Running: {}. Results measured so far are kept.", p.model.job()->title);
  body(ui, running);
  record_item(ui, "confirm/text", "text", running);
  ImGui::Dummy({1, ui.px(4)});
  DialogButtons buttons(ui);
  if (buttons.add("confirm/keep", tr("Keep it running"), {}, true)) {
    p.view.confirm_cancel = false;
  }
  ImGui::SameLine(0, ui.px(8));
  if (buttons.add("confirm/stop", tr("Stop the job"), {.kind = ButtonKind::Danger})) {
    cancel(p);
    p.view.confirm_cancel = false;
  }
  buttons.move_focus();
  ImGui::EndPopup();
}

std::string emulation_text(int gpus) {
  if (gpus == 0) return tr("The lab restarts without emulated GPUs, which takes about a second.");
  return trf(
      "The lab restarts with {} GPUs, emu:0 to emu:{}, emulated by the CPU. Their results "
      "are correct; their timings are meaningless.",
      gpus, gpus - 1);
}

// What becomes of the cores.
void split_text(const Panel& p, int devices) {
  const std::size_t cores = cpu_cores(p);
  const bool shared = cores > 0 && static_cast<std::size_t>(devices) > cores;
  const std::string text =
      !shared
          ? trf("The cores are divided among {} devices, cpu:0 to cpu:{}.", devices, devices - 1)
      : cores == 1
          ? trf("The devices cpu:0 to cpu:{} share 1 core: work on one slows the others.",
                devices - 1)
          : trf("The devices cpu:0 to cpu:{} share {} cores: work on one slows the others.",
                devices - 1, cores);
  body(p.ui, fmt::format("{} {}", text, tr("The program restarts, which takes about a second.")));
  record_item(p.ui, "restart/cores", "text", text);
}

// Asks for confirmation before the program restarts.
void draw_restart_dialog(const Panel& p) {
  if (!begin_modal(p, "##restart", p.view.confirm_restart.has_value(), 420)) return;
  Ui& ui = p.ui;
  const RestartLab request = *p.view.confirm_restart;
  const int devices = request.cpu_devices.value_or(0);
  title(ui,
        devices > 1 ? trf("Split the CPU into {} devices?", devices) : tr("Restart Device Lab?"));
  if (request.emulated_gpus) body(ui, emulation_text(*request.emulated_gpus));
  if (devices == 1) body(ui, tr("All cores become one device, cpu:0."));
  if (devices > 1) split_text(p, devices);
  if (p.view.forms.learn.resume) {
    body(ui, tr("It then continues in this lesson and measures it."));
  }
  if (request.wake_gpus) body(ui, tr("The lab restarts with CUDA, which wakes the GPUs."));
  body(ui, tr(kKeptByRestart));
  if (p.model.job()) body(ui, trf("Running: {}. The restart stops it.", p.model.job()->title));
  ImGui::Dummy({1, ui.px(4)});
  const char* yes = devices > 1 ? tr("Split and restart") : tr("Restart");
  DialogButtons buttons(ui);
  if (buttons.add("restart/yes", yes, {.kind = ButtonKind::Primary})) {
    if (request.cpu_devices) p.view.forms.devices.cpu_devices = *request.cpu_devices;
    p.out.push_back(request);
    p.view.confirm_restart.reset();
  }
  ImGui::SameLine(0, ui.px(8));
  if (buttons.add("restart/no", tr("Not now"), {}, true)) dismiss_restart(p);
  buttons.move_focus();
  ImGui::EndPopup();
}

// --- saving ---------------------------------------------------------------------------------

// The file that the command writes; null if it writes none.
std::string* file_of(Command& command) {
  if (auto* text = std::get_if<SaveText>(&command)) return &text->file;
  if (auto* picture = std::get_if<SavePlotPng>(&command)) return &picture->file;
  return nullptr;
}

void look_up(SaveRequest& request, const std::string& file) {
  if (request.looked_up == file) return;
  request.looked_up = file;
  std::error_code none;
  const std::filesystem::path path(file), folder = path.parent_path();
  request.in_folder = folder.empty() || std::filesystem::is_directory(folder, none);
  request.is_folder = std::filesystem::is_directory(path, none);
  request.exists = std::filesystem::exists(path, none);
}

// Returns why the name cannot be used; empty if it can.
std::string name_problem(const SaveRequest& request, const std::filesystem::path& path) {
  if (request.is_folder || !path.has_filename())
    return tr("This is a folder: add the name of a file.");
  if (request.in_folder) return {};
  return trf("There is no folder {}.", path.parent_path().string());
}

void draw_save_dialog(const Panel& p) {
  if (!begin_modal(p, "##save", p.view.save.has_value(), 520)) return;
  Ui& ui = p.ui;
  SaveRequest& request = *p.view.save;
  std::string& file = *file_of(request.command);
  title(ui, tr("Save as"));
  DialogButtons buttons(ui);
  input_text(ui, "save/file", tr("File"), file);
  buttons.add_field("save/file");
  look_up(request, file);
  const std::filesystem::path path(file);
  const std::string problem = name_problem(request, path);
  const bool replaces = problem.empty() && request.exists;
  if (replaces) note_box(ui, "save/exists", tr("This file exists; saving replaces it."));
  ImGui::Dummy({1, ui.px(4)});
  const bool is_safe = problem.empty() && !replaces;
  if (buttons.add("save/yes", replaces ? tr("Replace") : tr("Save"),
                  {.kind = replaces ? ButtonKind::Danger : ButtonKind::Primary,
                   .enabled = problem.empty(),
                   .hint = problem},
                  is_safe)) {
    p.view.save_folder = path.parent_path().string();
    p.view.saved_until_s = 0;  // the notice of an earlier file must not be in the picture of a plot
    p.out.push_back(std::move(request.command));
    p.view.save.reset();
  }
  ImGui::SameLine(0, ui.px(8));
  if (buttons.add("save/no", tr("Cancel"), {}, !is_safe)) p.view.save.reset();
  buttons.move_focus();
  ImGui::EndPopup();
}

}  // namespace

bool dialog_open(const ViewState& view) {
  return view.help_open || view.confirm_cancel || view.confirm_restart || view.save;
}

void dismiss_restart(const Panel& p) {
  p.view.confirm_restart.reset();
  p.view.forms.learn.resume = false;
}

void ask_where_to_save(const Panel& p, std::size_t first) {
  const auto asks = [&](Command& command) {
    std::string* file = file_of(command);
    if (file == nullptr) return false;
    if (!p.view.save_folder.empty()) {
      *file = (std::filesystem::path(p.view.save_folder) / std::filesystem::path(*file).filename())
                  .string();
    }
    p.view.save = SaveRequest{.command = std::move(command), .looked_up = {}};
    return true;
  };
  const auto begin = p.out.begin() + static_cast<std::ptrdiff_t>(first);
  p.out.erase(std::remove_if(begin, p.out.end(), asks), p.out.end());
}

void draw_dialogs(const Panel& p) {
  draw_help_overlay(p);
  draw_cancel_dialog(p);
  draw_restart_dialog(p);
  draw_save_dialog(p);
}

}  // namespace lab::ui
