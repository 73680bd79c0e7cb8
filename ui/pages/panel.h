#pragma once
// The per-frame context passed to every part of the window, and helpers shared by the pages. For
// use inside ui/pages only.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/tour.h"
#include "ui/model/run_estimate.h"
#include "ui/model/texts.h"
#include "ui/pages/lab_view.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {

struct Panel {
  Ui& ui;
  const Model& model;
  ViewState& view;
  Commands& out;
  float width = 0;             // of the window, units
  bool start_pressed = false;  // Ctrl+Enter, which presses the page's main button

  // Below 1000 units the form is placed above the results; below 900 the rail shows icons only.
  bool folded() const { return width < 1000; }
  bool narrow() const { return width < 900; }
};

// --- pages ----------------------------------------------------------------------------------
// Declares draw_devices_page and so on; each is defined in the page's own folder.
#define LAB_DECLARE_PAGE(name, key, title, icon, timed) void draw_##key##_page(const Panel& p);
LAB_PAGES(LAB_DECLARE_PAGE)
#undef LAB_DECLARE_PAGE

// --- jobs -----------------------------------------------------------------------------------
// Returns true if a job is running or has just been sent.
bool busy(const Panel& p);
// Returns why no job can be started now; empty if one can.
std::string busy_reason(const Panel& p);
// Sends a command that starts a job.
void send(const Panel& p, Command command);
bool runs(const Panel& p, Page page);
bool paused(const Panel& p);
// How far the running job is: "21 %, about 19 s left", "paused at 21 %", "for 3 s".
std::string progress_text(const Panel& p);
// Whether that is known.
bool has_progress(const Panel& p);
void toggle_pause(const Panel& p);
void cancel(const Panel& p);

// The main button of a form. A non-empty `error` is shown above it and disables it. With `main`,
// Ctrl+Enter presses it; it then has the kind `kind`.
bool start_button(const Panel& p, std::string_view path, std::string_view label,
                  std::string_view error, bool main, ButtonKind kind = ButtonKind::Primary);

// While the page's job runs: draws its Stop button in place of the start buttons, under
// "<page>/stop", and returns true.
bool stop_instead(const Panel& p, Page page);

// Sends a run whose results are at the top of the page, and scrolls there.
void send_and_show(const Panel& p, Command command);

// Warns below the form of a page that measures, while other programs keep the cores busy; nothing
// while a job runs. Drawn last, so that no control moves with it.
void busy_cores_note(const Panel& p);

// Whether the lesson shown can be measured here and its answer depends on times.
bool shows_timed_lesson(const Panel& p);

// A caption above the main button of a form: `before` the page's job, how long it would take; while
// it runs, how long that still takes.
void duration_note(const Panel& p, std::string_view path, std::string_view before);

// How long a run takes, to be drawn above its button, or while the page's job runs, how long that
// still takes; nothing without cases. The hint says on what it rests.
void estimate_note(const Panel& p, std::string_view path, const RunEstimate& estimate,
                   std::string_view basis);
// The basis of a sweep whose cases take up to `case_s` each.
std::string sweep_basis(const RunEstimate& estimate, double case_s);

// Shown instead of results: a sentence and a button that sends what `command` returns, the command
// of the page's form; it may throw lab::Error, which disables the button. While another job runs,
// the button is disabled, and a second one offers to stop that job, after a confirmation. Returns
// true when it has sent the command. `beside`: units for what the caller draws right of the button.
bool empty_page(const Panel& p, std::string_view path, std::string_view sentence,
                std::string_view label, const std::function<Command()>& command, float beside = 0);

// Draws a second button right of the button at `path` of an empty page, which left room_beside().
void draw_beside(const Panel& p, std::string_view path, const std::function<void()>& draw);
float room_beside(const Panel& p, std::string_view label);

// "The tour measured a peak of 187 GFLOP/s on cpu:0.": its answers to `questions`, for the empty
// pages to which it leads. Empty before a tour.
std::string tour_sentence(const Panel& p, std::span<const TourQuestion> questions);

// Shows why a GPU was lost and offers a restart. Draws nothing if `sentence` is empty.
void lost_box(const Panel& p, std::string_view path, std::string_view sentence);
// A button that asks for confirmation of a restart. Shows the reason if a restart was refused.
void restart_button(const Panel& p, std::string_view path, std::string_view label,
                    std::string_view hint, const RestartLab& request);

// LAB_TEXT
inline constexpr const char* kKeptByRestart = LAB_TEXT(
    "Settings, the log, finished training runs and the last results are kept; results of devices "
    "that change are not shown, and all tensors are lost.");

// --- disturbed figures
// Whether the page marks figures that varied, and has marked one of those shown.
enum class Figures { Unmarked, Steady, Marked };
// What others_note() says.
std::string others_text(double share, Figures figures, std::span<const std::string> programs);
// Says that other programs used the cores during a run, and which figures that concerns; nothing
// for a share of 0. `programs`: as PageState::programs.
void others_note(const Panel& p, std::string_view path, double share,
                 Figures figures = Figures::Unmarked, std::span<const std::string> programs = {});
inline constexpr float kWarningSide = 14;  // of the mark of a disturbed figure, units
// Draws the mark with its left edge at `left_middle`.
void draw_warning(const Ui& ui, ImVec2 left_middle);
// The mark after the previous item, on a line of `height` pixels, recorded as "<path>/disturbed";
// nothing without a reason.
void warning_mark(const Panel& p, const std::string& path, const std::string& why, float height);
// The mark and what it means, as a caption.
void warning_key(const Panel& p, std::string_view path, std::string_view text,
                 std::string_view hint);
// What the mark on a measured figure means; `more` is added to its hint.
void unsteady_key(const Panel& p, std::string_view path, std::string_view more = {});
// A sentence with the mark before it.
void warning_sentence(const Panel& p, std::string_view path, std::string_view text);
// half_range() of a time.
std::string half_spread(const Timing& time);
// "36.2 GB/s (±20 %)".
std::string with_spread(const std::string& figure, const Timing& time);
// Why a time is_unsteady(); empty if it is steady.
std::string why_unsteady(const Timing& time);
// A button that sends the command of the results shown.
void measure_again_button(const Panel& p, std::string_view path, const Command& command);

// Shows the outcome of the page's last job if it failed or was stopped (pages with kinds of runs
// say the latter below their figures): the error with a Retry button (after a GPU loss, a restart
// button), or a note that it was stopped. Without the button if `retry` is false or if the same
// request can only fail again.
void outcome_box(const Panel& p, Page page, bool retry = true, Figures figures = Figures::Unmarked);
// The two parts of outcome_box(): failures, and notes on a job that has ended otherwise.
void failure_box(const Panel& p, Page page, bool retry = true);
void outcome_notes(const Panel& p, Page page, Figures figures = Figures::Unmarked);
void stopped_note(const Panel& p, Page page);

// Returns the running job's results; until there are any, those of the previous job.
template <typename Results>
const Results& shown(const Kept<Results>& kept) {
  return kept.current.empty() && kept.previous ? *kept.previous : kept.current;
}
template <typename Results>
bool is_old(const Kept<Results>& kept) {
  return kept.current.empty() && kept.previous.has_value();
}

// --- layout ---------------------------------------------------------------------------------
// Form left and results right; in a narrow window, the form above.
void draw_form_and_results(const Panel& p, void (*form)(const Panel&),
                           void (*results)(const Panel&), float form_units = 280);

// Returns the width left in the current cell, in units.
float width_left(const Panel& p);

// A part of the page that extends to the bottom of the window. spare_height() hands out the height
// its cards leave unused in the next frame.
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

// Claims the page's unused height and returns it in units, for one card or Pair to grow by. Call at
// most once per frame; not more than `most`.
float spare_height(const Panel& p, float most = 1e6F);

// Called before the card of a form: returns its least height, to the bottom of the window, or 0
// (automatic) when folded. The card then follows the page's scrolling; one that is taller than the
// window stays with its lower end in sight.
float place_form(const Panel& p, const std::string& card);

// Reserves space below the title of a folded form for the buttons of form_actions().
void room_for_actions(const Panel& p);

// Returns whether to draw the fields of a form. In the folded layout they are in the foldout `path`
// with the text `summary`, closed again by the page's next job, so that results are visible without
// scrolling.
bool settings_shown(const Panel& p, Page page, std::string_view path, SettingsOpen& open,
                    const std::function<std::string()>& summary);

// Calls `draw` for the buttons of a form, which are `units` wide. In a folded form they are placed
// beside the card's title so that no field can push them out of sight, otherwise at the cursor.
void form_actions(const Panel& p, float units, const std::function<void()>& draw);

// A card with tighter spacing than the page's cards. Converts to false when it is out of sight and
// its content need not be drawn.
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

// The card of a form, placed by place_form(), which ends with busy_cores_note() unless folded. In a
// low window, its fields are closer together, so that it is in sight as a whole.
class FormCard : public Card {
 public:
  FormCard(const Panel& p, const std::string& path, std::string_view title,
           CardOptions options = {});
  ~FormCard();
  FormCard(const FormCard&) = delete;
  FormCard& operator=(const FormCard&) = delete;

 private:
  const Panel& p_;
};

// Layout of form fields: one column in the left form, several in the folded form.
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

// Two cells side by side if they fit, otherwise stacked. Use like Row. Side by side, cards in it
// (at most one per cell) have equal height, plus `extra` units.
class Pair {
 public:
  explicit Pair(const Panel& p, float units_needed = 620, float extra = 0);
  void next();
  bool beside() const { return row_.has_value(); }

 private:
  std::optional<Row> row_;
};

// Draws rows of a label and its value in as many columns as fit; the values of a column are
// aligned.
class FactColumns {
 public:
  // `units`: the narrowest useful column.
  explicit FactColumns(const Panel& p, float units = 250) : p_(p), units_(units) {}
  // Draws what was added.
  ~FactColumns();
  FactColumns(const FactColumns&) = delete;
  FactColumns& operator=(const FactColumns&) = delete;
  // With a path, the line is recorded under it as a text. `warns` puts the mark of a disturbed
  // figure after the value.
  void add(std::string label, Maybe<std::string> value, std::string hint = {},
           std::string path = {}, bool warns = false);

 private:
  struct Fact {
    std::string label;
    Maybe<std::string> value;
    std::string hint, path;
    bool warns = false;
  };
  // Where the values of a column start, in pixels from its left edge.
  float value_column(std::span<const Fact> facts) const;

  const Panel& p_;
  float units_;
  std::vector<Fact> facts_;
};

// --- choices --------------------------------------------------------------------------------
// Returns `wanted` if it is among the values, otherwise the first value, if any.
template <typename Value>
Value known_or_first(const std::vector<Value>& values, const Value& wanted) {
  const bool known = std::find(values.begin(), values.end(), wanted) != values.end();
  return known || values.empty() ? wanted : values.front();
}

struct OneOf {
  std::string_view path, label, hint;
  std::size_t most_segments = 0;  // up to as many values are segments without the label
};
// Draws a choice among `values`, each named by `name`. `shown` is the present one; what the user
// chooses instead is stored in `target`.
template <typename Value, typename Name>
void choose_one(const Panel& p, const OneOf& what, const std::vector<Value>& values,
                const Value& shown, Value& target, const Name& name) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const Value& value : values) names.push_back(name(value));
  const auto at = std::find(values.begin(), values.end(), shown);
  int index = at == values.end() ? 0 : static_cast<int>(at - values.begin());
  const bool changed = values.size() <= what.most_segments
                           ? segmented(p.ui, what.path, "", names, index, what.hint)
                           : combo(p.ui, what.path, what.label, names, index, what.hint);
  if (changed) target = values[static_cast<std::size_t>(index)];
}

// The devices that a run of `named` ones times, or without names of all: also those to come, whose
// names are shown from the start, so that nothing moves when their results arrive.
std::vector<Device> wanted_devices(const Panel& p, const std::vector<Device>& named);

// --- the machine ----------------------------------------------------------------------------
// The main memory, which all CPU devices share.
struct MainMemory {
  std::int64_t total_bytes = 0;
  std::optional<std::int64_t> used_bytes = {};  // by all programs; empty before the first reading

  double share() const {
    if (!used_bytes || total_bytes <= 0) return 0;
    return static_cast<double>(*used_bytes) / static_cast<double>(total_bytes);
  }
};
// The dot in a device's colour before its name: both centred on `left_middle.y`.
struct DeviceLabel {
  ImU32 dot = 0;
  ImFont* font = nullptr;
  ImU32 color = 0;
  std::string_view name;
};
inline constexpr float kDeviceDot = 14;  // units from the left edge of the dot to the name
// Cuts the name off at `width` pixels from the left edge of the dot.
void draw_device_label(const Ui& ui, const DeviceLabel& label, ImVec2 left_middle, float width);
// "core 0", "cores 0 to 3, 8": as numbered by the operating system.
std::string core_numbers(const DeviceInfo& info);
// "core 0, shared with cpu:1": the text and the devices that share what it names, if any.
std::string with_sharers(const std::string& text, std::span<const Device> sharers);
// "0 to 63, 128": three or more consecutive numbers as a range.
std::string number_ranges(std::span<const int> values);
// Who keeps the cores busy: "lab 0.0, others 1.9 of 2 cores", with "host 0.1" where the host of a
// virtual machine takes them. Empty before the first reading.
std::string core_use_text(const Model& model);
std::string core_use_text(const Model& model, double lab, const OtherLoad& others);
// What the parts of that text are.
std::string core_use_hint(const Model& model);
// "1.9 of 2 cores", or of hardware threads where a core has several.
std::string of_cores(const Model& model, double cores);
// Returns nullopt if none of the devices is a CPU device.
std::optional<MainMemory> memory_in_use(const Model& model, std::span<const DeviceInfo> devices);

// --- texts ----------------------------------------------------------------------------------
// Whether an accuracy is not clearly better than a random choice among `classes`; false for NaN.
bool is_guessing(double accuracy, std::size_t classes);
// Rows of a tooltip: median, percentiles and number of repetitions; clock and time of day.
std::string timing_text(const Timing& time);
// Adds the rows of the median and the percentiles alone.
void add_percentiles(std::string& text, const Timing& time);
std::string conditions_text(const Conditions& conditions);
// The tooltip of a part of a timeline.
std::string span_text(std::string_view what, double begin_s, double end_s);
// The rows of describe().
std::string measured_text(const MatmulSample& sample, CacheState cache);
std::string time_of_day(std::time_t when);  // "14:03:27", local; empty if unknown
std::string date_of(std::time_t when);      // "2026-03-27", likewise
// "Measured 2026-11-12, 14:03".
std::string when_measured(std::time_t when);
std::string times_text(double times);  // "1.94", "15.1", "197"
std::string describe(const MatmulSample& sample, CacheState cache);
std::string describe(const TransferSample& sample, CacheState cache);
std::vector<std::string> device_names(const MachineInfo& machine);
std::string about(double seconds);  // "about 41 min", "about 3.2 h", "less than 1 s"

// An error's message as a sentence at a field: with a capital letter and a full stop, followed by
// what the field accepts, if it is given.
std::string field_problem(std::string message, std::string_view accepts = {});

// Returns the message of the lab::Error that `make` throws; empty if it does not throw.
template <typename Make>
std::string problem(const Make& make) {
  try {
    make();
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

// The note of a card whose results depend on the data set: "synthetic data"; empty for a real one.
const char* data_note(bool synthetic);

}  // namespace lab::ui
