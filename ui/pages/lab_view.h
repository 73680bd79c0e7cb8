#pragma once
// Draws the whole window: rail, page, status bar, help overlay.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compute/core/events/command.h"
#include "compute/core/language.h"
#include "ui/model/forms/forms.h"
#include "ui/model/model.h"
#include "ui/page.h"
#include "ui/pages/portrait_layout.h"
#include "ui/plot/plot_state.h"
#include "ui/ui.h"

namespace lab::ui {

// A file to save, whose name the user is choosing.
struct SaveRequest {
  Command command;  // SaveText or SavePlotPng
  // What the file system said about the name when it was typed.
  std::string looked_up;
  bool in_folder = false;  // its folder exists
  bool is_folder = false, exists = false;
};

struct ViewState {
  Page page = Page::Tour;
  ThemeMode mode = ThemeMode::Dark;
  float scale = 1;                      // chosen by the user, 1..2
  std::optional<Language> language;     // chosen by the user; the caller sets it for tr()
  Language locale = Language::English;  // the language until the user chooses one
  std::string notice;                   // sentence above the page, set by the caller; empty: none
  std::string closed_notice;            // the notice that the user closed
  bool help_open = false;
  bool confirm_cancel = false;
  std::optional<RestartLab> confirm_restart;  // restart awaiting confirmation
  std::optional<SaveRequest> save;            // whose file is being chosen
  std::string save_folder;                    // where the user saved last; empty: the home folder
  std::pair<Page, JobId> drawn = {};          // in the previous frame
  std::int64_t shown_save = 0;                // Model::saved() that the notice is about
  double saved_until_s = 0;                   // when that notice disappears, Ui::time_s
  bool to_top = false;                        // the page scrolls to its top in the next frame
  bool names_programs = false;                // the frame lists or names busy programs
  JobId paused_job = 0;                       // job paused from here, if any
  JobId stopping_job = 0;                     // asked to stop after its epoch
  std::int64_t sent_after = -1;               // Model::jobs_started() when the last job was sent
  double sent_t_s = 0;                        // lab time of that send
  std::int64_t status_line = 0;               // Model::logged() that the status bar is about
  Page status_page = Page::Tour;              // open when it arrived
  bool status_dismissed = false;              // closed, or another page was opened
  plot::LinkedCursor cursor;                  // shared by the charts of a page
  std::map<std::string, PortraitLayout> portraits;  // pictures of machines, by path
  Forms forms;

  Language wanted_language() const { return language.value_or(locale); }
};

// Draws one frame into the current ImGui context, which covers the window. Reads the model, edits
// the view, and appends commands. Never waits and never allocates device memory.
void draw_lab(Ui& ui, const Model& model, ViewState& view, Commands& out);

// Whether all processes are to be read: only where the last frame names those that use the cores,
// and not while a job measures times, which that would disturb.
bool shows_programs(const Model& model, const ViewState& view);

// The state kept between starts, as flat text keys ("page", "scale", "training.batch"). load_view
// ignores unknown keys and invalid values.
std::map<std::string, std::string> save_view(const ViewState& view);
void load_view(ViewState& view, const std::map<std::string, std::string>& saved);

}  // namespace lab::ui
