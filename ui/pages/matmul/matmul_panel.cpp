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
#include "ui/pages/form_devices.h"
#include "ui/pages/matmul/matmul_parts.h"
#include "ui/pages/panel.h"
#include "ui/pages/reference_parts.h"
#include "ui/pages/run_tabs.h"

namespace lab::ui {
namespace {

constexpr int kChosen = 2;  // of which_names()

RunKind shown_kind(const MatmulForm& form) {
  return static_cast<RunKind>(form.tabs.kind);
}

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
  if (form.which != kChosen) return;
  const Precision precision = matmul_precision(form, p.model.machine());
  const std::vector<const RungInfo*> rungs = distinct_rungs(p.model);
  if (rungs.empty()) {
    note_box(p.ui, "matmul/no_rungs", tr("Kernel names are available after the first run."));
    return;
  }
  if (form.chosen.empty()) {
    field_error(p.ui, "matmul/kernels_error", tr("No kernel is ticked; tick at least one."));
  }
  for (const RungInfo* rung : rungs) {
    bool on = form.chosen.contains(rung->name);
    const std::string hint = box_hint(p, *rung, precision);
    if (!checkbox(p.ui, "matmul/kernel/" + rung->name, tr(rung->title), on, hint)) continue;
    if (on) {
      form.chosen.insert(rung->name);
    } else {
      form.chosen.erase(rung->name);
    }
  }
}

void kernel_fields(const Panel& p, Fields& fields, MatmulForm& form) {
  fields.next();
  const bool changed =
      segmented(p.ui, "matmul/which", tr("Kernels"), which_names(), form.which,
                tr("All rungs of the ladder, only the lab's fastest, or a selection."));
  if (changed && form.which == kChosen && form.chosen.empty()) {
    for (const RungInfo* rung : distinct_rungs(p.model)) form.chosen.insert(rung->name);
  }
  fields.next();
  // A saved choice that this machine does not offer is kept until the user makes another.
  const MachineInfo& machine = p.model.machine();
  const RequestField dtype = field_of(&StartMatmul::dtype);
  int position = static_cast<int>(matmul_precision(form, machine));
  const auto offered = enum_names<Precision>().first(matmul_precisions(machine));
  if (choice_control(p.ui, "matmul/dtype", dtype, offered, position)) {
    form.request.dtype = static_cast<Precision>(position);
  }
}

void budget_field(const Panel& p, Fields& fields, MatmulForm& form) {
  fields.next();
  field_control(p.ui, "matmul/budget", field_of(&StartMatmul::budget_s), form.request.budget_s);
}

void sizes_field(const Panel& p, Fields& fields, MatmulForm& form) {
  fields.next();
  const char* const accepts = tr("Powers of two (from..to) or a comma-separated list (100,500).");
  const std::string unread = field_problem(problem([&] { parse_counts(form.sizes); }), accepts);
  const std::string fault =
      unread.empty() ? field_problem(matmul_sizes_problem(form, p.model.machine())) : unread;
  input_text(p.ui, "matmul/sizes", tr("Sizes N of N x N matrices"), form.sizes, accepts, "64..4096",
             {.error = fault});
}

void ladder_fields(const Panel& p, MatmulForm& form) {
  std::vector<std::string> devices = device_names(p.model.machine());
  devices.insert(devices.begin(), tr("every device"));
  form.device = std::clamp(form.device, 0, static_cast<int>(devices.size()) - 1);
  Fields fields(p);
  if (devices.size() > 2) {
    fields.next();
    combo(p.ui, "matmul/device", tr("Device"), devices, form.device, tr("Where the kernels run."));
  }
  sizes_field(p, fields, form);
  if (devices.size() <= 2) {
    fields.next();
    offer_split(p, "matmul",
                tr("One device has all cores. To multiply on several at once, split the cores."));
  }
  kernel_fields(p, fields, form);
  budget_field(p, fields, form);
  reference_field(p, fields, "matmul/reference");
  untimed_note(p, "matmul");
}

void live_fields(const Panel& p, MatmulForm& form) {
  const MachineInfo& machine = p.model.machine();
  const std::vector<Device> timed = timed_devices(machine);
  Fields fields(p);
  if (timed.size() > 1) {
    fields.next();
    choose_one(
        p,
        {.path = "matmul/live_device", .label = tr("Device"), .hint = tr("Where the kernels run.")},
        timed, live_device(form, machine), form.live_device,
        [](Device device) { return lab::to_string(device); });
  }
  fields.next();
  input_number(
      p.ui, "matmul/live_size", tr("Size N of a live run"), form.live_size,
      {.min = 1, .max = 16384, .step = 64, .hint = tr("The size that \"Run live\" repeats.")});
  kernel_fields(p, fields, form);
}

void together_fields(const Panel& p, MatmulForm& form) {
  Fields fields(p);
  sizes_field(p, fields, form);
  budget_field(p, fields, form);
}

void fields_of(const Panel& p, MatmulForm& form) {
  switch (shown_kind(form)) {
    case RunKind::Sweep: ladder_fields(p, form); break;
    case RunKind::Live: live_fields(p, form); break;
    case RunKind::Together: together_fields(p, form); break;
  }
  if (shown_kind(form) != RunKind::Together) kernel_boxes(p, form);
}

void more_fields(const Panel& p, MatmulForm& form) {
  Fields fields(p);
  fields.next();
  field_control(p, "matmul", form.request, &StartMatmul::cache);
  fields.next();
  field_control(p, "matmul", form.request, &StartMatmul::seed);
}

// Whether a field of the form says what is wrong.
bool has_field_error(const MatmulForm& form, const MachineInfo& machine) {
  const RunKind kind = shown_kind(form);
  const bool kernels = form.which == kChosen && form.chosen.empty();
  const bool sizes = !matmul_sizes_problem(form, machine).empty();
  return (kernels && kind != RunKind::Together) || (sizes && kind != RunKind::Live);
}

// "every device, N = 64..4096, f32": the form on one line.
std::string settings_text(const Panel& p, const MatmulForm& form) {
  const MachineInfo& machine = p.model.machine();
  const std::string dtype = to_string(matmul_precision(form, machine));
  if (shown_kind(form) == RunKind::Together) {
    return fmt::format("{}, N = {}", tr("Together"), form.sizes);
  }
  if (shown_kind(form) == RunKind::Live) {
    return fmt::format("{}, N = {}, {}", lab::to_string(live_device(form, machine)), form.live_size,
                       dtype);
  }
  const auto place = static_cast<std::size_t>(std::max(0, form.device));
  const std::string device = place == 0 || place > machine.devices.size()
                                 ? tr("every device")
                                 : lab::to_string(machine.devices[place - 1].device);
  return fmt::format("{}, N = {}, {}", device, form.sizes, dtype);
}

// "Run live on cpu:0" where it is not the only device.
std::string run_label(const Panel& p, RunKind kind) {
  const MachineInfo& machine = p.model.machine();
  switch (kind) {
    case RunKind::Sweep: break;
    case RunKind::Live:
      return timed_devices(machine).size() < 2
                 ? tr("Run live")
                 : trf("Run live on {}", lab::to_string(live_device(p.view.forms.matmul, machine)));
    case RunKind::Together: return tr("Run together");
  }
  return tr("Run ladder");
}

std::string together_basis(const RunEstimate& estimate, double size_s) {
  return trf("{} sizes, estimated at {} each. Large ones take longer: each has at least {} rounds.",
             estimate.cases, format_seconds(size_s), kLeastTogetherRounds);
}

// Fewer sizes, and as much time per case as the whole run of about 15 s allows.
StartMatmul quick_ladder(const Panel& p) {
  constexpr double kTimed_s = 10, kMost_s = 0.2;  // the rest verifies and measures the ceilings
  MatmulForm form = p.view.forms.matmul;
  form.sizes = "256,512,1024";
  StartMatmul request = to_command(form, p.model.machine(), false);
  const std::size_t cases = estimate_of(request, p.model.machine(), p.model.rungs()).cases;
  request.budget_s =
      std::min(kMost_s, kTimed_s / static_cast<double>(std::max<std::size_t>(1, cases)));
  return request;
}

// "Quick, 15 s": the cases of `request`, and the peak and the bandwidths before them.
std::string quick_label(const Panel& p) {
  constexpr double kCeilings_s = 5;
  StartMatmul request;
  if (!problem([&] { request = quick_ladder(p); }).empty()) return tr("Quick");
  const RunEstimate estimate = estimate_of(request, p.model.machine(), p.model.rungs());
  return trf("Quick, {:.0f} s", kCeilings_s + estimate.seconds);
}

// `width` as in ButtonOptions.
void quick_button(const Panel& p, std::string_view path, float width) {
  const std::string fault = problem([&] { quick_ladder(p); });
  const std::string why = fault.empty() ? busy_reason(p) : fault;
  if (button(p.ui, path, quick_label(p),
             {.enabled = why.empty(),
              .hint = why.empty()
                          ? tr("The same kernels on the same devices at N = 256, 512 and 1024. "
                               "The form's sizes and time per kernel do not apply.")
                          : why,
              .width = width})) {
    send_and_show(p, quick_ladder(p));
  }
}

void run_buttons(const Panel& p, RunKind kind, const std::string& error,
                 const StartMatmul& request) {
  if (stop_instead(p, Page::Matmul)) return;
  const char* const path = kind == RunKind::Live ? "matmul/live" : "matmul/run";
  if (kind != RunKind::Sweep) {
    if (start_button(p, path, run_label(p, kind), error, true)) send_and_show(p, request);
    return;
  }
  Row row(p.ui, {1, 1});
  row.next();
  if (start_button(p, path, run_label(p, kind), error, true)) send_and_show(p, request);
  row.next();
  quick_button(p, "matmul/quick", -1);
}

void matmul_form(const Panel& p) {
  MatmulForm& form = p.view.forms.matmul;
  const RunKind kind = shown_kind(form);
  form.request.together = kind == RunKind::Together;
  const FormCard card(p, "matmul/form", tr("Settings"));
  if (!card) return;
  room_for_actions(p);
  const bool shown = settings_shown(p, Page::Matmul, "matmul/settings", form.settings_open,
                                    [&] { return settings_text(p, form); });
  if (shown) fields_of(p, form);
  const MachineInfo& machine = p.model.machine();
  StartMatmul request;
  const std::string error =
      problem([&] { request = to_command(form, machine, kind == RunKind::Live); });
  if (!error.empty() && !(shown && has_field_error(form, machine))) {
    error_box(p.ui, "matmul/form_error", field_problem(error));
  }
  if (error.empty()) {
    const RunEstimate estimate = estimate_of(request, machine, p.model.rungs());
    estimate_note(p, "matmul/estimate", estimate,
                  request.together ? together_basis(estimate, request.budget_s)
                                   : sweep_basis(estimate, request.budget_s));
  }
  form_actions(p, kind == RunKind::Sweep ? 260 : 160,
               [&] { run_buttons(p, kind, error, request); });
  if (!shown || kind == RunKind::Together) return;
  foldout(p.ui, "matmul/more", tr("More settings"), form.more);
  if (form.more) more_fields(p, form);
}

void empty_card(const Panel& p) {
  Card card(p, "matmul/nothing", "", {.extra = spare_height(p)});
  if (!card) return;
  const MatmulForm& form = p.view.forms.matmul;
  const RunKind kind = shown_kind(form);
  if (runs(p, Page::Matmul) && p.model.matmul_runs().last() == kind) {
    muted(p.ui, kind == RunKind::Sweep
                    ? tr("The peak is measured first, then each kernel is verified and timed.")
                    : tr("The products are verified first, then timed."));
    return;
  }
  const auto command = [&] { return to_command(form, p.model.machine(), kind == RunKind::Live); };
  constexpr std::array kFromTour = {TourQuestion::Peak};
  const std::string known = tour_sentence(p, kFromTour);
  const std::string sentence =
      kind == RunKind::Live
          ? tr("No live run yet. It repeats the kernels at one size until stopped.")
      : kind == RunKind::Together
          ? tr("No devices have been measured together yet. The same products are computed on all "
               "devices at the same time, then on the first device alone.")
          : fmt::format("{} {}", known.empty() ? tr("No kernel has been measured yet.") : known,
                        tr("The ladder goes from three plain loops to the machine's limit."));
  const bool quick = kind == RunKind::Sweep;
  empty_page(p, "matmul/empty", sentence, run_label(p, kind), command,
             quick ? room_beside(p, quick_label(p)) : 0);
  if (!quick) return;
  draw_beside(p, "matmul/empty", [&] { quick_button(p, "matmul/empty/quick", 0); });
}

void failed_card(const Panel& p, const MatmulResults& results) {
  if (results.failed.empty()) return;
  Card card(p, "matmul/failed", tr("Failed"),
            {.hint = tr("Kernels whose product was wrong or that ended with an error. They have no "
                        "times, or no later ones.")});
  if (!card) return;
  for (std::size_t i = 0; i < results.failed.size(); ++i) {
    const RungFailed& f = results.failed[i];
    error_box(p.ui, fmt::format("matmul/failed/{}", i),
              trf("{} in {} at {} on {}: {}",
                  titled_name(f.kernel, kernel_title(p.model.rungs(), f.device, f.kernel)),
                  to_string(f.dtype), f.n, to_string(f.device), f.reason));
  }
}

// "Three loops at 1024 on cpu:0": a skipped case with the title of its kernel.
std::string titled_case(const Panel& p, const std::string& what) {
  for (const RungInfo* rung : distinct_rungs(p.model)) {
    if (what.starts_with(rung->name + " ") && !rung->title.empty()) {
      return tr(rung->title) + what.substr(rung->name.size());
    }
  }
  return what;
}

void skipped_card(const Panel& p, const MatmulResults& results) {
  if (results.skipped.empty()) return;
  Card card(p, "matmul/skipped", tr("Skipped"),
            {.hint = tr("Cases that cannot run here, with the reason. These are not failures.")});
  if (!card) return;
  for (std::size_t i = 0; i < results.skipped.size(); ++i) {
    const Skipped& s = results.skipped[i];
    const std::string text = fmt::format("{}: {}", titled_case(p, s.what), tr(s.reason));
    muted(p.ui, text);
    record_item(p.ui, fmt::format("matmul/skipped/{}", i), "text", text);
  }
}

void matmul_results(const Panel& p) {
  failure_box(p, Page::Matmul);
  const bool several = alike_devices(p.model.machine().devices).size() > 1;
  const std::vector<std::string> titles = {LAB_TEXT("Ladder"), LAB_TEXT("Live"),
                                           LAB_TEXT("Together")};
  constexpr std::array kKinds = {RunKind::Sweep, RunKind::Live, RunKind::Together};
  const std::size_t offered = several ? 3 : 2;
  const Kept<MatmulResults>& kept = run_tabs(
      p, Page::Matmul, p.model.matmul_runs(), p.view.forms.matmul.tabs,
      std::span(titles).first(offered), std::span(kKinds).first(offered), &has_unsteady_figures);
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
    draw_matmul_curves(p, kept, pair.beside());
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
