// The results of a scaling experiment in sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/units.h"
#include "ui/pages/scaling/scaling_parts.h"

namespace lab::ui {
namespace {

std::string join_numbers(const std::vector<std::string>& items) {
  if (items.size() < 2) return items.empty() ? "" : items.front();
  const std::vector<std::string> head(items.begin(), items.end() - 1);
  return fmt::format("{} and {}", fmt::join(head, ", "), items.back());
}

std::string hidden_text(const ScalingPoint& point) {
  if (point.split.all_reduce_s <= 0) return "";
  return fmt::format("; {} of the all-reduce is hidden behind backward",
                     percent(std::clamp(point.hidden_share, 0.0, 1.0)));
}

std::string alone_sentence(const ScalingCurve& curve, const ScalingPoint& one) {
  std::string text =
      fmt::format("One device takes {} for a step of {} images, {} images/s.",
                  format_seconds(one.step.median_s), one.batch, format_si(one.images_per_s, ""));
  if (curve.points.size() == 1) text += " A speed-up requires a second device.";
  return text;
}

std::string result_sentence(const ScalingPoint& point) {
  if (point.mode == ScalingMode::Weak) {
    return fmt::format(
        "{} with {} images each process {} times as many images per second as one: {} "
        "efficiency{}.",
        devices_text(point.devices), point.batch / std::max(1, point.devices),
        times_text(point.speedup), percent(point.efficiency), hidden_text(point));
  }
  return fmt::format("{} are {} times as fast as one: {} efficiency{}.",
                     devices_text(point.devices), times_text(point.speedup),
                     percent(point.efficiency), hidden_text(point));
}

// Explains the difference between the step and the ideal step: an even share of one device's step
// when devices share a batch, one device's whole step when each has its own batch.
std::string missing_sentence(const ScalingPoint& one, const ScalingPoint& point) {
  const bool weak = point.mode == ScalingMode::Weak;
  const double ideal_s = weak ? one.step.median_s : one.step.median_s / point.devices;
  const double lost_s = point.step.median_s - ideal_s;
  if (lost_s <= 0) {
    return weak ? "No time is lost compared with one device's step."
                : "No time is lost compared with an even division of the work.";
  }
  constexpr double kWorthAWord = 0.03;  // of the lost time
  std::vector<std::string> parts;
  const auto add = [&](double seconds, const char* what) {
    if (seconds > kWorthAWord * lost_s) {
      parts.push_back(fmt::format("{} {}", format_seconds(seconds), what));
    }
  };
  const StepParts taken = parts_of(point.split, point.step.median_s);
  const double rest_s = lost_s - taken.exposed_s - taken.wait_s - taken.hidden_s;
  add(taken.exposed_s, "of exposed all-reduce");
  add(taken.wait_s, "of waiting for the slowest device");
  add(taken.hidden_s, "of all-reduce hidden behind backward");
  add(rest_s, weak ? "of slower parallel work" : "of slower work on smaller parts");
  const std::string ideal =
      weak ? fmt::format("one device takes {} for its images", format_seconds(ideal_s))
           : fmt::format("divided evenly it would take {}", format_seconds(ideal_s));
  std::string text =
      fmt::format("A step takes {}; {}.", format_seconds(point.step.median_s), ideal);
  if (!parts.empty()) text += fmt::format(" The difference: {}.", join_numbers(parts));
  if (rest_s < -kWorthAWord * lost_s) {
    text += fmt::format(" Faster work {} recovers {}.", weak ? "in parallel" : "on smaller parts",
                        format_seconds(-rest_s));
  }
  return text;
}

std::string shared_sentence(const ScalingCurve& curve) {
  std::vector<std::string> counts;
  for (const ScalingPoint& p : curve.points) {
    if (p.shares_cores) counts.push_back(std::to_string(p.devices));
  }
  if (counts.empty()) return "";
  return fmt::format(
      "{} devices exceed the number of cores: they cannot be faster than one device per core, but "
      "they verify that the result stays the same.",
      join_numbers(counts));
}

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
  constexpr double kGuessing = 0.12;  // the classes number ten
  if (high < kGuessing) {
    return fmt::format(
        "After {} steps the accuracy on {} devices is still at chance level, so the comparison is "
        "meaningless; train for more steps.",
        steps, join_numbers(counts));
  }
  constexpr double kSame = 0.5e-4;  // invisible in two decimals
  if (high - low < kSame) {
    return fmt::format("After {} steps the test accuracy is the same on {} devices: {:.2f} %.",
                       steps, join_numbers(counts), low * 100);
  }
  return fmt::format(
      "After {} steps the test accuracy on {} devices differs by at most {:.2f} points: {:.2f} % "
      "to {:.2f} %.",
      steps, join_numbers(counts), (high - low) * 100, low * 100, high * 100);
}

}  // namespace

std::string devices_text(int devices) {
  return devices == 1 ? "1 device" : fmt::format("{} devices", devices);
}

std::string times_text(double times) {
  return fmt::format("{:.{}f}", times, times < 9.995 ? 2 : 1);
}

const ScalingPoint* best_point(const ScalingCurve& curve) {
  const ScalingPoint* best = nullptr;
  for (const ScalingPoint& p : curve.points) {
    if (best == nullptr || !p.shares_cores || best->shares_cores) best = &p;
  }
  return best;
}

std::vector<std::string> measured_sentences(const ScalingResults& results, ScalingMode mode) {
  const ScalingCurve& curve = results.measured(mode);
  std::vector<std::string> sentences;
  const auto say = [&](std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  };
  const ScalingPoint* best = best_point(curve);
  if (best == nullptr) return sentences;
  const ScalingPoint* one = curve.at(1);
  if (best->devices == 1) {
    say(alone_sentence(curve, *best));
  } else {
    say(result_sentence(*best));
    if (one != nullptr && !best->shares_cores) say(missing_sentence(*one, *best));
  }
  say(shared_sentence(curve));
  say(accuracy_sentence(curve));
  return sentences;
}

std::string basis_text(const ScalingResults& results, const ScalingPrediction& prediction) {
  // A prediction without measurement can use the step measured for the points beside it.
  if (!results.request.measure && results.request.compute_s &&
      results.one_device_step_s(results.request.training) == results.request.compute_s) {
    const StartTraining& training = results.request.training;
    return fmt::format("measured earlier on {}: {} for {} images",
                       lab::to_string(first_device(training)),
                       format_seconds(*results.request.compute_s), training.batch);
  }
  return prediction.basis;
}

std::string prediction_sentence(const ScalingResults& results, ScalingMode mode) {
  const PredictedCurve& curve = results.predicted(mode);
  if (curve.points.empty()) return "";
  const ScalingPrediction& p = curve.points.back();
  std::string why =
      p.split.exposed_s > 0
          ? fmt::format(
                "{} of the {} all-reduce cannot be hidden behind {} of "
                "compute",
                format_seconds(p.split.exposed_s), format_seconds(p.split.all_reduce_s),
                format_seconds(p.split.compute_s))
          : fmt::format("all of the {} all-reduce is hidden behind {} of compute",
                        format_seconds(p.split.all_reduce_s), format_seconds(p.split.compute_s));
  if (p.split.imbalance_s > 0) {
    why += fmt::format(" and {} are spent waiting", format_seconds(p.split.imbalance_s));
  }
  constexpr double kBeyond = 1.01;
  if (p.efficiency > kBeyond) why += ", and smaller parts were measured to be faster per image";
  return fmt::format(
      "Prediction: {} over {} are {} times as fast as one, because {}. Calculated from the time of "
      "one device ({}), not measured.",
      devices_text(p.devices), link_title(p.link), times_text(p.speedup), why,
      basis_text(results, p));
}

std::string model_error_sentence(const ScalingResults& results, ScalingMode mode) {
  std::vector<std::string> errors;
  for (const ScalingPrediction& p : results.checked(mode).points) {
    if (p.devices < 2 || !p.measured_step_s || *p.measured_step_s <= 0) continue;
    const double error = p.step_s / *p.measured_step_s - 1;
    errors.push_back(fmt::format("{} too {} at {}", percent(std::abs(error)),
                                 error > 0 ? "slow" : "fast", devices_text(p.devices)));
  }
  if (errors.empty()) return "";
  return fmt::format("The same model for this machine, checked against the measurement, is {}.",
                     join_numbers(errors));
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

std::string describe(const ScalingResults& results, const ScalingPoint& p) {
  const StartScaling& asked = results.measured_with;
  std::string text = fmt::format(
      "{}, measured, {} scaling\n{}, {} images per step\n{} times as fast as one, {} "
      "efficiency\n{} images/s\nstep: {}",
      devices_text(p.devices), to_string(p.mode), asked.training.model, p.batch,
      times_text(p.speedup), percent(p.efficiency), format_si(p.images_per_s, ""),
      timing_text(p.step));
  if (p.split.all_reduce_s > 0) {
    text += fmt::format("\nall-reduce {}, {} of it hidden", format_seconds(p.split.all_reduce_s),
                        percent(p.hidden_share));
  }
  if (p.test_acc) {
    text +=
        fmt::format("\ntest accuracy {:.2f} % after {} steps", *p.test_acc * 100, p.accuracy_steps);
  }
  if (p.shares_cores) text += "\nmore devices than cores: no speed-up beyond the number of cores";
  if (const std::string c = conditions_text(p.conditions); !c.empty()) text += "\n" + c;
  return text;
}

std::string describe(const ScalingResults& results, const ScalingPrediction& p) {
  const bool checked = p.measured_step_s.has_value();
  std::string text = fmt::format(
      "{}, {}, {} scaling: not measured\n{} images per step over {}\n{} times as fast as one, {} "
      "efficiency\nstep {}: compute {}, all-reduce {}, exposed {}\ncompute time: {}",
      devices_text(p.devices), checked ? "model of this machine" : "prediction", to_string(p.mode),
      p.batch, checked ? "memory" : link_title(p.link), times_text(p.speedup),
      percent(p.efficiency), format_seconds(p.step_s), format_seconds(p.split.compute_s),
      format_seconds(p.split.all_reduce_s), format_seconds(p.split.exposed_s),
      basis_text(results, p));
  if (checked) text += fmt::format("\nmeasured: {}", format_seconds(*p.measured_step_s));
  return text;
}

}  // namespace lab::ui
