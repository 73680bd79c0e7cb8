// The matmul ladder: each kernel's share of what the device can do, and its curve over size.
#include <fmt/format.h>

#include <algorithm>

#include "ui/panels/matmul_parts.h"
#include "ui/panels/panel.h"
#include "ui/panels/reference_parts.h"

namespace lab::ui {
namespace {

const std::vector<std::string>& which_names() {
  static const std::vector<std::string> kNames = {"All", "Best", "Choose"};
  return kNames;
}

// In the order of Precision. Only cards multiply in tf32.
std::vector<std::string> precision_names(const MachineInfo& machine) {
  std::vector<std::string> names = {"f32", "bf16"};
  const bool card =
      std::any_of(machine.devices.begin(), machine.devices.end(),
                  [](const DeviceInfo& d) { return d.device.kind == DeviceKind::Cuda; });
  if (card) names.emplace_back("tf32");
  return names;
}

const std::vector<std::string>& cache_names() {
  static const std::vector<std::string> kNames = {"Warm", "Cold"};
  return kNames;
}

// The rungs known so far that multiply in `precision`, each name once, in ladder order.
std::vector<const RungInfo*> distinct_rungs(const Model& model, Precision precision) {
  std::vector<const RungInfo*> found;
  for (const RungInfo& rung : model.rungs()) {
    if (!takes(rung, precision)) continue;
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const RungInfo* r) { return r->name == rung.name; });
    if (!known) found.push_back(&rung);
  }
  return found;
}

void kernel_boxes(const Panel& p, MatmulForm& form) {
  constexpr int kChosen = 2;
  if (form.which != kChosen) return;
  const std::vector<const RungInfo*> rungs =
      distinct_rungs(p.model, static_cast<Precision>(form.dtype));
  if (rungs.empty()) {
    note_box(p.ui, "matmul/no_rungs", "The kernels' names are known after the first run.");
    return;
  }
  for (const RungInfo* rung : rungs) {
    bool on = form.chosen.contains(rung->name);
    if (!checkbox(p.ui, "matmul/kernel/" + rung->name, rung->title, on, rung->sentence)) continue;
    if (on) {
      form.chosen.insert(rung->name);
    } else {
      form.chosen.erase(rung->name);
    }
  }
}

void fields_of(const Panel& p, MatmulForm& form) {
  std::vector<std::string> devices = device_names(p.model.machine());
  devices.insert(devices.begin(), "every device");
  form.device = std::clamp(form.device, 0, static_cast<int>(devices.size()) - 1);
  Fields fields(p);
  if (devices.size() > 2) {
    fields.next();
    combo(p.ui, "matmul/device", "Device", devices, form.device, "Where the kernels run.");
  }
  fields.next();
  input_text(p.ui, "matmul/sizes", "Sizes N of N x N matrices", form.sizes,
             "Powers of two from..to, or a list with commas: 100,500.", "64..4096");
  fields.next();
  segmented(p.ui, "matmul/which", "Kernels", which_names(), form.which,
            "All rungs of the ladder, only the fastest of ours, or a choice.");
  fields.next();
  const std::vector<std::string> precisions = precision_names(p.model.machine());
  if (form.dtype >= static_cast<int>(precisions.size())) form.dtype = 0;
  segmented(
      p.ui, "matmul/dtype", "Element type", precisions, form.dtype,
      "Of A and B when they are multiplied; sums and C stay f32. A kernel is skipped where it "
      "does not have the type. tf32 is f32 in memory, rounded for a card's tensor cores.");
  fields.next();
  segmented(p.ui, "matmul/cache", "Cache before each repetition", cache_names(), form.cache,
            "Warm: the matrices may still be in the cache. Cold: they were flushed.");
  fields.next();
  input_number(p.ui, "matmul/budget", "Time for one kernel and size", form.budget_s,
               {.min = 0.01,
                .max = 60,
                .step = 0.1,
                .unit = "s",
                .hint = "Repeats until the median's spread is under 2 % or this time is over."});
  fields.next();
  input_number(p.ui, "matmul/seed", "Seed of the matrices", form.seed,
               {.min = 0, .hint = "Inputs are random: zeros would run faster on some chips."});
  reference_field(p, fields, "matmul/reference");
}

void form_card(const Panel& p) {
  MatmulForm& form = p.view.forms.matmul;
  Card card(p, "matmul/form", "Matrix multiplication", {.least = form_height(p)});
  if (!card) return;
  room_for_actions(p);
  fields_of(p, form);
  kernel_boxes(p, form);
  const MachineInfo& machine = p.model.machine();
  const std::string error = complaint([&] { return to_command(form, machine, false); });
  if (!error.empty()) error_box(p.ui, "matmul/form_error", error);
  form_actions(p, 260, [&] {
    Row row(p.ui, {1, 1});
    row.next();
    if (start_button(p, "matmul/run", "Run ladder", error, true)) {
      send(p, to_command(form, machine, false));
    }
    row.next();
    if (start_button(p, "matmul/live", "Run live", error, false)) {
      send(p, to_command(form, machine, true));
    }
  });
}

void nothing_card(const Panel& p) {
  Card card(p, "matmul/nothing", "", {.extra = spare_height(p)});
  if (!card) return;
  if (runs(p, JobKind::Matmul)) {
    muted(p.ui, "The peak is measured first, then each kernel is verified and timed.");
    return;
  }
  if (empty_page(p, "matmul/empty",
                 "No kernel has been measured yet. The ladder goes from three plain loops to what "
                 "the machine can do.",
                 "Run ladder")) {
    const MatmulForm& form = p.view.forms.matmul;
    const MachineInfo& machine = p.model.machine();
    const bool fits = complaint([&] { return to_command(form, machine, false); }).empty();
    send(p, to_command(fits ? form : MatmulForm{}, machine, false));
  }
}

void skipped_card(const Panel& p, const MatmulResults& results) {
  if (results.skipped.empty()) return;
  Card card(p, "matmul/skipped", "Skipped",
            {.hint = "Cases that cannot run here, and why. Not failures."});
  if (!card) return;
  for (const Skipped& s : results.skipped) {
    muted(p.ui, fmt::format("{}: {}", s.what, s.reason));
  }
}

void results(const Panel& p) {
  outcome_box(p, JobKind::Matmul, "matmul");
  const Kept<MatmulResults>& kept = p.model.matmul();
  if (shown(kept).empty()) {
    nothing_card(p);
    return;
  }
  if (shown(kept).request.live) {
    draw_live_matmul(p, kept);
  } else {
    Pair pair(p, 680, spare_height(p));
    pair.next();
    draw_matmul_ladder(p, kept);
    pair.next();
    draw_matmul_curves(p, kept);
  }
  if (!shown(kept).request.live) draw_matmul_roofline(p, kept);
  skipped_card(p, shown(kept));
}

}  // namespace

void draw_matmul_page(const Panel& p) {
  draw_form_and_results(p, form_card, results);
}

}  // namespace lab::ui
