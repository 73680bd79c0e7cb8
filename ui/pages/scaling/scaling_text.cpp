// The results of a scaling experiment in sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/list_text.h"
#include "compute/core/units.h"
#include "ui/pages/scaling/scaling_parts.h"

namespace lab::ui {
namespace {

// `several`: more devices were measured, or will be.
std::string alone_sentence(const ScalingPoint& one, bool several) {
  const std::string step = format_seconds(one.step.median_s);
  const std::string rate = format_si(one.images_per_s, "");
  if (one.batch == 1) {
    return trf("One device takes {} for a step of 1 image, {} images/s.", step, rate);
  }
  if (several) {
    return trf("One device takes {} for a step of {} images, {} images/s.", step, one.batch, rate);
  }
  return trf(
      "One device takes {} for a step of {} images, {} images/s. A speed-up requires a "
      "second device.",
      step, one.batch, rate);
}

// Counts times in the last of four digits of a step, so that the texts of its parts add up to that
// of the whole.
class StepTicks {
 public:
  explicit StepTicks(double step_s) {
    const double exponent = step_s > 0 ? std::floor(std::log10(step_s)) : 0;
    tick_s_ = std::pow(10, exponent - 3);
  }
  std::int64_t of(double seconds) const { return std::llround(seconds / tick_s_); }
  // In the unit of format_seconds().
  std::string text(std::int64_t ticks) const {
    constexpr double kHalf = 0.5;
    const auto* unit = std::ranges::find_if(kUnits, [&](const auto& known) {
      return (static_cast<double>(ticks) + kHalf) * tick_s_ >= known.first;
    });
    if (unit == std::end(kUnits)) unit = std::prev(unit);
    const auto decimals = std::lround(std::log10(unit->first / tick_s_));
    return fmt::format("{:.{}f} {}", static_cast<double>(ticks) * tick_s_ / unit->first,
                       std::max(0L, decimals), unit->second);
  }

 private:
  static constexpr std::pair<double, const char*> kUnits[] = {
      {1, "s"}, {1e-3, "ms"}, {1e-6, "\u00b5s"}};
  double tick_s_ = 1;
};

// What a step takes beyond the ideal one, in ticks; `rest` is negative where the work got faster.
struct LostTicks {
  std::int64_t exposed = 0, wait = 0, hidden = 0, rest = 0;
};

std::vector<std::string> lost_parts(const LostTicks& lost, const StepTicks& ticks, bool weak) {
  std::vector<std::string> parts;
  if (lost.exposed > 0) {
    parts.push_back(trf("{} of exposed all-reduce", ticks.text(lost.exposed)));
  }
  if (lost.wait > 0) {
    parts.push_back(trf("{} of waiting for the slowest device", ticks.text(lost.wait)));
  }
  if (lost.hidden > 0) {
    parts.push_back(
        trf("{} that the hidden all-reduce takes from computing", ticks.text(lost.hidden)));
  }
  if (lost.rest > 0) {
    parts.push_back(weak ? trf("{} of slower parallel work", ticks.text(lost.rest))
                         : trf("{} of slower work on smaller parts", ticks.text(lost.rest)));
  }
  return parts;
}

// The sum of the parts, and what faster work takes off it.
std::string sum_sentence(const LostTicks& lost, const StepTicks& ticks, bool weak) {
  const std::int64_t all = lost.exposed + lost.wait + lost.hidden + lost.rest;
  const auto parts = lost_parts(lost, ticks, weak);
  const std::string saved = ticks.text(-lost.rest);
  if (lost.rest >= 0) {
    return parts.empty() ? "" : trf("The difference of {}: {}.", ticks.text(all), list_text(parts));
  }
  if (parts.empty()) {
    return weak ? trf("Faster work in parallel saves {}.", saved)
                : trf("Faster work on smaller parts saves {}.", saved);
  }
  if (all > 0) {
    return weak ? trf("The difference of {}: {}, less {} that faster work in parallel saves.",
                      ticks.text(all), list_text(parts), saved)
                : trf("The difference of {}: {}, less {} that faster work on smaller parts saves.",
                      ticks.text(all), list_text(parts), saved);
  }
  return weak
             ? trf("Faster work in parallel saves {}, which outweighs {}.", saved, list_text(parts))
             : trf("Faster work on smaller parts saves {}, which outweighs {}.", saved,
                   list_text(parts));
}

// An even share of one device's step when devices share a batch, one device's whole step when each
// has its own batch.
double ideal_share(const ScalingPoint& point) {
  return point.mode == ScalingMode::Weak ? 1 : 1.0 / point.devices;
}

// Explains the difference between the step and the ideal step.
std::string missing_sentence(const ScalingPoint& one, const ScalingPoint& point) {
  const bool weak = point.mode == ScalingMode::Weak;
  const double ideal_s = ideal_share(point) * one.step.median_s;
  constexpr double kEqual = 0.01;  // less than what is known of a median
  if (std::abs(point.step.median_s - ideal_s) < kEqual * ideal_s) {
    const std::string time = format_seconds(point.step.median_s);
    return weak ? trf("A step takes {}, as long as on one device.", time)
                : trf("The step divides evenly: it takes {}.", time);
  }
  const StepTicks ticks(point.step.median_s);
  const std::int64_t step = ticks.of(point.step.median_s), ideal = ticks.of(ideal_s);
  const StepParts taken = parts_of(point);
  LostTicks lost{.exposed = ticks.of(taken.exposed_s),
                 .wait = ticks.of(taken.wait_s),
                 .hidden = ticks.of(taken.hidden_s)};
  lost.rest = step - ideal - lost.exposed - lost.wait - lost.hidden;
  const std::string takes = weak ? trf("A step takes {}; one device takes {} for its images.",
                                       ticks.text(step), ticks.text(ideal))
                                 : trf("A step takes {}; divided evenly it would take {}.",
                                       ticks.text(step), ticks.text(ideal));
  const std::string sum = sum_sentence(lost, ticks, weak);
  return sum.empty() ? takes : takes + " " + sum;
}

std::string steps_took(const ScalingPoint& point) {
  const std::string low = format_seconds(point.step.p10_s), high = format_seconds(point.step.p90_s);
  return point.devices == 1
             ? trf("one device's steps took {} to {}", low, high)
             : trf("the steps on {} devices took {} to {}", point.devices, low, high);
}

std::string shared_sentence(const ScalingCurve& curve) {
  std::vector<std::string> counts;
  for (const ScalingPoint& p : curve.points) {
    if (p.shares_cores) counts.push_back(std::to_string(p.devices));
  }
  if (counts.empty()) return "";
  return trf(
      "{} devices exceed the number of cores: they cannot be faster than one device per core, but "
      "they verify that the result stays the same.",
      list_text(counts));
}

}  // namespace

std::string accuracy_sentence(const ScalingCurve& curve) {
  double low = 1, high = 0;
  std::int64_t steps = 0;
  std::vector<std::string> counts;
  for (const ScalingPoint& p : curve.points) {
    if (!p.test_acc) continue;
    low = std::min(low, *p.test_acc);
    high = std::max(high, *p.test_acc);
    steps = p.accuracy_steps;
    counts.push_back(std::to_string(p.devices));
  }
  if (counts.size() < 2) return "";
  constexpr std::size_t kClasses = 10;
  if (is_guessing(high, kClasses)) {
    return trf(
        "After {} steps the accuracy on {} devices is still close to chance level, so the "
        "comparison is meaningless; train for more steps.",
        steps, list_text(counts));
  }
  constexpr double kSame = 0.5e-4;  // invisible in two decimals
  if (high - low < kSame) {
    return trf("After {} steps the test accuracy is the same on {} devices: {:.2f} %.", steps,
               list_text(counts), low * 100);
  }
  return trf(
      "After {} steps the test accuracy on {} devices differs by at most {:.2f} points: {:.2f} % "
      "to {:.2f} %.",
      steps, list_text(counts), (high - low) * 100, low * 100, high * 100);
}

std::string devices_text(int devices) {
  return devices == 1 ? tr("1 device") : trf("{} devices", devices);
}

namespace {

// The fastest point with fewer devices than `last`; null if none is faster. Points whose speed-ups
// read alike count as equally fast.
template <typename Point>
const Point* faster_than(const std::vector<Point>& points, const Point& last) {
  const Point* fastest = &last;
  for (const Point& p : points) {
    if (p.devices < last.devices && p.speedup > fastest->speedup) fastest = &p;
  }
  return times_text(fastest->speedup) == times_text(last.speedup) ? nullptr : fastest;
}

}  // namespace

std::string fastest_sentence(const ScalingCurve& curve) {
  const ScalingPoint* last = best_point(curve);
  if (last == nullptr || last->shares_cores) return "";
  const ScalingPoint* fastest = faster_than(curve.points, *last);
  if (fastest == nullptr) return "";
  const std::string most = devices_text(last->devices), slower = times_text(last->speedup);
  const auto at = static_cast<std::size_t>(last - curve.points.data());
  const double low = curve.speedup_low[at], high = curve.speedup_high[at];
  if (curve.is_unsteady(at)) {
    return trf("No conclusion: the steps put {} between {} and {} times the speed of one.", most,
               times_text(low), times_text(high));
  }
  if (high >= fastest->speedup) {
    return fastest->devices == 1
               ? trf("1 device is as fast as {}, within the spread of the steps.", most)
               : trf("{} are as fast as {}, within the spread of the steps.",
                     devices_text(fastest->devices), most);
  }
  if (fastest->devices == 1) {
    return trf("1 device is the fastest: {} reach {} times its speed.", most, slower);
  }
  return trf("{} are the fastest, {} times as fast as one; {} reach {}.",
             devices_text(fastest->devices), times_text(fastest->speedup), most, slower);
}

std::string fastest_sentence(const PredictedCurve& curve) {
  if (curve.points.empty()) return "";
  const ScalingPrediction& last = curve.points.back();
  const ScalingPrediction* fastest = faster_than(curve.points, last);
  if (fastest == nullptr) return "";
  const std::string most = devices_text(last.devices), slower = times_text(last.speedup);
  if (fastest->devices == 1) {
    return trf("1 device would be the fastest: {} would reach {} times its speed.", most, slower);
  }
  return trf("{} would be the fastest, {} times as fast as one; {} would reach {}.",
             devices_text(fastest->devices), times_text(fastest->speedup), most, slower);
}

namespace {

std::string rough_sentence(const ScalingResults& results, ScalingMode mode) {
  const ScalingCurve& curve = results.measured(mode);
  const ScalingPoint* best = best_point(curve);
  if (best == nullptr) return "";
  const ScalingPoint* one = curve.at(1);
  const auto at = static_cast<std::size_t>(best - curve.points.data());
  if (results.others > 0) {
    return trf(
        "The run was disturbed: other programs or the host took {} of the cores' time. "
        "Measure again when the machine is quiet.",
        percent(results.others));
  }
  if (!curve.is_unsteady(at)) return "";
  return trf("The run was unsteady: {}. Measure more rounds, when the machine is quiet.",
             steps_took(best->step.unstable ? *best : *one));
}

}  // namespace

bool too_unsteady_to_check(const ScalingResults& results, ScalingMode mode) {
  const ScalingCurve& curve = results.measured(mode);
  const ScalingPoint* best = best_point(curve);
  return results.withheld(mode).empty() && best != nullptr && best->devices > 1 &&
         curve.is_unsteady(static_cast<std::size_t>(best - curve.points.data()));
}

const ScalingPoint* best_point(const ScalingCurve& curve) {
  const ScalingPoint* best = nullptr;
  for (const ScalingPoint& p : curve.points) {
    if (best == nullptr || !p.shares_cores || best->shares_cores) best = &p;
  }
  return best;
}

namespace {

std::vector<std::string> measured_sentences(const ScalingResults& results, ScalingMode mode,
                                            const std::string& rough) {
  const ScalingCurve& curve = results.measured(mode);
  std::vector<std::string> sentences;
  const auto say = [&](std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  };
  const ScalingPoint* best = best_point(curve);
  if (best == nullptr) return sentences;
  const ScalingPoint* one = curve.at(1);
  say(fastest_sentence(curve));
  say(rough);
  if (best->devices == 1) {
    const bool several =
        curve.points.size() > 1 || results.measured_with.training.devices.size() > 1;
    say(alone_sentence(*best, several));
  } else if (one != nullptr && !best->shares_cores && rough.empty()) {
    say(missing_sentence(*one, *best));
  }
  say(shared_sentence(curve));
  return sentences;
}

}  // namespace

std::string basis_text(const ScalingResults& results, const ScalingPrediction& prediction) {
  // A prediction without measurement can use the step measured for the points beside it.
  if (!results.request.measure && results.request.compute_s &&
      results.one_device_step_s(results.request.training) == results.request.compute_s) {
    const StartTraining& training = results.request.training;
    return trf("measured earlier on {}: {} for {} images", lab::to_string(first_device(training)),
               format_seconds(*results.request.compute_s), training.batch);
  }
  return prediction.basis;
}

namespace {

// What limits the predicted speed-up.
std::string limit_sentence(const ScalingPrediction& p, ParallelStyle style) {
  const std::string all = format_seconds(p.split.all_reduce_s), link = link_title(p.link);
  const std::string compute = format_seconds(p.split.compute_s);
  if (style == ParallelStyle::DataParallel) {
    return trf(
        "Limit: {} per step to send parameters and gradients over {}, in addition to {} of "
        "compute.",
        all, link, compute);
  }
  if (p.split.exposed_s > 0) {
    return trf("Limit: {} of all-reduce over {} is exposed per step.",
               format_seconds(p.split.exposed_s), link);
  }
  return trf("All of the {} all-reduce over {} is hidden behind {} of compute.", all, link,
             compute);
}

// What to do about a withheld prediction.
std::string withheld_advice(bool rough) {
  return !rough ? tr("Measure again with a larger batch, whose steps the model explains better, or "
                     "type in the step time of one device.")
                : tr("Measure again, or type in the step time of one device.");
}

// Whether the prediction rests on a step of one device that was unsteady.
bool has_rough_basis(const ScalingResults& results) {
  const ScalingPoint* const one = results.basis();
  return one != nullptr && one->step.unstable;
}

// What the prediction for the most devices loses, and where.
std::vector<std::string> lost_sentences(const ScalingResults& results, ScalingMode mode,
                                        const ScalingPrediction& p) {
  std::vector<std::string> said = {limit_sentence(p, results.request.style)};
  if (p.process_s > 0) {
    said.push_back(trf("The devices wait {} for the process, which launches and reads for them.",
                       format_seconds(p.process_s)));
  }
  if (p.split.imbalance_s > 0) {
    said.push_back(trf("They wait {} for the device with the largest share.",
                       format_seconds(p.split.imbalance_s)));
  }
  if (p.fixed_s > 0 && mode == ScalingMode::Strong) {
    said.push_back(
        trf("{} of every step is fixed and cannot be divided.", format_seconds(p.fixed_s)));
  }
  return said;
}

std::string prediction_sentence(const ScalingResults& results, ScalingMode mode, bool rough) {
  if (const std::string why = results.withheld(mode); !why.empty()) {
    return (rough ? tr("No prediction: the steps varied too much to check it.")
                  : trf("No prediction: {}.", why)) +
           std::string(" ") + withheld_advice(rough);
  }
  const PredictedCurve& curve = results.predicted(mode);
  if (curve.points.empty()) return "";
  const ScalingPrediction& p = curve.points.back();
  std::vector<std::string> said;
  if (has_rough_basis(results)) {
    said.emplace_back(tr("The step of one device was too unsteady to name a limit."));
  } else {
    said = lost_sentences(results, mode, p);
  }
  said.push_back(trf("Calculated from the time of one device, {}.", basis_text(results, p)));
  return fmt::format("{}", fmt::join(said, " "));
}

}  // namespace

ScalingTexts scaling_texts(const ScalingResults& results, ScalingMode mode) {
  ScalingTexts texts;
  texts.rough = rough_sentence(results, mode);
  texts.measured = measured_sentences(results, mode, texts.rough);
  texts.predicted = prediction_sentence(results, mode, !texts.rough.empty());
  texts.rough_basis = has_rough_basis(results);
  return texts;
}

std::string model_error_sentence(const ScalingResults& results, ScalingMode mode) {
  if (!results.withheld(mode).empty()) return "";
  std::vector<std::string> errors;
  for (const ModelMiss& miss : model_misses(results.checked(mode).points)) {
    errors.push_back(miss.text(percent(std::abs(miss.share))));
  }
  const auto several = [](const ScalingPoint& p) { return p.devices > 1; };
  const bool alone = std::ranges::none_of(results.measured(mode).points, several);
  if (errors.empty() && alone && !results.predicted(mode).points.empty()) {
    return tr("Not checked: there is no measurement on several devices to compare with.");
  }
  if (!errors.empty() && too_unsteady_to_check(results, mode)) {
    return tr("Not checked: the measured steps are too unsteady for that.");
  }
  if (errors.empty()) return "";
  return trf("The same model for this machine, checked against the measurement, is {}.",
             list_text(errors));
}

StepParts parts_of(const StepSplit& split, double step_s) {
  StepParts parts;
  parts.compute_s = split.compute_s;
  parts.exposed_s = split.exposed_s;
  parts.wait_s = split.imbalance_s;
  const double room = step_s - parts.compute_s - parts.exposed_s - parts.wait_s;
  parts.hidden_s = std::clamp(room, 0.0, std::max(0.0, split.all_reduce_s - split.exposed_s));
  return parts;
}

StepParts parts_of(const ScalingPoint& point) {
  StepParts parts = parts_of(point.split, point.step.median_s);
  const double sum = parts.sum();
  if (sum <= 0) return parts;
  for (double* part : {&parts.compute_s, &parts.hidden_s, &parts.wait_s, &parts.exposed_s}) {
    *part *= point.step.median_s / sum;
  }
  return parts;
}

StepParts parts_of(const ScalingPrediction& prediction) {
  StepSplit split = prediction.split;
  split.imbalance_s += prediction.process_s;
  return parts_of(split, prediction.step_s);
}

namespace {

void add_speed(std::string& text, double speedup, double efficiency) {
  add_row(text, tr("speed-up"), trf("{} times", times_text(speedup)));
  add_row(text, tr("efficiency"), percent(efficiency));
}

}  // namespace

std::string describe(const ScalingResults& results, const ScalingPoint& p) {
  const std::string on = devices_text(p.devices);
  std::string text = p.mode == ScalingMode::Strong ? trf("{}, measured, strong scaling", on)
                                                   : trf("{}, measured, weak scaling", on);
  text += "\n" +
          trf("{}, {} images per step", model_title(results.measured_with.training.model), p.batch);
  if (p.shares_cores) {
    text +=
        std::string("\n") + tr("more devices than cores: no speed-up beyond the number of cores");
  }
  add_speed(text, p.speedup, p.efficiency);
  add_row(text, tr("images/s"), format_si(p.images_per_s, ""));
  if (p.split.all_reduce_s > 0) {
    add_row(text, tr("all-reduce"),
            trf("{} of it hidden, {} exposed", percent(p.hidden_share),
                format_seconds(parts_of(p).exposed_s)));
  }
  if (p.test_acc) {
    add_row(text, tr("test accuracy"),
            trf("{:.2f} % after {} steps", *p.test_acc * 100, p.accuracy_steps));
  }
  text += "\n" + timing_text(p.step);
  if (const std::string c = conditions_text(p.conditions); !c.empty()) text += "\n" + c;
  return text;
}

namespace {

std::string kind_text(const ScalingPrediction& p) {
  const std::string on = devices_text(p.devices);
  if (p.mode == ScalingMode::Strong) {
    return p.measured_step_s ? trf("{}, model of this machine, strong scaling: not measured", on)
                             : trf("{}, prediction, strong scaling: not measured", on);
  }
  return p.measured_step_s ? trf("{}, model of this machine, weak scaling: not measured", on)
                           : trf("{}, prediction, weak scaling: not measured", on);
}

}  // namespace

std::string describe(const ScalingResults& results, const ScalingPrediction& p) {
  std::string text = kind_text(p);
  text +=
      "\n" + (p.measured_step_s ? trf("{} images per step over this memory", p.batch)
                                : trf("{} images per step over {}", p.batch, link_title(p.link)));
  add_speed(text, p.speedup, p.efficiency);
  add_row(text, tr("step"), format_seconds(p.step_s));
  add_row(text, tr("compute"), format_seconds(p.split.compute_s));
  add_row(text, tr("all-reduce"),
          trf("{}, {} exposed", format_seconds(p.split.all_reduce_s),
              format_seconds(p.split.exposed_s)));
  if (p.process_s > 0) add_row(text, tr("waiting for the process"), format_seconds(p.process_s));
  if (p.fixed_s > 0) {
    add_row(text, tr("fixed part of one device's step"), format_seconds(p.fixed_s));
  }
  add_row(text, tr("compute time"), basis_text(results, p));
  if (p.measured_step_s) add_row(text, tr("measured"), format_seconds(*p.measured_step_s));
  return text;
}

}  // namespace lab::ui
