// The form fields for several devices: device choice, division of a batch, and scaling of the
// learning rate.
#include <fmt/format.h>

#include <algorithm>

#include "compute/core/book/book_runs.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "ui/pages/field_control.h"
#include "ui/pages/form_devices.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr std::size_t kMaxBoxes = 8;
constexpr float kBoxWidth = 74;  // units, wide enough for cuda:0
constexpr float kBoxGap = 12;
constexpr double kChapterBatch = 256;  // the chapters' learning rates are for this batch

// Returns whether the check boxes are shown; many boxes are folded into one line.
bool boxes_shown(const Panel& p, TrainingForm& form) {
  const std::size_t all = form.devices.size();
  const auto ticked = std::count(form.devices.begin(), form.devices.end(), true);
  if (all <= kMaxBoxes) {
    control_label(p.ui, tr("Devices"));
    return true;
  }
  foldout(p.ui, "training/devices_open",
          trf("Devices: {} of {}", std::max<std::ptrdiff_t>(ticked, 1), all), form.devices_open);
  return form.devices_open;
}

void device_boxes(const Panel& p, TrainingForm& form) {
  const auto& devices = p.model.devices();
  form.devices.resize(devices.size(), false);
  if (std::ranges::find(form.devices, true) == form.devices.end()) form.devices.front() = true;
  if (!boxes_shown(p, form)) return;
  const bool offer_all = devices.size() > 2;
  const std::size_t boxes = devices.size() + (offer_all ? 1 : 0);
  const auto columns =
      static_cast<std::size_t>(std::max(1.0F, (width_left(p) + kBoxGap) / (kBoxWidth + kBoxGap)));
  const std::vector<float> weights(columns, 1.0F);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(8), p.ui.px(4)});
  for (std::size_t first = 0; first < boxes; first += columns) {
    Row row(p.ui, weights);
    for (std::size_t i = first; i < std::min(first + columns, boxes); ++i) {
      row.next();
      if (i == devices.size()) {
        bool all = std::find(form.devices.begin(), form.devices.end(), false) == form.devices.end();
        if (checkbox(p.ui, "training/devices_all", tr("all"), all)) {
          form.devices.assign(devices.size(), all);
        }
        continue;
      }
      const std::string name = lab::to_string(devices[i]);
      bool on = form.devices[i];
      if (checkbox(p.ui, "training/device/" + name, name, on)) form.devices[i] = on;
    }
  }
  ImGui::PopStyleVar();
}

bool scaled(const TrainingForm& form) {
  return form.request.lr_scale == LrScale::Linear;
}

// "0.1 x 512 / 256 = 0.2"
std::string scaled_rate_text(const TrainingForm& form) {
  const double rate = form.request.lr.value_or(0);
  const std::int64_t batch = form.request.batch;
  return fmt::format("{:g} x {} / 256 = {:.4g}", rate, batch,
                     rate * static_cast<double>(batch) / kChapterBatch);
}

// Returns the current settings or, if there are none, the question that they answer.
std::string larger_batch_text(const TrainingForm& form) {
  const double epochs = form.request.warmup_epochs;
  if (epochs <= 0) return scaled(form) ? tr("Linear") : tr("Twice the batch, twice the rate?");
  if (scaled(form)) {
    return epochs == 1 ? tr("Linear, warm-up 1 epoch") : trf("Linear, warm-up {:g} epochs", epochs);
  }
  return epochs == 1 ? tr("Warm-up of 1 epoch") : trf("Warm-up of {:g} epochs", epochs);
}

// Reports what happened to the chapter's larger batch, and two ways to avoid it.
void pitfall(const Panel& p) {
  const Spread one = chapter_accuracy("resnet18", 1), two = chapter_accuracy("resnet18", 2);
  const Spread mxnet = chapter_accuracy("resnet18", 2, "mxnet");
  muted(p.ui,
        trf("On two GPUs the chapter doubles batch and rate (512, 0.2). Its PyTorch runs then end "
            "at a test accuracy of {:.1f} ± {:.1f} % ({} runs) instead of {:.1f} ± {:.1f} % ({} "
            "runs). The cause is unknown; MXNet reaches {:.1f} % with the same settings.",
            100 * two.mean, 100 * two.deviation, two.n, 100 * one.mean, 100 * one.deviation, one.n,
            100 * mxnet.mean));
  record_item(p.ui, "training/pitfall", "text");
  muted(p.ui, tr("To be safe, keep the total batch at 256 and divide it over the devices, or scale "
                 "the rate linearly with a warm-up of a few epochs."));
}

void several_devices(const Panel& p) {
  const auto& devices = p.model.machine().devices;
  if (devices.size() != 1) return;
  offer_split(p, "training",
              trf("{} has all {} cores. To train on several devices, split the cores.",
                  lab::to_string(devices.front().device), devices.front().cores.size()));
}

}  // namespace

std::string shares_problem(const TrainingForm& form, const MachineInfo& machine) {
  const std::size_t devices = training_devices(form, machine).size();
  if (devices < 2 || form.request.share_policy != SharePolicy::Listed) return {};
  return problem([&] { parse_shares(form.shares, devices); });
}

void device_fields(const Panel& p, TrainingForm& form) {
  if (p.model.devices().size() < 2) {
    several_devices(p);
    return;
  }
  {
    const Locked locked(p.ui, lock_reason(p));
    device_boxes(p, form);
  }
  if (training_devices(form, p.model.machine()).size() < 2) return;
  {
    const Locked locked(p.ui, live_lock_reason(p));
    Fields fields(p);
    fields.next();
    int division = static_cast<int>(form.request.share_policy);
    if (segmented(p.ui, "training/division", tr("Batch division"),
                  labels_of(enum_names<SharePolicy>()), division,
                  tr("Equal: the same number of images for each device. Auto: measures the devices "
                     "and keeps adjusting the shares so that all finish together; results do not "
                     "repeat bit for bit. By list: in the given proportions."))) {
      form.request.share_policy = static_cast<SharePolicy>(division);
      form.edits.shares = true;
    }
    if (form.request.share_policy == SharePolicy::Listed) {
      fields.next();
      if (input_text(p.ui, "training/shares", tr("Shares, one per device"), form.shares,
                     tr("In any unit: 0.7, 0.3 and 70, 30 mean the same."), "0.7, 0.3")) {
        form.edits.shares = true;
      }
    }
  }
  draw_live_note(p, "training/live_shares");
  error_box(p.ui, "training/shares_error", shares_problem(form, p.model.machine()));
}

bool scales_larger_batch(const TrainingForm& form) {
  return scaled(form) || form.request.warmup_epochs > 0;
}

void draw_larger_batch(const Panel& p, TrainingForm& form) {
  foldout(p.ui, "training/larger_batch", larger_batch_text(form), form.larger_batch);
  if (!form.larger_batch) return;
  pitfall(p);
  const Locked locked(p.ui, lock_reason(p));
  Fields fields(p);
  fields.next();
  field_control(p, "training", form.request, &StartTraining::lr_scale);
  if (scaled(form)) caption(p.ui, scaled_rate_text(form));
  fields.next();
  field_control(p, "training", form.request, &StartTraining::warmup_epochs);
}

}  // namespace lab::ui
