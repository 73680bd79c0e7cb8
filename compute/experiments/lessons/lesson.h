#pragma once
// A lesson: its description and the function that runs it. A new lesson is one file with a function
// `<name>_lesson()`, and one entry in lessons.cpp.
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/lesson.h"
#include "compute/machine/machine.h"
#include "compute/measure/measure.h"
#include "compute/run/run_context.h"

namespace lab::lessons {

// What a lesson runs on and reports to.
class LessonStage {
 public:
  // Throws Error(NotFound) for devices that do not exist, Error(Unsupported) if the machine has too
  // few for the lesson, Error(Usage) for a setting out of range or a file that it does not write.
  LessonStage(RunContext& ctx, const StartLesson& request, const LessonInfo& info);

  RunContext& context() { return ctx_; }
  Machine& machine() { return ctx_.machine(); }
  // The requested devices, or the machine's: GPUs first if there is one, at least as many as the
  // lesson needs.
  const std::vector<Device>& devices() const { return devices_; }
  DeviceContext& at(std::size_t i) { return machine().at(devices_.at(i)); }
  // The first two CPU devices. Throws Error(Unsupported) if there is only one.
  std::array<DeviceContext*, 2> two_cpus();
  // True if two of these devices have a core in common, which is then reported once as a result.
  bool note_shared_cores(std::span<const Device> devices);
  // The lesson's one setting.
  double vary() const { return vary_; }
  // Where the lesson's state file is kept; empty: nowhere.
  const std::string& save_file() const { return save_file_; }

  // Begins step `i` of LessonInfo::steps, which are equal parts of the job's progress.
  void step(std::size_t i);

  void predict(LessonPrediction prediction) { emit(std::move(prediction)); }
  void sample(LessonSample sample) { emit(std::move(sample)); }
  // A result that is not a number.
  void observe(const std::string& series, const std::string& text);
  void count(const std::string& series, double value, const std::string& unit);
  void span(LessonSpan span) { emit(std::move(span)); }
  void frame(LessonFrame frame) { emit(std::move(frame)); }
  void map(LessonMap map) { emit(std::move(map)); }
  void check(std::string what, bool passed, std::string detail = {});
  // Emits the gap, closed. After too_busy(), and if one of the times it rests on is_disturbed(), it
  // is not cut into causes.
  void gap(LessonGap gap, double small = 0);
  void gap(LessonGap gap, std::initializer_list<Timing> times);
  // The answer to the lesson's question: a choice's position, or the measured values.
  void answer(std::vector<double> values) { done_.answer = LessonAnswer{std::move(values)}; }
  // Leaves the guess unjudged, because the answer is rough; `why` is a sentence. An earlier reason,
  // such as a busy machine, stays.
  void leave_open(std::string why) {
    if (done_.why_open.empty()) done_.why_open = std::move(why);
  }
  // Leaves the guess unjudged if the time exceeds `disturbed` times the expected one: other
  // programs used the cores. Returns whether it did.
  bool too_busy(const std::string& what, double expected_s, double measured_s,
                double disturbed = 1.5);
  // The result in one sentence, with the numbers of this run.
  void conclude(std::string sentence) { done_.sentence = std::move(sentence); }
  // Why the result is so, as far as this run measured it.
  void explain(std::string sentences) { done_.explanation = std::move(sentences); }
  // Why the numbers may be off; also logged.
  void warn(const std::string& sentence);
  // A position in the figure that the conclusion names.
  void mark(std::string name, double x) { done_.marks.push_back({std::move(name), x, {}}); }

  // Times `body` for at most `budget_s`, warm-up included. Throws Error(Cancelled).
  Timing time(FunctionRef<void()> body, double budget_s = 0.2);
  // Times every body in alternation, so that clock drift affects all equally.
  std::vector<Timing> time_together(std::span<const std::function<void()>> bodies,
                                    double budget_s = 0.2);

  // Emits the result. Throws Error(Internal) naming the checks that did not pass.
  void finish();

 private:
  void emit(LessonResult result);

  RunContext& ctx_;
  const LessonInfo& info_;
  std::vector<Device> devices_;
  double vary_ = 0;
  const std::string save_file_;
  LessonDone done_;
};

// Whether a time varies too much for a conclusion, or is far above its fastest repetition.
bool is_disturbed(const Timing& time);
// "8.78 ms", with the spread of an unsteady time: "8.78 ms (±31 %)".
std::string time_text(const Timing& time);
// The gap as one unexplained part.
LessonGap unsteady(LessonGap gap);

// Adds what `parts` leave of measured - predicted as "unexplained". If more of the parts cancels
// than the whole gap, they become one unexplained part and `note` says so, unless the gap is at
// most the share `small` of the larger value.
LessonGap closed(LessonGap gap, double small = 0);

struct Lesson {
  LessonInfo info;
  void (*run)(LessonStage& stage) = nullptr;
};

// All lessons, in the order of the page.
std::span<const Lesson> all_lessons();
// Throws Error(NotFound) naming the lesson and the choices.
const Lesson& find_lesson(std::string_view name);

}  // namespace lab::lessons
