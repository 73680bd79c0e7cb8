// The matmul ladder: each kernel's share of the device's peak, and its curve over size.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "compute/core/events/measured_cases.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/field_control.h"
#include "ui/pages/matmul/matmul_parts.h"
#include "ui/pages/panel.h"
#include "ui/pages/reference_parts.h"
#include "ui/pages/split_cpu.h"

namespace lab::ui {
namespace {

std::vector<std::string> which_names() {
  return {LAB_TEXT("All"), LAB_TEXT("Best"), LAB_TEXT("Choose")};
}

// Returns the known rungs, each name once, in ladder order.
std::vector<const RungInfo*> distinct_rungs(const Model& model) {
  std::vector<const RungInfo*> found;
  for (const RungInfo& rung : model.rungs()) {
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const RungInfo* r) { return r->name == rung.name; });
    if (!known) found.push_back(&rung);
  }
  return found;
}

// Returns what the rung adds, and a note if no rung of that name supports the chosen precision.
std::string box_hint(const Panel& p, const RungInfo& rung, Precision precision) {
  const auto& rungs = p.model.rungs();
  const bool fits = std::any_of(rungs.begin(), rungs.end(), [&](const RungInfo& other) {
    return other.name == rung.name && takes(other, precision);
  });
  std::string sentence = titled_name(rung.name, tr(rung.title)) + "\n" + tr(rung.sentence);
  if (fits) return sentence;
  return sentence + "\n" + trf("Does not support {}.", to_string(precision));
}

void kernel_boxes(const Panel& p, MatmulForm& form) {
  constexpr int kChosen = 2;
  if (form.which != kChosen || form.request.together) return;
  const Precision precision = matmul_precision(form, p.model.machine());
  const std::vector<const RungInfo*> rungs = distinct_rungs(p.model);
  if (rungs.empty()) {
    note_box(p.ui, "matmul/no_rungs", tr("Kernel names are available after the first run."));
    return;
  }
  for (const RungInfo* rung : rungs) {
    bool on = form.chosen.contains(rung->name);
    const std::string hint = box_hint(p, *rung, precision);
    if (!checkbox(p.ui, "matmul/kernel/" + rung->name, rung->name, on, hint)) continue;
    if (on) {
      form.chosen.insert(rung->name);
    } else {
      form.chosen.erase(rung->name);
    }
  }
}

void fields_of(const Panel& p, MatmulForm& form) {
  std::vector<std::string> devices = device_names(p.model.machine());
  devices.insert(devices.begin(), tr("every device"));
  form.device = std::clamp(form.device, 0, static_cast<int>(devices.size()) - 1);
  Fields fields(p);
  if (devices.size() > 2) {
    fields.next();
    combo(p.ui, "matmul/device", tr("Device"), devices, form.device, tr("Where the kernels run."));
  }
  fields.next();
  input_text(p.ui, "matmul/sizes", tr("Sizes N of N x N matrices"), form.sizes,
             tr("Powers of two (from..to) or a comma-separated list (100,500)."), "64..4096");
  if (devices.size() > 2 || form.request.together) {
    fields.next();
    field_control(p, "matmul", form.request, &StartMatmul::together);
  } else {
    fields.next();
    offer_split(p, "matmul",
                tr("One device has all cores. To multiply on several at once, split the cores."));
  }
  if (form.request.together) {
    fields.next();
    field_control(p.ui, "matmul/budget", field_of(&StartMatmul::budget_s), form.request.budget_s);
    return;
  }
  fields.next();
  segmented(p.ui, "matmul/which", tr("Kernels"), which_names(), form.which,
            tr("All rungs of the ladder, only the lab's fastest, or a selection."));
  fields.next();
  // A saved choice that this machine does not offer is kept until the user makes another.
  const MachineInfo& machine = p.model.machine();
  const RequestField dtype = field_of(&StartMatmul::dtype);
  int position = static_cast<int>(matmul_precision(form, machine));
  const auto offered = enum_names<Precision>().first(matmul_precisions(machine));
  if (choice_control(p.ui, "matmul/dtype", dtype, offered, position)) {
    form.request.dtype = static_cast<Precision>(position);
  }
  fields.next();
  field_control(p.ui, "matmul/budget", field_of(&StartMatmul::budget_s), form.request.budget_s);
  reference_field(p, fields, "matmul/reference");
}

void more_fields(const Panel& p, MatmulForm& form) {
  Fields fields(p);
  fields.next();
  input_number(
      p.ui, "matmul/live_size", tr("Size N of a live run"), form.live_size,
      {.min = 1, .max = 16384, .step = 64, .hint = tr("The size that \"Run live\" repeats.")});
  fields.next();
  field_control(p, "matmul", form.request, &StartMatmul::cache);
  fields.next();
  field_control(p, "matmul", form.request, &StartMatmul::seed);
}

// "every device, N = 64..4096, f32": the form on one line.
std::string settings_text(const Panel& p, const MatmulForm& form) {
  if (form.request.together) return fmt::format("{}, N = {}", tr("At once"), form.sizes);
  const MachineInfo& machine = p.model.machine();
  const auto place = static_cast<std::size_t>(std::max(0, form.device));
  const std::string device = place == 0 || place > machine.devices.size()
                                 ? tr("every device")
                                 : lab::to_string(machine.devices[place - 1].device);
  return fmt::format("{}, N = {}, {}", device, form.sizes,
                     to_string(matmul_precision(form, machine)));
}

std::string together_basis(const RunEstimate& estimate, double size_s) {
  return trf("{} sizes, estimated at {} each. Large ones take longer: each has at least {} rounds.",
             estimate.cases, format_seconds(size_s), kLeastTogetherRounds);
}

void matmul_form(const Panel& p) {
  MatmulForm& form = p.view.forms.matmul;
  const FormCard card(p, "matmul/form", tr("Settings"));
  if (!card) return;
  room_for_actions(p);
  const bool shown = settings_shown(p, Page::Matmul, "matmul/settings", form.settings_open,
                                    [&] { return settings_text(p, form); });
  if (shown) {
    fields_of(p, form);
    kernel_boxes(p, form);
  }
  const MachineInfo& machine = p.model.machine();
  StartMatmul request;
  const std::string error = problem([&] { request = to_command(form, machine, false); });
  if (!error.empty()) error_box(p.ui, "matmul/form_error", error);
  if (error.empty()) {
    const RunEstimate estimate = estimate_of(request, machine, p.model.rungs());
    estimate_note(p, "matmul/estimate", estimate,
                  request.together ? together_basis(estimate, request.budget_s)
                                   : sweep_basis(estimate, request.budget_s));
  }
  if (form.request.together) {
    form_actions(p, 130, [&] {
      if (start_button(p, "matmul/run", tr("Run at once"), error, true)) {
        send(p, request);
      }
    });
    return;
  }
  form_actions(p, 260, [&] {
    Row row(p.ui, {1, 1});
    row.next();
    if (start_button(p, "matmul/run", tr("Run ladder"), error, true)) {
      send(p, request);
    }
    row.next();
    // A live run reads its own size, not the list of sizes.
    const std::string live_error = problem([&] { return to_command(form, machine, true); });
    if (start_button(p, "matmul/live", tr("Run live"), live_error, false)) {
      send(p, to_command(form, machine, true));
    }
  });
  if (!shown) return;
  foldout(p.ui, "matmul/more", tr("More settings"), form.more);
  if (form.more) more_fields(p, form);
}

void empty_card(const Panel& p) {
  Card card(p, "matmul/nothing", "", {.extra = spare_height(p)});
  if (!card) return;
  MatmulForm& form = p.view.forms.matmul;
  const auto kind = static_cast<RunKind>(form.tabs.kind);
  if (runs(p, Page::Matmul) && p.model.matmul_runs().last() == kind) {
    muted(p.ui, kind == RunKind::Sweep
                    ? tr("The peak is measured first, then each kernel is verified and timed.")
                    : tr("The products are verified first, then timed."));
    return;
  }
  const auto command = [&] {
    MatmulForm other = form;
    other.request.together = kind == RunKind::Together;
    return to_command(other, p.model.machine(), kind == RunKind::Live);
  };
  constexpr std::array kFromTour = {TourQuestion::Peak};
  const std::string known = tour_sentence(p, kFromTour);
  struct Offer {
    std::string sentence, label;
  };
  const Offer offer =
      kind == RunKind::Live
          ? Offer{tr("No live run yet. It repeats the kernels at one size until stopped."),
                  tr("Run live")}
      : kind == RunKind::Together
          ? Offer{tr("No devices have been measured at once yet. All devices multiply at the same "
                     "time, and as often the first one alone."),
                  tr("Run at once")}
          : Offer{
                fmt::format("{} {}", known.empty() ? tr("No kernel has been measured yet.") : known,
                            tr("The ladder goes from three plain loops to the machine's limit.")),
                tr("Run ladder")};
  if (empty_page(p, "matmul/empty", offer.sentence, offer.label, command)) {
    form.request.together = kind == RunKind::Together;
  }
}

void failed_card(const Panel& p, const MatmulResults& results) {
  if (results.failed.empty()) return;
  Card card(p, "matmul/failed", tr("Failed"),
            {.hint = tr("Kernels whose product was wrong or could not be computed. They were not "
                        "timed; all others were.")});
  if (!card) return;
  for (std::size_t i = 0; i < results.failed.size(); ++i) {
    const RungFailed& f = results.failed[i];
    error_box(p.ui, fmt::format("matmul/failed/{}", i),
              trf("{} in {} at {} on {}: {}", f.kernel, to_string(f.dtype), f.n,
                  to_string(f.device), f.reason));
  }
}

void skipped_card(const Panel& p, const MatmulResults& results) {
  if (results.skipped.empty()) return;
  Card card(p, "matmul/skipped", tr("Skipped"),
            {.hint = tr("Cases that cannot run here, with the reason. These are not failures.")});
  if (!card) return;
  for (const Skipped& s : results.skipped) {
    muted(p.ui, fmt::format("{}: {}", s.what, tr(s.reason)));
  }
}

void matmul_results(const Panel& p) {
  outcome_box(p, Page::Matmul);
  const bool several = p.model.devices().size() > 1;
  const std::vector<std::string> titles = {LAB_TEXT("Ladder"), LAB_TEXT("Live"),
                                           LAB_TEXT("At once")};
  constexpr std::array kKinds = {RunKind::Sweep, RunKind::Live, RunKind::Together};
  const std::size_t offered = several ? 3 : 2;
  const Kept<MatmulResults>& kept =
      run_tabs(p, Page::Matmul, p.model.matmul_runs(), p.view.forms.matmul.tabs,
               std::span(titles).first(offered), std::span(kKinds).first(offered));
  if (shown(kept).empty()) {
    empty_card(p);
    return;
  }
  if (shown(kept).request.together) {
    draw_matmul_together(p, kept);
    skipped_card(p, shown(kept));
    return;
  }
  if (shown(kept).request.live) {
    draw_live_matmul(p, kept);
  } else {
    draw_device_choice(p, shown(kept));
    Pair pair(p, 680, spare_height(p));
    pair.next();
    draw_matmul_ladder(p, kept);
    pair.next();
    draw_matmul_curves(p, kept);
  }
  failed_card(p, shown(kept));
  if (!shown(kept).request.live) draw_matmul_roofline(p, kept);
  skipped_card(p, shown(kept));
}

}  // namespace

void draw_matmul_page(const Panel& p) {
  draw_form_and_results(p, matmul_form, matmul_results);
}

}  // namespace lab::ui
