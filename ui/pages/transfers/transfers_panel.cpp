// The Transfers page: a sweep over sizes, or one case repeated over time.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/core/events/measured_cases.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/field_control.h"
#include "ui/pages/form_devices.h"
#include "ui/pages/panel.h"
#include "ui/pages/reference_parts.h"
#include "ui/pages/run_tabs.h"
#include "ui/pages/transfers/transfer_parts.h"

namespace lab::ui {
namespace {

constexpr std::array<const char*, 8> kOpHints = {
    LAB_TEXT("Sums an array: 1 read per element."),
    LAB_TEXT("Fills an array: 1 write per element."),
    LAB_TEXT("c = a: 1 read and 1 write per element."),
    LAB_TEXT("STREAM's triad, a = b + s * c: 2 reads and 1 write per element."),
    LAB_TEXT("Copies to and from a GPU at the same time."),
    LAB_TEXT("The same bytes in 32 copies instead of one: what many small copies cost."),
    LAB_TEXT("A kernel follows a random cycle: the latency of one dependent read."),
    LAB_TEXT("Copies in and out while a kernel runs, as a timeline of streams.")};
void clamp_choice(int& choice, std::size_t choices) {
  choice = std::clamp(choice, 0, static_cast<int>(choices) - 1);
}

void device_fields(const Panel& p, Fields& fields, TransferForm& form) {
  std::vector<std::string> devices = device_names(p.model.machine());
  devices.insert(devices.begin(), tr("every device"));
  clamp_choice(form.from, devices.size());
  clamp_choice(form.to, devices.size());
  if (devices.size() <= 2) {  // a single device: nothing to choose
    fields.next();
    offer_split(
        p, "transfers",
        tr("One device has all cores. To measure transfers between devices, split the cores."));
    return;
  }
  fields.next();
  combo(p.ui, "transfers/from", tr("From"), devices, form.from, tr("Where the bytes are read."));
  fields.next();
  combo(p.ui, "transfers/to", tr("To"), devices, form.to, tr("Where the bytes are written."));
}

// Why the operation has no case between the form's devices; empty if it has one.
std::string why_never_measured(const Panel& p, const TransferForm& form, TransferOp op) {
  const std::vector<DeviceInfo>& devices = p.model.machine().devices;
  const auto chosen = [&](int choice, std::size_t i) {
    return choice == 0 || choice == static_cast<int>(i) + 1;
  };
  bool timed = false;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = 0; j < devices.size(); ++j) {
      const Device from = devices[i].device, to = devices[j].device;
      if (!chosen(form.from, i) || !chosen(form.to, j)) continue;
      if (is_measured_between(op, from, to)) return {};
      timed = timed || (is_timed(from) && is_timed(to));
    }
  }
  if (!timed) return tr("Emulated GPUs are not timed.");
  switch (op) {
    case TransferOp::Read:
    case TransferOp::Write:
    case TransferOp::Triad:
      return tr("Measured within one CPU device: choose the same device in From and To.");
    case TransferOp::Both: return tr("Measured from another device to a GPU: choose a GPU in To.");
    case TransferOp::Overlap:
      return tr("Measured from a CPU to a GPU: choose them in From and To.");
    default: return tr("Measured with a GPU: choose one in From or To.");
  }
}

void tick_boxes(const Panel& p, TransferForm& form) {
  const std::size_t ops = transfer_ops(p.model.machine());
  for (std::size_t i = 0; i < ops; i += 2) {
    Row row(p.ui, {1, 1});
    for (std::size_t j = i; j < i + 2; ++j) {
      const auto op = static_cast<TransferOp>(j);
      row.next();
      const std::string path = std::string("transfers/op/") + to_string(op);
      const std::string why = why_never_measured(p, form, op);
      bool on = has_op(form, op) && why.empty();
      const std::string hint = why.empty() ? tr(kOpHints.at(j)) : why;
      if (checkbox(p.ui, path, tr(label_of(op)), on, hint, why.empty())) set_op(form, op, on);
    }
  }
  if (!has_thread_counts(p.model.machine())) return;
  Row row(p.ui, {1, 1});
  row.next();
  field_control(p, "transfers", form.request, &StartTransfers::one_thread);
  row.next();
  field_control(p, "transfers", form.request, &StartTransfers::all_threads);
}

void main_fields(const Panel& p, TransferForm& form) {
  Fields fields(p);
  device_fields(p, fields, form);
  fields.next();
  const char* const accepts =
      tr("Powers of two (from..to) or a comma-separated list (4 KiB, 1 MiB).");
  const std::string unread = field_problem(problem([&] { parse_byte_sizes(form.sizes); }), accepts);
  const std::string fault =
      unread.empty() ? field_problem(transfer_sizes_problem(form, p.model.machine())) : unread;
  input_text(p.ui, "transfers/sizes", tr("Sizes of one array"), form.sizes, accepts, "1 KiB..1 GiB",
             {.error = fault});
  fields.next();
  field_control(p, "transfers", form.request, &StartTransfers::cache);
  fields.next();
  field_control(p.ui, "transfers/budget", field_of(&StartTransfers::budget_s),
                form.request.budget_s);
  reference_field(p, fields, "transfers/reference", has_transfers_for);
  untimed_note(p, "transfers");
}

// Why the form's size is not one of a live run; empty if it is.
std::string live_size_problem(const TransferForm& form) {
  return problem([&] {
    if (parse_byte_sizes(form.live_size).size() == 1) return;
    throw Error(Errc::Usage, trf("live run: '{}' is not one size; write 1 MiB", form.live_size));
  });
}

// "cpu:0", "cpu:0 to cpu:1": the pair that a live run measures; empty if the form has none.
std::string live_pair_text(const TransferForm& form, const MachineInfo& machine) {
  StartTransfers request;
  if (!problem([&] { request = to_command(form, machine, true); }).empty()) return "";
  return pair_text({request.from.front(), request.to.front()});
}

// A live run has one pair, also where the form has "every device".
void live_device_fields(const Panel& p, Fields& fields, TransferForm& form) {
  const MachineInfo& machine = p.model.machine();
  if (machine.devices.size() < 2) {
    device_fields(p, fields, form);  // offers to split the only one
    return;
  }
  StartTransfers request;
  const bool known = problem([&] { request = to_command(form, machine, true); }).empty();
  const auto field = [&](const char* path, const char* label, const char* help,
                         const std::vector<Device>& shown, int& choice) {
    int index = std::max(0, choice - 1);
    for (std::size_t i = 0; known && i < machine.devices.size(); ++i) {
      if (machine.devices[i].device == shown.front()) index = static_cast<int>(i);
    }
    fields.next();
    if (combo(p.ui, path, label, device_names(machine), index, help)) choice = index + 1;
  };
  field("transfers/from", tr("From"), tr("Where the bytes are read."), request.from, form.from);
  field("transfers/to", tr("To"), tr("Where the bytes are written."), request.to, form.to);
}

// The case of a live run.
void live_fields(const Panel& p, TransferForm& form) {
  const MachineInfo& machine = p.model.machine();
  const auto ops = enum_names<TransferOp>().first(live_transfer_ops(machine));
  clamp_choice(form.live_op, ops.size());
  Fields fields(p);
  live_device_fields(p, fields, form);
  fields.next();
  combo(p.ui, "transfers/live_op", tr("Operation"), labels_of(ops), form.live_op,
        tr(kOpHints.at(static_cast<std::size_t>(form.live_op))));
  fields.next();
  const char* const repeats = tr("The size that \"Run live\" repeats.");
  const std::string fault = live_size_problem(form);
  input_text(p.ui, "transfers/live_size", tr("Size of one array"), form.live_size, repeats, "1 MiB",
             {.error = field_problem(fault)});
  fields.next();
  field_control(p, "transfers", form.request, &StartTransfers::cache);
  if (!has_thread_counts(machine)) return;
  fields.next();
  const std::vector<std::string> threads = {tr("One thread"), tr("All threads")};
  int position = form.live_all_threads ? 1 : 0;
  segmented(p.ui, "transfers/live_threads", tr("Threads"), threads, position);
  form.live_all_threads = position == 1;
}

RunKind shown_kind(const TransferForm& form) {
  return static_cast<RunKind>(form.tabs.kind);
}

// "1 KiB..1 GiB" and the cache: the form on one line.
std::string settings_text(const TransferForm& form) {
  if (shown_kind(form) == RunKind::Live) {
    return fmt::format("{}, {}", tr(label_of(static_cast<TransferOp>(form.live_op))),
                       form.live_size);
  }
  return fmt::format("{}, {}", form.sizes, tr(label_of(form.request.cache)));
}

// The form's sweep, or the quick one between the same devices. Throws if no operation of the form
// can be measured.
StartTransfers sweep_of(const Panel& p, bool quick) {
  TransferForm form = p.view.forms.transfers;
  form.request.quick = quick;
  StartTransfers request = to_command(form, p.model.machine(), false);
  const auto never = [&](TransferOp op) { return !why_never_measured(p, form, op).empty(); };
  if (!quick && std::ranges::all_of(request.ops, never)) {
    throw Error(Errc::InvalidArgument,
                tr("no ticked operation is measured between these devices; tick Copy"));
  }
  return request;
}

bool quick_button(const Panel& p, std::string_view path, const std::string& error,
                  float width = -1) {
  const RequestField quick = field_of(&StartTransfers::quick);
  const std::string why = error.empty() ? busy_reason(p) : error;
  const std::string hint =
      fmt::format("{} {}", tr(quick.hint),
                  tr("This run takes only the devices, threads and cache of the form."));
  return button(p.ui, path, tr(quick.label),
                {.enabled = why.empty(), .hint = why.empty() ? hint : why, .width = width});
}

// "Run live: cpu:0 to cpu:1" where the machine has several devices.
std::string live_label(const Panel& p) {
  const MachineInfo& machine = p.model.machine();
  const std::string pair = live_pair_text(p.view.forms.transfers, machine);
  return pair.empty() || machine.devices.size() < 2 ? tr("Run live") : trf("Run live: {}", pair);
}

void sweep_buttons(const Panel& p, const std::string& error) {
  if (stop_instead(p, Page::Transfers)) return;
  Row row(p.ui, {1, 1});
  row.next();
  if (start_button(p, "transfers/run", tr("Run sweep"), error, true)) {
    send_and_show(p, sweep_of(p, false));
  }
  row.next();
  if (quick_button(p, "transfers/quick", problem([&] { sweep_of(p, true); }))) {
    send_and_show(p, sweep_of(p, true));
  }
}

void sweep_form(const Panel& p, TransferForm& form, bool fields) {
  if (fields) {
    main_fields(p, form);
    tick_boxes(p, form);
  }
  StartTransfers request;
  const std::string error = problem([&] { request = sweep_of(p, false); });
  const RunEstimate estimate =
      error.empty() ? estimate_of(request, p.model.machine()) : RunEstimate{};
  const bool at_field = fields && !transfer_sizes_problem(form, p.model.machine()).empty();
  if (!error.empty() && !at_field) error_box(p.ui, "transfers/form_error", field_problem(error));
  estimate_note(p, "transfers/estimate", estimate, sweep_basis(estimate, request.budget_s));
  form_actions(p, 260, [&] { sweep_buttons(p, error); });
}

void live_form(const Panel& p, TransferForm& form, bool fields) {
  if (fields) live_fields(p, form);
  StartTransfers request;
  const std::string error = problem([&] { request = to_command(form, p.model.machine(), true); });
  const bool at_field = fields && !live_size_problem(form).empty();
  if (!error.empty() && !at_field) error_box(p.ui, "transfers/form_error", field_problem(error));
  form_actions(p, 200, [&] {
    if (stop_instead(p, Page::Transfers)) return;
    if (start_button(p, "transfers/live", live_label(p), error, true)) send_and_show(p, request);
  });
}

void transfers_form(const Panel& p) {
  TransferForm& form = p.view.forms.transfers;
  const FormCard card(p, "transfers/form", tr("Settings"));
  if (!card) return;
  room_for_actions(p);
  const bool fields = settings_shown(p, Page::Transfers, "transfers/settings", form.settings_open,
                                     [&] { return settings_text(form); });
  if (shown_kind(form) == RunKind::Live) {
    live_form(p, form, fields);
  } else {
    sweep_form(p, form, fields);
  }
}

// Side by side unless the table of the costs needs the width.
void draw_costs_and_matrix(const Panel& p, const Kept<TransferResults>& kept) {
  constexpr float kLeast = 780;
  constexpr std::size_t kMostBeside = 6;  // devices whose cells hold a number in that width
  const bool costs = has_transfer_costs(shown(kept)), matrix = has_transfer_matrix(p, shown(kept));
  const bool many = p.model.devices().size() > kMostBeside;
  if (!costs || !matrix || many || p.view.forms.transfers.show_fits || width_left(p) < kLeast) {
    if (costs) draw_transfer_costs(p, kept);
    if (matrix) draw_transfer_matrix(p, kept);
    return;
  }
  Row row(p.ui, {1, 1}, {.equal = true});
  row.next();
  draw_transfer_costs(p, kept);
  row.next();
  draw_transfer_matrix(p, kept);
}

// Beside the button of the whole sweep.
void empty_quick(const Panel& p) {
  draw_beside(p, "transfers/empty", [&] {
    if (quick_button(p, "transfers/empty/quick", problem([&] { sweep_of(p, true); }), 0)) {
      send_and_show(p, sweep_of(p, true));
    }
  });
}

void transfer_results(const Panel& p) {
  failure_box(p, Page::Transfers);
  const std::vector<std::string> titles = {LAB_TEXT("Sweep"), LAB_TEXT("Live")};
  constexpr std::array kKinds = {RunKind::Sweep, RunKind::Live};
  const Kept<TransferResults>& kept =
      run_tabs(p, Page::Transfers, p.model.transfer_runs(), p.view.forms.transfers.tabs, titles,
               kKinds, &has_unsteady_samples);
  if (shown(kept).empty()) {
    Card card(p, "transfers/nothing", "", {.extra = spare_height(p)});
    if (!card) return;
    const TransferForm& form = p.view.forms.transfers;
    const auto kind = static_cast<RunKind>(form.tabs.kind);
    const bool live = kind == RunKind::Live;
    if (runs(p, Page::Transfers) && p.model.transfer_runs().last() == kind) {
      muted(p.ui, tr("Verifying and measuring the first case; it appears here immediately."));
      return;
    }
    constexpr std::array kFromTour = {TourQuestion::Bandwidth, TourQuestion::SmallCopy};
    const std::string known = tour_sentence(p, kFromTour);
    const std::string sweep = fmt::format(
        "{} {}", known.empty() ? tr("Nothing has been measured yet.") : known,
        tr("A sweep measures each size, verifies it, and fits the cost of a transfer."));
    empty_page(
        p, "transfers/empty",
        live ? tr("No live run yet. It repeats one case, chosen in the form, until stopped.")
             : sweep,
        live ? live_label(p) : tr("Run sweep"),
        [&]() -> Command {
          return live ? to_command(form, p.model.machine(), true) : sweep_of(p, false);
        },
        live ? 0 : room_beside(p, tr(field_of(&StartTransfers::quick).label)));
    if (!live) empty_quick(p);
    return;
  }
  if (shown(kept).request.live) {
    draw_live_transfers(p, kept);
  } else {
    draw_pair_choice(p, shown(kept));
    draw_transfer_headline(p, shown(kept));
    draw_transfer_curves(p, kept);
    draw_costs_and_matrix(p, kept);
    draw_transfer_timelines(p, kept);
  }
  draw_transfer_table(p, kept);
}

}  // namespace

void draw_transfers_page(const Panel& p) {
  draw_form_and_results(p, transfers_form, transfer_results);
}

}  // namespace lab::ui
