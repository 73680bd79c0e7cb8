// Beside the Train button: how long the training will take, and a way to make it short.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/training_estimate.h"
#include "ui/pages/training/training_parts.h"

namespace lab::ui {
namespace {

constexpr double kShort_s = 120;
constexpr double kTooLong_s = 150;  // from here on, the short version is offered

std::string devices_text(const StartTraining& request) {
  return request.devices.size() == 1 ? lab::to_string(request.devices.front())
                                     : trf("{} devices", request.devices.size());
}

// The button that shortens the training, or why there is none.
void draw_shorter(const Panel& p, TrainingForm& form, const TrainingEstimate& estimate) {
  StartTraining shorter = form.request;
  const double seconds = fit_into(kShort_s, estimate, shorter);
  const auto lengths = [](const StartTraining& r) {
    return std::tuple(r.epochs, r.width, r.synthetic_train, r.synthetic_test);
  };
  if (lengths(shorter) == lengths(form.request)) {
    const char* const text = tr("One epoch takes longer than two minutes.");
    caption(p.ui, text);
    record_item(p.ui, "training/no_shorter", "text", text);
    return;
  }
  const std::string label = seconds <= kShort_s ? std::string(tr("Fit into two minutes"))
                                                : trf("Shorten to {}", about(seconds));
  if (button(p.ui, "training/two_minutes", label,
             {.hint = tr("Reduces the epochs; if one epoch is still too long, the width of "
                         "ResNet-18, then the number of synthetic images."),
              .width = -1})) {
    form.request = shorter;
  }
}

void draw_known(const Panel& p, TrainingForm& form, const StartTraining& request,
                const TrainingEstimate& estimate) {
  const std::string text =
      estimate.probed ? trf("{} on {}, from a short measurement", about(estimate.seconds),
                            devices_text(request))
                      : trf("{} on {}, as before", about(estimate.seconds), devices_text(request));
  caption(p.ui, text);
  record_item(p.ui, "training/estimate", "text", text);
  hint(p.ui,
       estimate.probed
           ? trf("A short measurement reached {} images/s with these settings on this machine.",
                 format_si(estimate.images_per_s, ""))
           : trf("An earlier training with these settings reached {} images/s on this "
                 "machine.",
                 format_si(estimate.images_per_s, "")));
  if (estimate.seconds >= kTooLong_s) draw_shorter(p, form, estimate);
}

}  // namespace

std::string estimate_sentence(const Panel& p, const TrainingForm& form) {
  StartTraining request;
  if (!problem([&] { request = to_command(form, p.model.machine()); }).empty()) return {};
  const auto estimate = estimate_of(request, p.model.runs(), p.model.rates());
  if (!estimate) return {};
  return trf("With these settings it takes {} on {}.", about(estimate->seconds),
             devices_text(request));
}

void draw_training_estimate(const Panel& p, TrainingForm& form) {
  StartTraining request;
  if (!problem([&] { request = to_command(form, p.model.machine()); }).empty()) return;
  if (!std::ranges::all_of(request.devices, is_timed)) return;
  if (const auto estimate = estimate_of(request, p.model.runs(), p.model.rates())) {
    return draw_known(p, form, request, *estimate);
  }
  const std::string why = busy_reason(p);
  if (button(p.ui, "training/probe", tr("How long will it take?"),
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
