#pragma once
// The lab's controls. Each draws itself in the theme, is reachable by keyboard, has a tooltip, and
// records its rectangle under its path, "page/control". Paths are unique within a frame. Texts are
// passed in the current language, by tr(), except where a comment asks for LAB_TEXT: choices and
// columns, which the control translates.
#include <imgui.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/fields/enum_names.h"
#include "compute/core/maybe.h"
#include "ui/ui.h"

namespace lab::ui {

// --- surfaces -------------------------------------------------------------------------------
// A card with a title. Height 0: as high as the content of the previous frame; < 0: fills the
// remaining height minus that many units (-1: fills it completely). Width 0: fills. Always call
// end_card; begin_card returns false while the card is scrolled out of sight and its content need
// not be drawn. `extra`, `least` (both in units) and an enclosing Row can increase an automatic
// height.
struct CardOptions {
  float width = 0, height = 0;
  float extra = 0, least = 0;
  std::string_view hint = {};  // tooltip of the title
  std::string_view note = {};  // muted, at the right end of the title's line
  bool dimmed = false;         // old results while new ones arrive
};
bool begin_card(Ui& ui, std::string_view path, std::string_view title, const CardOptions& = {});
void end_card(Ui& ui);
// Keeps the height of drawn content, in units, and asks for another layout if it has changed.
void remember_height(Ui& ui, float& known, float pixels);
// Excludes the last `pixels` of the open card's content from its natural height, because they only
// fill spare space.
void grown_in_card(Ui& ui, float pixels);

// Columns of cards: splits the remaining width by `weights`, with a 12-unit gap.
// Use: Row row(ui, {1, 2}); row.next(); draw; row.next(); draw;  Rows can be nested.
// A weight <= 0 is a fixed width: -280 is 280 units.
struct RowOptions {
  bool equal = false;  // one card per cell, all as high as the highest
  float extra = 0;     // additional height with `equal`, units
};
class Row {
 public:
  Row(Ui& ui, std::span<const float> weights, const RowOptions& options = {});
  Row(Ui& ui, std::initializer_list<float> weights, const RowOptions& options = {})
      : Row(ui, std::span<const float>(weights.begin(), weights.size()), options) {}
  ~Row();
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  void next();
  float width() const { return width_; }  // of the current cell

 private:
  Ui& ui_;
  std::vector<float> weights_;
  float left_, top_, total_, width_ = 0, bottom_ = 0;
  int cell_ = -1;
  WidgetMemory::CardRow cards_;
  bool equal_;
  float indent_, content_right_, work_right_;  // restored by the destructor
  WidgetMemory::CardRow* outer_;               // restored as well
};

// A part of a card with content of its own scrolling: as high as the content, but at most `most`
// units, or the height that the card has left. Always call end_scroll.
void begin_scroll(Ui& ui, std::string_view path, float most);
void end_scroll(Ui& ui, std::string_view path);

// --- text -----------------------------------------------------------------------------------
void title(Ui& ui, std::string_view text);
void heading(Ui& ui, std::string_view text);   // within a card
void body(Ui& ui, std::string_view text);      // wrapped
void muted(Ui& ui, std::string_view text);     // wrapped, muted
void footnote(Ui& ui, std::string_view text);  // small, muted, wrapped
void caption(Ui& ui, std::string_view text);   // small, muted, one line, cut with "..."
// "4.31 TB/s": number in text colour, unit in muted; `text` as returned by format_si.
void number(Ui& ui, std::string_view text, ImFont* font = nullptr);
// "label            value" on a line of at most 600 units, unless both together are longer. The
// value is right-aligned, or below the label if it does not fit. A missing value shows N/A with the
// reason as tooltip. With `value_at`, the value starts that many pixels right of the label's start
// and is wrapped there, so that the values of several lines are aligned.
void fact(Ui& ui, std::string_view label, std::string_view value, std::string_view hint = {});
void fact(Ui& ui, std::string_view label, const std::string& value, std::string_view hint = {});
void fact(Ui& ui, std::string_view label, const Maybe<std::string>& value,
          std::string_view hint = {}, float value_at = 0);
// Left: of an item between others that must stay visible. Above: what is below must.
enum class HintSide { Below, Left, Above };
// Tooltip of the previous item, shown shortly after the pointer rests on it or the keyboard reaches
// it. The visible text is recorded as the widget "tooltip". The first line of several is a title
// unless it ends as a sentence, an empty line starts another paragraph with its own, and the rows
// of add_row() are aligned in two columns.
void hint(Ui& ui, std::string_view text, HintSide side = HintSide::Below);
// Appends a line "label<tab>value".
void add_row(std::string& text, std::string_view label, std::string_view value);
// One sentence with an icon in the state's colour.
void error_box(Ui& ui, std::string_view path, std::string_view sentence);
void note_box(Ui& ui, std::string_view path, std::string_view sentence);
void warning_box(Ui& ui, std::string_view path, std::string_view sentence);
// A small filled label: "synthetic", "unsteady", "verified".
enum class Tone { Neutral, Accent, Good, Warning, Bad };
void badge(Ui& ui, std::string_view text, Tone tone = Tone::Neutral);

// --- controls -------------------------------------------------------------------------------
// Quiet: only its text until the pointer is over it. Link: the same in the colour of links; unless
// it has a width, it is as wide as its text, which texts above and below are aligned with, and what
// shows that the pointer is over it extends beyond it.
enum class ButtonKind { Normal, Primary, Danger, Quiet, Link };
struct ButtonOptions {
  ButtonKind kind = ButtonKind::Normal;
  bool enabled = true;
  std::string_view hint = {};  // states the reason when disabled
  float width = 0;             // 0: as wide as the label; < 0: fills
  HintSide hint_side = HintSide::Below;
  bool small = false;  // 26 units high, with a caption's text
};
bool button(Ui& ui, std::string_view path, std::string_view label, const ButtonOptions& = {});
// Its width in units where the options give none.
float button_width(const Ui& ui, std::string_view label);
float small_button_width(const Ui& ui, std::string_view label);
// `icon` is one of icons.h, which needs no icon font.
bool icon_button(Ui& ui, std::string_view path, int icon, std::string_view hint,
                 HintSide side = HintSide::Below);
// Labels are placed above the control, which fills the width. All return true on change.
struct NumberOptions {
  double min = -1e300, max = 1e300, step = 1;
  std::string_view unit = {};
  std::string_view hint = {};
  int decimals = 4;                           // double version only; trailing zeros are dropped
  bool above_min = false, below_max = false;  // the end itself is not accepted
};
// Both have a red border while what is typed is not accepted, and say below what would be; recorded
// as "<path>/error".
bool input_number(Ui& ui, std::string_view path, std::string_view label, std::int64_t& value,
                  const NumberOptions& = {});
bool input_number(Ui& ui, std::string_view path, std::string_view label, double& value,
                  const NumberOptions& = {});
struct TextOptions {
  std::string_view error = {};  // below the field, as field_error(), whose border is red then
  bool invalid = false;         // a red border alone: the error is said elsewhere
  // Texts entered earlier, oldest first, which Up and Down recall, as in a console.
  std::span<const std::string> history = {};
};
// Up and Down stay in the field while it is edited.
bool input_text(Ui& ui, std::string_view path, std::string_view label, std::string& value,
                std::string_view hint = {}, std::string_view placeholder = {},
                const TextOptions& options = {});
// In a text field that was drawn last and has just got the keyboard: keeps its text from being
// replaced by the next character typed.
void put_cursor_at_end();
// What is wrong with the control above and what it accepts, recorded under `path`.
void field_error(Ui& ui, std::string_view path, std::string_view sentence);
// An open combo records its choices as "<path>/<choice>", kind "option"; a segmented control
// records its segments as "<path>/<choice>", kind "segment". Choices are LAB_TEXT or names; the
// control shows their translation, while paths and recorded values keep the English text.
bool combo(Ui& ui, std::string_view path, std::string_view label,
           std::span<const std::string> choices, int& index, std::string_view hint = {});
// An icon button that opens a list above itself; records the choices as "<path>/<name>" and shows
// the translation of their labels.
bool icon_menu(Ui& ui, std::string_view path, int icon, std::string_view hint,
               std::span<const ValueName> choices, int& index);
// With a label it fills the width; without one it is only as wide as its choices need.
bool segmented(Ui& ui, std::string_view path, std::string_view label,
               std::span<const std::string> choices, int& index, std::string_view hint = {});
// A slider with its label and the value as text on one line, 32 units high. Arrow keys step.
struct SliderOptions {
  double min = 0, max = 1, step = 0.01;
  std::string_view hint = {};
};
bool slider(Ui& ui, std::string_view path, std::string_view label, std::string_view shown,
            double& value, const SliderOptions& = {});
bool checkbox(Ui& ui, std::string_view path, std::string_view label, bool& value,
              std::string_view hint = {}, bool enabled = true);
bool foldout(Ui& ui, std::string_view path, std::string_view label, bool& open);

// While it exists, controls keep their place and value but cannot be changed; they are drawn faint,
// and their tooltip is the reason. An empty reason locks nothing. Do not nest.
class Locked {
 public:
  Locked(Ui& ui, std::string_view why);
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Ui& ui_;
};

// --- meters ---------------------------------------------------------------------------------
// A thin bar for a share 0..1 across the width; eases in 150 ms.
void bar(Ui& ui, std::string_view path, double share, ImU32 color, std::string_view hint = {});
// The same with several shares side by side.
struct BarPart {
  double share = 0;
  ImU32 color = 0;
};
void stacked_bar(Ui& ui, std::string_view path, std::span<const BarPart> parts,
                 std::string_view hint = {});
void progress_bar(Ui& ui, std::string_view path, double share, float width, float height);
// A small line chart without axes; y ranges from 0 to `top`.
void sparkline(Ui& ui, std::string_view path, std::span<const float> values, float top, ImU32 color,
               float height, std::string_view hint = {});

// --- empty pages ----------------------------------------------------------------------------
// One sentence and a button that produces results, recorded under `path`; returns true when
// clicked. With an empty label only the sentence is shown. A non-empty `why` disables the button.
// `beside`: units that the caller needs right of the button, centred together with it.
bool empty_state(Ui& ui, std::string_view path, std::string_view sentence,
                 std::string_view button_label, std::string_view why = {}, float beside = 0);

// --- tables -----------------------------------------------------------------------------
// A plain table built on ImGui's: muted header, rows of 28 units, numbers right-aligned in the mono
// font. Each visible row is recorded as "<path>/<index>", kind "row", with the cells' texts joined
// by tabs as its value. Call end_table only if begin_table returned true. Height in units: 0 fits
// the rows, > 0 scrolls below a fixed header, < 0 fills the remaining height and scrolls.
// Labels and hints are LAB_TEXT; the header shows their translation.
struct Column {
  std::string_view label = {};
  float weight = 1;  // share of the width
  bool number = false;
  std::string_view hint = {};
};
// With `sort`, clicking a header label updates it and the caller sorts the rows: numbers descending
// first, texts ascending. Each label is recorded as "<path>/sort/<label>", kind "header".
struct TableSort {
  int column = 0;
  bool descending = false;
};
bool begin_table(Ui& ui, std::string_view path, std::span<const Column> columns, float height = 0,
                 TableSort* sort = nullptr);
// `height` in units, for rows that hold controls.
void table_row(Ui& ui, float height = 28);
// `warns` puts the mark of a disturbed figure before the text.
void cell(Ui& ui, std::string_view text, std::string_view hint = {}, bool warns = false);
void end_table(Ui& ui);

// Records the previous plain ImGui item under `path`.
void record_item(Ui& ui, std::string_view path, std::string_view kind, std::string_view label = {},
                 std::string_view value = {}, bool enabled = true);

}  // namespace lab::ui
