#pragma once
// The chapters' lessons: what a lesson says and asks, and what a run of it reports. A lesson has
// five beats: the learner's guess, a prediction, the measurement, the gap between the last two, and
// one sentence.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/stats.h"

namespace lab {

enum class LessonTrack { Devices, SeveralDevices };
template <>
struct EnumNames<LessonTrack> {
  static constexpr ValueName kAll[] = {{"devices", "Devices"},
                                       {"several-devices", "Several devices"}};
};

inline constexpr std::array<const char*, 5> kLessonLanguages = {"PyTorch", "MXNet", "TensorFlow",
                                                                "JAX", "Device Lab"};

// One step of the measurement, with its code in each of kLessonLanguages; empty: not expressible.
struct LessonStep {
  std::string title;  // "Copy X to the second device"
  std::array<std::string, kLessonLanguages.size()> code;
};

// What the learner guesses before the measurement: one of `choices`; or a number; or, if `at` is
// not empty, one number per position, which a learner may also draw as a curve.
struct LessonQuestion {
  std::string text;
  std::vector<std::string> choices = {};
  std::string unit = {};     // "s", "B", "FLOP/s"; empty: a plain number
  double low = 0, high = 0;  // ends of the axis that a number or a curve is entered on
  std::vector<double> at = {};
  std::string at_label = {}, at_unit = {};  // "size", "B"
};

// The one setting of a lesson that the learner varies after the first run.
struct LessonVary {
  std::string label;  // "Size N"
  std::string unit;
  double low = 1, high = 1, value = 1;  // range and default
  bool doubling = false;                // only powers of two times `low`
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
  std::vector<std::string> text;  // sentences
  std::vector<LessonStep> steps;
  LessonQuestion question;
  std::optional<LessonVary> vary = {};
  LessonFigure figure = LessonFigure::Table;
  std::string x_label = {}, y_label = {};  // axes of the figure
  std::optional<JobCommand> free = {};     // "Try it freely": settings for an experiment's page
};

// An answer: the position of the choice, or the numbers in the order of LessonQuestion::at.
struct LessonAnswer {
  std::vector<double> values;
  bool operator==(const LessonAnswer&) const = default;
};

// Reads "2", "an error" (a choice, by its number from 1 or a part of it), "4 MiB", "1.5e-6" or
// "1e-6, 2e-5, 3e-3" (a curve). Throws Error(Usage) naming the text and what is expected.
LessonAnswer parse_answer(const LessonQuestion& question, std::string_view text);
// The inverse, for display: "an error", "4.00 MiB", "1.00 us, 20.0 us, 3.00 ms".
std::string answer_text(const LessonQuestion& question, const LessonAnswer& answer);

// "right", "wrong", "2.5 times too low": how a guess compares with the answer; of several numbers,
// the one furthest off.
std::string verdict(const LessonQuestion& question, const LessonAnswer& guess,
                    const LessonAnswer& answer);

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
  std::string text = {};  // replaces the value where the result is not a number
  Timing time = {};       // n == 0: counted or observed rather than timed
};

// Work on one lane of a timeline.
struct LessonSpan {
  std::string lane;  // "host", "cpu:1"
  std::string what;  // "product"
  double begin_s = 0, end_s = 0;
  bool stall = false;  // the lane waits
};

// The difference between predicted and measured, cut into causes: predicted + sum of the parts ==
// measured. A part may be negative; the last one is what the others do not explain.
struct GapPart {
  std::string cause;  // "latency", "waiting", ..., "unexplained"
  double value = 0;
};
struct LessonGap {
  std::string what;  // "1000 pieces of 64 KiB"
  std::string unit;
  double predicted = 0, measured = 0;
  std::vector<GapPart> parts;
};

// A statement that must hold whatever the machine; a lesson with a broken one fails.
struct LessonCheck {
  std::string what;
  bool passed = false;
  std::string detail = {};
};

struct LessonDone {
  std::string sentence;  // with the numbers of this run
  std::vector<LessonCheck> checks;
  std::optional<LessonAnswer> answer = {};  // what the guess should have been
};

using LessonNews = std::variant<LessonStepBegun, LessonGuess, LessonPrediction, LessonSample,
                                LessonSpan, LessonGap, LessonDone>;
struct LessonEvent {
  std::string lesson;
  LessonNews news;
};

}  // namespace lab
