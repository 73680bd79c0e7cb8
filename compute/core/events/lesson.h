#pragma once
// The chapters' lessons: what a lesson says and asks, and what a run of it reports. A lesson has
// five beats: the learner's guess, a prediction, the measurement, the gap between the last two, and
// one sentence.
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/device_info.h"
#include "compute/core/events/spread.h"
#include "compute/core/events/stats.h"
#include "compute/core/fields/enum_names.h"

namespace lab {

enum class LessonTrack { Devices, SeveralDevices };
template <>
struct EnumNames<LessonTrack> {
  static constexpr ValueName kAll[] = {{"devices", LAB_TEXT("Devices")},
                                       {"several-devices", LAB_TEXT("Several devices")}};
};

inline constexpr std::array<const char*, 5> kLessonLanguages = {"PyTorch", "MXNet", "TensorFlow",
                                                                "JAX", "Device Lab"};

// One step of the measurement, with its code in each of kLessonLanguages; empty: not expressible.
struct LessonStep {
  std::string title;  // "Copy X to the second device"
  std::array<std::string, kLessonLanguages.size()> code;
};

// The texts of a lesson are in English and translated where they are shown, except code. What a run
// reports is in the language of the run.

// What the learner guesses before the measurement: one of `choices`; or a number; or, if `at` is
// not empty, one number per position, which a learner may also draw as a curve.
struct LessonQuestion {
  std::string text;  // {} is the lesson's setting
  std::vector<std::string> choices = {};
  std::string unit = {};     // "s", "B", "FLOP/s"; empty: a plain number
  double low = 0, high = 0;  // ends of the axis that a number or a curve is entered on
  std::vector<double> at = {};
  std::string at_unit = {};                // "B"
  std::vector<std::string> at_names = {};  // of the positions, such as models; empty: numbers
  std::string why = {};                    // a sentence on what decides the answer
};

// The one setting of a lesson that the learner varies after the first run.
struct LessonVary {
  std::string label = {};               // "Size N"
  std::string unit = {};                // "MiB", "images"
  double low = 1, high = 1, value = 1;  // range and default
  bool doubling = false;                // only powers of two times `low`
  bool whole = false;                   // only whole numbers
};

enum class LessonFigure {
  Table,   // of the samples without a position
  Curves,  // value over position; logarithmic axes
  Lines,   // value over position; linear axes
  Heat,    // value as a colour, one row per series
};

struct LessonInfo {
  std::string name;  // "copies", for the command line
  std::string title;
  LessonTrack track = LessonTrack::Devices;
  int devices = 1;                // needed
  bool alike_devices = false;     // two GPUs, where there are two, not a GPU and the CPU
  bool chooses_devices = false;   // StartLesson::devices may name others than it takes by itself
  bool larger_device = false;     // needs a GPU or a CPU device of several cores
  bool over_ranks = false;        // mpirun runs it on all ranks; otherwise on rank 0
  bool saves = false;             // writes a state file, which StartLesson::save_file keeps
  bool timed = true;              // its answer depends on times
  bool about_machine = false;     // the machine is shown before it is measured
  std::vector<std::string> text;  // sentences
  std::vector<LessonStep> steps;
  LessonQuestion question;
  std::optional<LessonVary> vary = {};
  LessonFigure figure = LessonFigure::Table;
  std::string x_label = {}, y_label = {};  // axes of the figure
  std::optional<JobCommand> free = {};     // "Try it freely": settings for an experiment's page
  // Puts the lesson's setting into `free`; null if the experiment has no such setting.
  void (*set_free)(JobCommand& free, double vary) = nullptr;
  // Axes of a second figure, of the series whose units differ from those of the first measured one.
  std::string second_x_label = {}, second_y_label = {};
};

// An answer: the position of the choice, or the numbers in the order of LessonQuestion::at.
struct LessonAnswer {
  std::vector<double> values;
  bool operator==(const LessonAnswer&) const = default;
};

struct ClassBin;
struct ClassEntry;

// The question in the current language, for a value of the lesson's setting; the default without
// one.
std::string question_text(const LessonInfo& info, std::optional<double> vary = {});

// "1.00 MiB", "LeNet": position `i` of a curve.
std::string position_text(const LessonQuestion& question, std::size_t i);

// Reads "2", "an error" (a choice, by its number from 1 or a part of it, in English or in the
// current language), "4 MiB", "1.5e-6", "4,194,304" or "1e-6, 2e-5, 3e-3" (a curve, whose commas
// separate its numbers). Throws Error(Usage) naming the text and what is expected.
LessonAnswer parse_answer(const LessonQuestion& question, std::string_view text);
// The inverse, for display in the current language: "an error", "4.00 MiB", "1.00 us, 20.0 us, 3.00
// ms".
std::string answer_text(const LessonQuestion& question, const LessonAnswer& answer);

// "right", "wrong", "too low": how a guess compares with the answer; of several numbers, "right
// within a tenth" or where each is: "too low at 1.00 KiB, right at 1.00 MiB".
std::string verdict(const LessonQuestion& question, const LessonAnswer& guess,
                    const LessonAnswer& answer);
// Whether it is the right choice, or every number is right within a tenth.
bool is_right(const LessonQuestion& question, const LessonAnswer& guess,
              const LessonAnswer& answer);

// An answer that judges no guess: "The answer: 24.9 % (rough: the machine was busy)". A choice is
// not rough.
std::string unjudged_text(const LessonQuestion& question, const LessonAnswer& answer);

// Sorts guesses and measured answers into bins: one per choice, or on a logarithmic axis. Those of
// a curve are counted by guessed over measured, at every position.
std::vector<ClassBin> class_histogram(const LessonQuestion& question,
                                      const std::vector<ClassEntry>& people);

// The values of the setting nearest to `value`, one or two, in ascending order: `value` itself if
// it is allowed.
std::vector<double> nearest_settings(const LessonVary& vary, double value);

// Formats a value with its unit: bytes as KiB, MiB, seconds as ms, others with an SI prefix.
std::string quantity_text(double value, std::string_view unit);

// --- what a run reports ---------------------------------------------------------------------

struct LessonStepBegun {
  std::size_t step = 0;  // position in LessonInfo::steps
};

struct LessonGuess {
  std::string question;
  std::string text;  // as shown
  LessonAnswer answer;
};

struct NamedQuantity {
  std::string name;
  double value = 0;
  std::string unit;
};

// A value predicted from constants, before it is measured.
struct LessonPrediction {
  std::string series;  // "copy cpu:0 -> cpu:1"; pairs it with a sample
  std::optional<double> x = {};
  std::string x_unit = {};
  double value = 0;
  std::string unit = {};
  std::string formula = {};                   // "latency + bytes / bandwidth"
  std::vector<NamedQuantity> constants = {};  // measured on this machine
};

struct LessonSample {
  std::string series;
  std::optional<double> x = {};  // position, for curves and heat maps
  std::string x_unit = {};
  double value = 0;
  std::string unit = {};
  std::string text = {};  // shown instead of the value
  Timing time = {};       // n == 0: counted or observed rather than timed
  // Single results of repeated runs, such as one accuracy per seed, in the order of the runs;
  // `value` is their mean or, for ratios of times, the ratio of the median times. Shown as `text`
  // if there is one, with a position as a fan of lines, and otherwise as a strip of marks.
  std::vector<double> draws = {};
  std::string group = {};  // heading of the heat map that has the series
};

// The spread of the draws around `value`.
Spread spread_of(const LessonSample& sample);

// Work on one lane of a timeline.
struct LessonSpan {
  std::string lane;  // "host", "cpu:1"
  std::string what;  // "product"
  double begin_s = 0, end_s = 0;
  bool stall = false;  // the lane waits
};

// The difference between predicted and measured, cut into causes: predicted + sum of the parts ==
// measured. A part may be negative; the last one is what the others do not explain. Causes of which
// more cancels than the whole gap explain nothing: the gap then has one part, and `note` says so.
struct GapPart {
  std::string cause;  // "latency", "waiting", ..., "unexplained"
  double value = 0;
};
struct LessonGap {
  std::string what;  // "1000 pieces of 64 KiB"
  std::string unit;
  double predicted = 0, measured = 0;
  std::vector<GapPart> parts;
  std::string note = {};
  bool unsteady = false;  // the times vary too much for a ratio or a cause; `note` says so
  bool modelled = false;  // `measured` was put together from parts that were measured

  // Whether both agree so well that no cause is looked for.
  bool as_predicted() const {
    constexpr double kAlike = 0.01;
    return predicted > 0 && std::abs(measured / predicted - 1) < kAlike;
  }
};

// "caches -9.38 ms".
std::string part_text(const GapPart& part, std::string_view unit);

// A statement that must hold whatever the machine; a lesson with a broken one fails.
struct LessonCheck {
  std::string what;
  bool passed = false;
  std::string detail = {};
};

// One stage of a sequence that is looked at step by step: named rows of real numbers.
struct LessonRow {
  std::string name = {};  // "device 1", "g0 on cpu:0"
  std::vector<double> values = {};
  std::string text = {};   // in place of values
  std::string group = {};  // only the rows of one group are shown, such as those of one parameter
};
// Values that a stage moves from one row to the same place of another.
struct LessonMove {
  std::size_t from = 0, to = 0;      // rows
  std::size_t first = 0, count = 0;  // values
  bool adds = false;                 // to those that are there; otherwise it replaces them
};
struct LessonFrame {
  std::string sequence = {};  // "Ring", LAB_TEXT; the frames of a sequence follow each other
  int step = 0;               // from 0
  std::string title = {};
  std::vector<LessonRow> rows = {};  // after the stage
  std::vector<LessonMove> moves = {};
};

// The machine, to be drawn: its devices with their cores, caches and links.
struct LessonMap {
  std::vector<DeviceInfo> devices = {};
  std::vector<AbsentDevice> absent = {};
  struct Link {
    Device from, to;
    std::string what;  // "PCIe", "main memory", "peer access"
  };
  std::vector<Link> links = {};
};

// Guesses and results of several people for one lesson, and their histogram.
struct ClassEntry {
  std::string file = {};
  std::optional<LessonAnswer> guess = {};
  std::optional<LessonAnswer> answer = {};  // measured on that person's machine
  std::optional<double> vary = {};          // the setting of that measurement
};
struct ClassBin {
  std::string label = {};    // "1.00 us to 10.0 us", or a choice
  double low = 0, high = 0;  // of a number; of a curve: guessed over measured
  int guesses = 0, answers = 0;
};
struct LessonClass {
  std::vector<ClassEntry> people = {};
  std::vector<ClassBin> bins = {};
};

struct LessonDone {
  std::string sentence;  // with the numbers of this run
  std::vector<LessonCheck> checks;
  std::optional<LessonAnswer> answer = {};  // what the guess should have been
  std::string why_open = {};                // why the guess is not judged: the answer is rough
  std::optional<double> vary = {};          // the lesson's setting, if it has one
  std::string explanation = {};             // why, from what this run measured
  std::vector<std::string> warnings = {};   // why the numbers may be off
  std::vector<NamedQuantity> marks = {};    // positions in the figure that the sentence names

  bool judges() const { return answer && why_open.empty(); }
};

using LessonResult =
    std::variant<LessonStepBegun, LessonGuess, LessonPrediction, LessonSample, LessonSpan,
                 LessonGap, LessonFrame, LessonMap, LessonClass, LessonDone>;
struct LessonEvent {
  std::string lesson;
  LessonResult result;
};

}  // namespace lab
