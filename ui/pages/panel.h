#pragma once
// What every part of the window is handed for one frame, and what the pages have in common. For
// use inside ui/pages only.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/error.h"
#include "ui/pages/lab_view.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {

struct Panel {
  Ui& ui;
  const Model& model;
  ViewState& view;
  Commands& out;
  float width = 0;             // of the window, units
  bool start_pressed = false;  // Ctrl+Enter: what the page's main button does

  // Under 1000 units the form stands above the results and the rail shows icons under 900.
  bool folded() const { return width < 1000; }
  bool narrow() const { return width < 900; }
};

// --- pages ----------------------------------------------------------------------------------
// draw_devices_page and so on, each in the page's own folder.
#define LAB_DECLARE_PAGE(name, key, icon, timed) void draw_##key##_page(const Panel& p);
LAB_PAGES(LAB_DECLARE_PAGE)
#undef LAB_DECLARE_PAGE

// --- jobs -----------------------------------------------------------------------------------
// A job runs, or was sent a moment ago.
bool busy(const Panel& p);
// Why nothing can be started now; empty: something can.
std::string busy_reason(const Panel& p);
// Sends a command that becomes a job.
void send(const Panel& p, Command command);
bool runs(const Panel& p, Page page);
bool paused(const Panel& p);
void toggle_pause(const Panel& p);
void cancel(const Panel& p);

// The main button of a form; `error`, when not empty, is shown above it and switches it off.
// Ctrl+Enter presses it where `main`.
bool start_button(const Panel& p, std::string_view path, std::string_view label,
                  std::string_view error, bool main);

// What an empty page says, with the button that fills it; while another job runs it says so instead
// of offering the button. True when clicked.
bool empty_page(const Panel& p, std::string_view path, std::string_view sentence,
                std::string_view label);

// What ended a card, with the way to use it again; `sentence` empty: it works, and nothing is
// drawn.
void lost_box(const Panel& p, std::string_view path, std::string_view sentence);
// A button that asks whether Device Lab may start anew, and why it could not.
void restart_button(const Panel& p, std::string_view path, std::string_view label,
                    std::string_view hint, const RestartLab& wish);

// How the page's last job went, where it needs a word: the error with a Retry button (after the
// loss of a card with a restart instead), or that it was stopped.
void outcome_box(const Panel& p, Page page);

// --- layout ---------------------------------------------------------------------------------
// Form left and results right, or the form above in a narrow window.
void draw_form_and_results(const Panel& p, void (*form)(const Panel&),
                           void (*results)(const Panel&));

// Units left in the current cell.
float width_left(const Panel& p);

// A part of the page that reaches down to the end of the window: what its cards leave free there
// is handed out by spare_height() in the next frame.
class StretchedArea {
 public:
  explicit StretchedArea(const Panel& p);
  ~StretchedArea();
  StretchedArea(const StretchedArea&) = delete;
  StretchedArea& operator=(const StretchedArea&) = delete;

 private:
  const Panel& p_;
  float top_, room_;  // pixels
};

// Takes the free height: the units by which one card or Pair of the page is to be higher. To be
// asked for at most once in a frame.
float spare_height(const Panel& p);

// Of the card of a form: it reaches down to the end of the window unless it is folded.
float form_height(const Panel& p);

// Room under the title of a form for what form_actions puts beside it.
void room_for_actions(const Panel& p);

// The buttons of a form, `draw` in `units` of width. In the folded form they stand beside the title
// of the card, where no field can push them out of sight; else at the cursor.
void form_actions(const Panel& p, float units, const std::function<void()>& draw);

// A card whose content lies closer together than the cards of a page. False: out of sight, its
// content need not be drawn.
class Card {
 public:
  Card(const Panel& p, std::string_view path, std::string_view title,
       const CardOptions& options = {});
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  explicit operator bool() const { return visible_; }

 private:
  Ui& ui_;
  bool visible_;
};

// Form fields: one column in the left form, several where the form is folded above.
class Fields {
 public:
  explicit Fields(const Panel& p);
  void next();

 private:
  Ui& ui_;
  int columns_;
  int field_ = 0;
  std::optional<Row> row_;
};

// Two cells side by side where there is room, else one above the other. Use as Row. Cards in it, at
// most one a cell, are equally high side by side; there they are `extra` units higher.
class Pair {
 public:
  explicit Pair(const Panel& p, float units_needed = 620, float extra = 0);
  void next();
  bool beside() const { return row_.has_value(); }

 private:
  std::optional<Row> row_;
};

// The results to show: the running job's, or those of the job before until it has some.
template <typename Results>
const Results& shown(const Kept<Results>& kept) {
  return kept.current.empty() && kept.previous ? *kept.previous : kept.current;
}
template <typename Results>
bool is_old(const Kept<Results>& kept) {
  return kept.current.empty() && kept.previous.has_value();
}

// --- words ----------------------------------------------------------------------------------
std::string percent(double share);                // "61 %"
std::string percent(const Maybe<double>& share);  // that, or "N/A"
std::string timing_text(const Timing& time);
std::string conditions_text(const Conditions& conditions);
std::string describe(const MatmulSample& sample, CacheState cache);
std::string describe(const TransferSample& sample, CacheState cache);
std::vector<std::string> device_names(const MachineInfo& machine);
std::string gflops_text(double gflops);
std::string gb_per_s_text(double gb_per_s);

// The message of lab::Error that `make` throws; empty when it does not.
template <typename Make>
std::string complaint(const Make& make) {
  try {
    make();
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

// A badge on the line of the item before that says the figures come from made-up images.
void synthetic_badge(const Panel& p);

}  // namespace lab::ui
