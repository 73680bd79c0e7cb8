// Beside the Train button: how long the training will take, and a way to make it short.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/scaling_results.h"
#include "ui/model/training_estimate.h"
#include "ui/pages/training/training_parts.h"

namespace lab::ui {
namespace {

constexpr double kShort_s = 120;
constexpr double kTooLong_s = 150;   // from here on, the short version is offered
constexpr double kVeryLong_s = 600;  // and from here on, it is the main button

std::string devices_text(const StartTraining& request) {
  return request.devices.size() == 1 ? lab::to_string(request.devices.front())
                                     : trf("{} devices", request.devices.size());
}

auto lengths(const StartTraining& r) {
  return std::tuple(r.epochs, r.width, r.synthetic_train, r.synthetic_test);
}

// "about 25 min", or "about 15 min to about 25 min" if the speed varied.
std::string range_text(const TrainingEstimate& estimate) {
  constexpr double kVaries = 1.25;
  return estimate.most_s > kVaries * estimate.least_s
             ? trf("{} to {}", about(estimate.least_s), about(estimate.most_s))
             : about(estimate.seconds);
}

// "width 8, 1 epoch, 12000 images": what has changed.
std::string changed_text(const StartTraining& before, const StartTraining& after) {
  std::vector<std::string> parts;
  if (after.width != before.width) parts.push_back(trf("width {}", after.width));
  if (after.epochs != before.epochs) {
    parts.push_back(after.epochs == 1 ? std::string(tr("1 epoch"))
                                      : trf("{} epochs", after.epochs));
  }
  if (after.synthetic_train != before.synthetic_train) {
    parts.push_back(trf("{} training images", group_digits(std::to_string(after.synthetic_train))));
  }
  if (after.synthetic_test != before.synthetic_test) {
    parts.push_back(trf("{} test images", group_digits(std::to_string(after.synthetic_test))));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What was shortened, until the user changes it again.
void draw_shortened(const Panel& p, TrainingForm& form) {
  if (!form.shortened) return;
  const ShortenedTraining& shortened = *form.shortened;
  if (lengths(form.request) != lengths(shortened.after) ||
      form.request.model != shortened.after.model) {
    form.shortened.reset();
    return;
  }
  const std::string text = trf("Shortened to {}: {}.", about(shortened.seconds),
                               changed_text(shortened.before, shortened.after));
  body(p.ui, text);
  record_item(p.ui, "training/shortened", "text", text);
  if (button(p.ui, "training/undo_shorten", tr("Undo"), {.width = -1})) {
    form.request.width = shortened.before.width;
    form.request.epochs = shortened.before.epochs;
    form.request.synthetic_train = shortened.before.synthetic_train;
    form.request.synthetic_test = shortened.before.synthetic_test;
    form.shortened.reset();
  }
}

// The button that shortens the training, or why there is none.
void draw_shorter(const Panel& p, TrainingForm& form, const TrainingEstimate& estimate) {
  StartTraining shorter = form.request;
  const double seconds = fit_into(kShort_s, estimate, shorter);
  if (lengths(shorter) == lengths(form.request)) {
    const char* const text = tr("One epoch takes longer than two minutes.");
    caption(p.ui, text);
    record_item(p.ui, "training/no_shorter", "text", text);
    return;
  }
  const std::string label = seconds <= kShort_s ? std::string(tr("Fit into two minutes"))
                                                : trf("Shorten to {}", about(seconds));
  if (button(p.ui, "training/two_minutes", label,
             {.kind = estimate.seconds >= kVeryLong_s ? ButtonKind::Primary : ButtonKind::Normal,
              .hint = tr("Reduces the epochs; if one epoch is still too long, the width of "
                         "ResNet-18, then the number of synthetic images."),
              .width = -1})) {
    form.shortened = {form.request, shorter, seconds};
    form.request = shorter;
  }
}

// Warns of a training that hardly anyone means to start.
void warn_of_length(const Panel& p, double seconds) {
  constexpr double kLong_s = 6 * 3600;
  if (seconds < kLong_s) return;
  warning_sentence(p, "training/long",
                   trf("This training takes {}. Start it only if you mean it; fewer epochs or a "
                       "larger batch are quicker.",
                       about(seconds)));
}

void draw_known(const Panel& p, TrainingForm& form, const StartTraining& request,
                const TrainingEstimate& estimate) {
  const std::string time = range_text(estimate), on = devices_text(request);
  const std::string text = estimate.probed    ? trf("{} on {}, estimated", time, on)
                           : estimate.similar ? trf("{} on {}, from a similar run", time, on)
                                              : trf("{} on {}, as before", time, on);
  warn_of_length(p, estimate.seconds);
  footnote(p.ui, text);
  record_item(p.ui, "training/estimate", "text", text);
  const std::string rate = format_si(estimate.images_per_s, "");
  hint(p.ui,
       estimate.probed
           ? trf("A short measurement reached {} images/s with these settings on this machine.",
                 rate)
       : estimate.similar
           ? trf("An earlier training of this network, with other settings or before a restart, "
                 "reached {} images/s.",
                 rate)
           : trf("An earlier training with these settings reached {} images/s on this "
                 "machine.",
                 rate));
  if (estimate.seconds >= kTooLong_s) draw_shorter(p, form, estimate);
}

const DeviceInfo* info_of_first(const Panel& p, const StartTraining& request) {
  const std::vector<DeviceInfo>& all = p.model.machine().devices;
  const auto found = std::ranges::find(all, first_device(request), &DeviceInfo::device);
  return found == all.end() ? nullptr : &*found;
}

std::optional<TrainingEstimate> estimate_for(const Panel& p) {
  StartTraining request;
  if (!problem([&] { request = training_command(p); }).empty()) return {};
  return estimate_of(request, p.model.runs(), p.model.rates());
}

}  // namespace

std::string estimate_sentence(const Panel& p) {
  const auto estimate = estimate_for(p);
  if (!estimate || estimate->similar) return {};
  return trf("With these settings it takes {} on {}.", range_text(*estimate),
             devices_text(training_command(p)));
}

bool takes_very_long(const Panel& p) {
  const auto estimate = estimate_for(p);
  return estimate && estimate->seconds >= kVeryLong_s;
}

void draw_training_estimate(const Panel& p, TrainingForm& form) {
  draw_shortened(p, form);
  StartTraining request;
  if (!problem([&] { request = training_command(p); }).empty()) return;
  if (!std::ranges::all_of(request.devices, is_timed)) return;
  if (const auto estimate = estimate_of(request, p.model.runs(), p.model.rates())) {
    draw_known(p, form, request, *estimate);
    if (!estimate->similar) return;
  } else if (const DeviceInfo* first = info_of_first(p, request)) {
    warn_of_length(p, typical_training_s(request, *first));
  }
  const std::string why = busy_reason(p);
  if (button(p.ui, "training/probe", tr("Estimate the time"),
             {.enabled = why.empty(),
              .hint = why.empty() ? tr("Measures a few steps with these settings, for about "
                                       "three seconds")
                                  : std::string_view(why),
              .width = -1})) {
    request.probe = true;
    request.init_file.clear();
    request.resume_dir.clear();
    send(p, request);
  }
}

}  // namespace lab::ui
