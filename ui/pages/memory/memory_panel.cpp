// The Memory page: create, list, copy, add and free tensors, with a plot of memory in use.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/events/tensor_code.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/form_devices.h"
#include "ui/pages/memory/memory_parts.h"
#include "ui/pages/panel.h"
#include "ui/plot/plot.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"

namespace lab::ui {
// --- GPU holdings ---------------------------------------------------------------------------

namespace {

constexpr std::array kColumns = {
    Column{LAB_TEXT("GPU"), 0.8F, false, {}},
    Column{LAB_TEXT("Tensors"), 1, true, LAB_TEXT("Including the buffers of a running job.")},
    Column{LAB_TEXT("Pool"), 1, true,
           LAB_TEXT("GPU memory reserved by the tensor pool, tensors included.")},
    Column{LAB_TEXT("Workspaces"), 1, true,
           LAB_TEXT("Workspaces of cuBLAS and cuBLASLt on the GPU.")},
    Column{LAB_TEXT("Page-locked"), 1, true,
           LAB_TEXT("Main memory for copies to and from the GPU.")},
    Column{LAB_TEXT("GPU reports"), 1, true, LAB_TEXT("In use on the GPU, by all programs.")}};

bool is_gpu(const DeviceInfo& device) {
  return lab::is_gpu(device.device);
}

void bytes_cell(const Panel& p, std::int64_t bytes) {
  cell(p.ui, format_bytes(bytes), trf("{} bytes", bytes));
}

void reported_cell(const Panel& p, const DeviceInfo& device) {
  const GpuRecord* gpu = p.model.gpu(device.pci_bus_id);
  if (gpu == nullptr) {
    cell(p.ui, "N/A", tr("NVML reports no data for this GPU."));
  } else if (const auto& used = gpu->history.last.memory_used_bytes) {
    bytes_cell(p, *used);
  } else {
    cell(p.ui, "N/A", tr(used.reason()));
  }
}

void gpu_line(const Panel& p, const DeviceInfo& device) {
  const DeviceTelemetry& last = p.model.history(device.device).last;
  table_row(p.ui);
  cell(p.ui, lab::to_string(device.device), device.name);
  for (const std::int64_t bytes : {last.lab_used_bytes, last.lab_pool_bytes,
                                   last.lab_workspace_bytes, last.lab_pinned_bytes}) {
    bytes_cell(p, bytes);
  }
  reported_cell(p, device);
}

// Shows the memory the lab holds because of each GPU, next to what the GPU reports; draws nothing
// if the lab computes on no GPU.
void holdings_card(const Panel& p) {
  const std::vector<DeviceInfo>& devices = p.model.machine().devices;
  if (std::none_of(devices.begin(), devices.end(), is_gpu)) return;
  const Card box(p, "memory/holdings", tr("Held for the GPUs"),
                 {.hint = tr("Updated with every device reading.")});
  if (!box || !begin_table(p.ui, "memory/holdings/table", kColumns)) return;
  for (const DeviceInfo& device : devices) {
    if (is_gpu(device)) gpu_line(p, device);
  }
  end_table(p.ui);
  caption(p.ui,
          tr("The CUDA context, loaded kernels and internal allocations of its libraries cannot be "
             "counted; the value the GPU reports includes them."));
}

// --- the page -------------------------------------------------------------------------------

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> kNames = {"f32", "bf16", "i32", "i64", "u8"};
  return kNames;
}

const std::vector<std::string>& fill_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const ValueName& name : enum_names<Fill>()) names.emplace_back(name.name);
    return names;
  }();
  return kNames;
}

void clamp_choice(int& choice, std::size_t choices) {
  choice = std::clamp(choice, 0, std::max(0, static_cast<int>(choices) - 1));
}

double elements_of(const MakeTensor& command) {
  double elements = 1;
  for (const std::int64_t size : command.shape) elements *= static_cast<double>(size);
  return elements;
}

double bytes_of(const MakeTensor& command) {
  return elements_of(command) * static_cast<double>(size_of(command.dtype));
}

std::int64_t limit_of(const MachineInfo& machine, Device device) {
  const auto info = std::ranges::find(machine.devices, device, &DeviceInfo::device);
  return info == machine.devices.end() ? 0 : info->memory_limit_bytes;
}

// Whether the tensor is within the device's memory limit.
bool fits_device(const MakeTensor& command, const MachineInfo& machine) {
  const std::int64_t limit = limit_of(machine, command.device);
  return limit <= 0 || bytes_of(command) <= static_cast<double>(limit);
}

std::string size_text(const MakeTensor& command) {
  const std::string product =
      trf("{} elements × {} B", group_digits(fmt::format("{:.0f}", elements_of(command))),
          size_of(command.dtype));
  return fmt::format("{}\n= {}", product,
                     format_bytes(static_cast<std::int64_t>(bytes_of(command))));
}

// "24 B of 5.13 GiB in use on cpu:0".
std::string use_text(const Panel& p, Device device) {
  return trf("{} of {} in use on {}", format_bytes(p.model.memory(device).used),
             format_bytes(limit_of(p.model.machine(), device)), lab::to_string(device));
}

// Why the tensor cannot be created, and what makes room for it; empty if it can.
std::string too_large(const Panel& p, const MakeTensor& command) {
  constexpr double kMostBytes = 9e18;  // that format_bytes takes
  const double bytes = bytes_of(command);
  const std::int64_t limit = limit_of(p.model.machine(), command.device);
  const std::int64_t used = p.model.memory(command.device).used;
  if (limit <= 0 || bytes <= static_cast<double>(limit - used)) return {};
  const std::string wanted = bytes > kMostBytes ? std::string(tr("more than any machine holds"))
                                                : format_bytes(static_cast<std::int64_t>(bytes));
  std::string text =
      trf("The tensor needs {}, but {} has {} free of its limit of {}.", wanted,
          lab::to_string(command.device), format_bytes(limit - used), format_bytes(limit));
  if (fits_device(command, p.model.machine())) {
    return text + ' ' + tr("Free tensors, or choose a smaller shape.");
  }
  const bool fits_another = std::ranges::any_of(p.model.devices(), [&](Device device) {
    return bytes <=
           static_cast<double>(limit_of(p.model.machine(), device) - p.model.memory(device).used);
  });
  return text + ' ' +
         (fits_another ? tr("Choose a smaller shape or another device.")
                       : tr("Choose a smaller shape."));
}

void fill_fields(const Panel& p, Fields& fields, MemoryForm& form) {
  fields.next();
  combo(
      p.ui, "memory/fill", tr("Fill"), fill_names(), form.fill,
      tr("rand is uniform in [0, 1), randn is normal; both give the same numbers on every device. "
         "values uses the numbers entered under Values."));
  const auto fill = static_cast<Fill>(form.fill);
  if (fill == Fill::Full) {
    fields.next();
    input_number(p.ui, "memory/value", tr("Value"), form.value,
                 {.hint = tr("Assigned to every element.")});
  }
  if (is_random(fill)) {
    fields.next();
    input_number(p.ui, "memory/seed", tr("Seed"), form.seed,
                 {.min = 0,
                  .hint = tr("The same seed gives the same tensor. The seed rises by one with each "
                             "tensor created.")});
  }
}

// A tensor that was not created leaves its seed to the next one.
void settle_creation(const Panel& p) {
  MemoryForm& form = p.view.forms.memory;
  const PageState& state = p.model.state(Page::Memory);
  if (!form.creating || busy(p) || state.job == *form.creating) return;
  form.creating.reset();
  const auto* made = state.command ? std::get_if<MakeTensor>(&*state.command) : nullptr;
  const bool random = made != nullptr && is_random(made->fill);
  if (random && state.phase == Phase::Done && !state.cancelled) ++form.seed;
}

// Whether the user chose the settings that cannot be used, rather than something else having taken
// the memory.
bool user_chose(MemoryForm& form, bool acceptable) {
  std::string now = fmt::format("{}|{}|{}|{}|{}|{}|{}", form.device, form.shape, form.dtype,
                                form.fill, form.value, form.values, form.name);
  if (acceptable) form.edited = false;
  if (!acceptable && !form.drawn.empty() && form.drawn != now) form.edited = true;
  form.drawn = std::move(now);
  return form.edited;
}

// What the tensor takes, or why it cannot be created, which is an error if the user chose so.
void creation_note(const Panel& p, const MakeTensor& command, const std::string& error,
                   bool chosen) {
  if (error.empty()) {
    const std::string size = size_text(command);
    muted(p.ui, size);
    record_item(p.ui, "memory/size", "text", size);
    const std::string use = use_text(p, command.device);
    muted(p.ui, use);
    record_item(p.ui, "memory/use", "text", use);
  } else if (chosen) {
    error_box(p.ui, "memory/form_error", error);
  } else {
    muted(p.ui, error);
    record_item(p.ui, "memory/form_note", "text", error);
  }
}

void busy_note(const Panel& p) {
  const std::string why = busy_elsewhere(p);
  if (why.empty()) return;
  footnote(p.ui, why);
  record_item(p.ui, "memory/busy", "note", why);
}

void memory_form(const Panel& p) {
  MemoryForm& form = p.view.forms.memory;
  const FormCard card(p, "memory/form", tr("New tensor"));
  if (!card) return;
  room_for_actions(p);
  const std::vector<std::string> devices = device_names(p.model.machine());
  clamp_choice(form.device, devices.size());
  const bool by_shape = static_cast<Fill>(form.fill) != Fill::Values;
  const std::string unreadable =
      by_shape ? field_problem(problem([&] { parse_shape(form.shape); })) : "";
  const std::string misnamed = field_problem(problem([&] { tensor_name(form.name); }));
  {
    Fields fields(p);
    fields.next();
    combo(p.ui, "memory/device", tr("Device"), devices, form.device,
          tr("Device that stores the tensor."));
    fields.next();
    if (!by_shape) {
      input_text(p.ui, "memory/values", tr("Values"), form.values,
                 tr("Numbers separated by commas, with brackets for rows."), "[[1, 2], [3, 4]]");
    } else {
      input_text(p.ui, "memory/shape", tr("Shape"), form.shape,
                 tr("Sizes from outermost to innermost, separated by commas."), "1024,1024",
                 {.error = unreadable});
    }
    fields.next();
    combo(p.ui, "memory/dtype", tr("Element type"), dtype_names(), form.dtype,
          tr("f32 takes 4 bytes per element, bf16 2, i32 4, i64 8, u8 1."));
    fill_fields(p, fields, form);
    fields.next();
    input_text(p.ui, "memory/name", tr("Name"), form.name,
               tr("Empty: X1, X2 and so on. A tensor that has the name is replaced, as by the "
                  "statement X = ones(2)."),
               tr("automatic"), {.error = misnamed});
  }
  settle_creation(p);
  MakeTensor command;
  std::string error = problem([&] { command = to_command(form, p.model.machine()); });
  if (error.empty()) error = too_large(p, command);
  const bool chosen = user_chose(form, error.empty());
  if (unreadable.empty() && misnamed.empty()) creation_note(p, command, error, chosen);
  std::string name;  // what the field holds now
  problem([&] { name = tensor_name(form.name); });
  const bool replaces = has_tensor_named(p, name);
  form_actions(p, 180, [&] {
    if (!start_button(p, "memory/make", replaces ? trf("Replace {}", name) : tr("Create tensor"),
                      error, true)) {
      return;
    }
    form.creating = p.model.state(Page::Memory).job;
    send(p, command);
  });
  busy_note(p);
  if (p.model.devices().size() > 1) return;
  offer_split(p, "memory",
              tr("Copies between devices and the errors of mixed devices need a second device."));
}

// Returns the tensors selected in the table that still exist.
std::vector<TensorId> selected(const Panel& p) {
  std::vector<TensorId> ids;
  for (const TensorInfo& t : p.model.tensors()) {
    if (p.view.forms.memory.selected.contains(t.id)) ids.push_back(t.id);
  }
  return ids;
}

void table_tools(const Panel& p) {
  MemoryForm& form = p.view.forms.memory;
  const std::vector<std::string> devices = device_names(p.model.machine());
  clamp_choice(form.copy_to, devices.size());
  const std::vector<TensorId> ids = selected(p);
  const std::string waiting = busy_reason(p);
  const std::string why = !waiting.empty()  ? waiting
                          : ids.size() != 2 ? tr("Tick two tensors in the table first")
                                            : "";
  const std::string elsewhere = busy_elsewhere(p);
  constexpr float kChoice = 200, kAdd = 280, kGaps = 24;  // units
  std::optional<Row> row;
  if (width_left(p) > kChoice + kAdd + kGaps) {
    row.emplace(p.ui, std::initializer_list<float>{-kChoice, -kAdd, 1});
  }
  if (row) row->next();
  combo(p.ui, "memory/copy_to", tr("Copies go to"), devices, form.copy_to,
        tr("Destination of the copy button in each row."));
  if (row) row->next();
  if (row || !elsewhere.empty()) control_label(p.ui, elsewhere.empty() ? " " : elsewhere);
  if (button(
          p.ui, "memory/add", tr("Add two tensors"),
          {.enabled = why.empty(),
           .hint = why.empty()
                       ? tr("If they are on different devices, the lab asks before it copies one.")
                       : why,
           .width = -1})) {
    send(p, AddTensors{ids[0], ids[1]});
  }
}

constexpr float kToolRow = 40;  // units: a button and its cell padding

// Moves the cursor so that a control of `height` units is vertically centred in the row.
void centre_in_row(const Panel& p, float height) {
  constexpr float kPadding = 8;  // above and below together
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + p.ui.px((kToolRow - kPadding - height) / 2));
}

void line_tools(const Panel& p, const TensorInfo& t) {
  ImGui::TableNextColumn();
  if (!t.owned_by_page) {
    centre_in_row(p, 13);
    caption(p.ui, tr("held by a job"));
    return;
  }
  const auto to = static_cast<std::size_t>(p.view.forms.memory.copy_to);
  const Locked locked(p.ui, busy_reason(p));
  const std::string to_name = lab::to_string(p.model.devices().at(to));
  if (icon_button(p.ui, fmt::format("memory/copy/{}", t.id), kIconCopy,
                  trf("Copy {} to {}", t.name, to_name))) {
    send(p, CopyTensor{t.id, p.model.devices().at(to)});
  }
  ImGui::SameLine(0, p.ui.px(4));
  if (icon_button(p.ui, fmt::format("memory/free/{}", t.id), kIconTrash, trf("Free {}", t.name))) {
    send(p, FreeTensor{t.id});
  }
}

void limit_cell(const Panel& p, Device device, std::int64_t bytes) {
  const std::int64_t limit = limit_of(p.model.machine(), device);
  constexpr double kLeast = 0.001;  // smaller shares are not told apart
  const double share = limit > 0 ? static_cast<double>(bytes) / static_cast<double>(limit) : 0;
  cell(p.ui,
       limit <= 0       ? "N/A"
       : share < kLeast ? "< 0.1 %"
                        : fmt::format("{:.1f} %", 100 * share),
       trf("of {}", format_bytes(limit)));
}

void table_line(const Panel& p, const TensorInfo& t, bool wide) {
  auto& ticked = p.view.forms.memory.selected;
  table_row(p.ui, kToolRow);
  ImGui::TableNextColumn();
  centre_in_row(p, 24);
  bool on = ticked.contains(t.id);
  if (checkbox(p.ui, fmt::format("memory/select/{}", t.id), t.name, on,
               tr("Ticked tensors can be added."), t.owned_by_page)) {
    if (on) {
      ticked.insert(t.id);
    } else {
      ticked.erase(t.id);
    }
  }
  cell(p.ui, lab::to_string(t.device));
  cell(p.ui, fmt::format("[{}] {}", fmt::join(t.shape, ","), to_string(t.dtype)));
  cell(p.ui, format_bytes(t.bytes), trf("{} bytes", t.bytes));
  limit_cell(p, t.device, t.bytes);
  if (wide) cell(p.ui, t.preview, t.preview);
  line_tools(p, t);
}

// The sum of the tensors of a device, if it has any.
void total_line(const Panel& p, Device device, bool wide) {
  std::int64_t count = 0, bytes = 0;
  for (const TensorInfo& t : p.model.tensors()) {
    if (t.device != device) continue;
    ++count;
    bytes += t.bytes;
  }
  if (count == 0) return;
  table_row(p.ui);
  cell(p.ui, tr("Total"));
  cell(p.ui, lab::to_string(device));
  cell(p.ui, count == 1 ? std::string(tr("1 tensor")) : trf("{} tensors", count));
  cell(p.ui, format_bytes(bytes), trf("{} bytes", bytes));
  limit_cell(p, device, bytes);
  if (wide) cell(p.ui, "");
  cell(p.ui, "");
}

// The table's height in units, 0 for the height of its rows. A higher table scrolls before the page
// has to.
float table_height(const Panel& p) {
  constexpr float kAbove = 680, kLeast = 220, kSumRow = 28;
  float rows = kSumRow;  // the header
  for (const Device device : p.model.devices()) {
    const auto held = std::ranges::count(p.model.tensors(), device, &TensorInfo::device);
    if (held > 0) rows += static_cast<float>(held) * kToolRow + kSumRow;
  }
  const float above = kAbove + statements_growth(p);
  const float most = std::max(kLeast, ImGui::GetIO().DisplaySize.y / p.ui.scale - above);
  return rows <= most ? 0 : most;
}

const TensorInfo* tensor_of(const Panel& p, TensorId id) {
  for (const TensorInfo& t : p.model.tensors()) {
    if (t.id == id) return &t;
  }
  return nullptr;
}

// The operands of a failed sum whose devices differ; nullopt if the last job is no such sum.
struct Mismatch {
  const AddTensors* sum = nullptr;
  const TensorInfo *a = nullptr, *b = nullptr;
};

std::optional<Mismatch> mismatch_of(const Panel& p) {
  const PageState& state = p.model.state(Page::Memory);
  if (state.phase != Phase::Failed || state.code != Errc::DeviceMismatch || !state.command) {
    return std::nullopt;
  }
  const auto* sum = std::get_if<AddTensors>(&*state.command);
  if (sum == nullptr) return std::nullopt;
  const TensorInfo *a = tensor_of(p, sum->a), *b = tensor_of(p, sum->b);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return Mismatch{sum, a, b};
}

// Offers to copy one operand to the device of the other and to add there.
void mismatch_box(const Panel& p, const Mismatch& mixed) {
  const auto [sum, a, b] = mixed;
  error_box(p.ui, "memory/error",
            trf("{} is on {} and {} on {}; nothing is copied silently.", a->name,
                lab::to_string(a->device), b->name, lab::to_string(b->device)));
  const std::string why = busy_reason(p);
  for (const auto& [moved, stays] : {std::pair(a, b), std::pair(b, a)}) {
    if (moved != a) ImGui::SameLine(0, p.ui.px(8));
    const std::string to = lab::to_string(stays->device);
    if (button(p.ui, fmt::format("memory/copy_and_add/{}", to),
               trf("Copy {} to {} and add", moved->name, to),
               {.enabled = why.empty(),
                .hint = why.empty() ? trf("The copy has {} and is freed after the sum.",
                                          format_bytes(moved->bytes))
                                    : why})) {
      send(p, AddTensors{sum->a, sum->b, stays->device});
    }
  }
}

void tensors_card(const Panel& p, const std::optional<Mismatch>& mixed) {
  const PageState& state = p.model.state(Page::Memory);
  Card card(p, "memory/tensors", tr("Live tensors"),
            {.extra = spare_height(p),
             .hint = tr("All tensors and all buffers of running jobs, on all devices."),
             .note = state.phase == Phase::Done ? state.said : std::string_view()});
  if (!card) return;
  if (mixed) mismatch_box(p, *mixed);
  if (p.model.tensors().empty()) {
    empty_state(p.ui, "memory/empty",
                tr("No live tensors. Start with a statement: click the first example above. The "
                   "form creates tensors of other shapes and values."),
                "");
    return;
  }
  table_tools(p);
  const bool wide = width_left(p) > 700;
  std::vector<Column> columns = {{LAB_TEXT("Name"), 1.6F, false, LAB_TEXT("Tick two to add them")},
                                 {LAB_TEXT("Device"), 0.9F, false, {}},
                                 {LAB_TEXT("Shape and type"), 1.6F, false, {}},
                                 {LAB_TEXT("Size"), 1.1F, true, {}},
                                 {LAB_TEXT("Of limit"), 0.9F, true,
                                  LAB_TEXT("Share of the most that the lab's tensors may hold on "
                                           "the device.")}};
  if (wide) columns.push_back({LAB_TEXT("First values"), 2.1F, false, {}});
  columns.push_back({"", 1.2F, false, {}});
  if (begin_table(p.ui, "memory/table", columns, table_height(p))) {
    for (const TensorInfo& t : p.model.tensors()) table_line(p, t, wide);
    for (const Device device : p.model.devices()) total_line(p, device, wide);
    end_table(p.ui);
  }
}

// --- the memory held over time --------------------------------------------------------------

// "Peak: 12.0 MiB on cpu:0, 48 B on cpu:1, of 5.13 GiB each"; empty before the first tensor.
std::string peaks_text(const Panel& p) {
  std::vector<std::string> peaks;
  std::set<std::int64_t> limits;
  for (const Device device : p.model.devices()) {
    const std::int64_t peak = p.model.memory(device).peak;
    if (peak == 0) continue;
    peaks.push_back(trf("{} on {}", format_bytes(peak), lab::to_string(device)));
    limits.insert(limit_of(p.model.machine(), device));
  }
  if (peaks.empty()) return "";
  const std::string all = fmt::format("{}", fmt::join(peaks, tr(", ")));
  if (limits.size() > 1) return trf("Peak: {}", all);
  const std::string limit = format_bytes(*limits.begin());
  return peaks.size() == 1 ? trf("Peak: {}, of {}", all, limit)
                           : trf("Peak: {}, of {} each", all, limit);
}

// When jobs of other pages ran, by page.
std::vector<plot::Band> job_bands(const Panel& p) {
  std::vector<plot::Band> bands;
  const auto add = [&](Page page, double begin_s, double end_s) {
    if (page == Page::Memory) return;
    bands.push_back({{}, begin_s});
    bands.push_back({tr(name_of(page)), end_s});
  };
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  const double first_s = p.model.now_s() - kHistorySeconds;
  for (const JobSpan& job : p.model.job_spans()) {
    if (job.end_s > first_s) add(job.page, job.begin_s, job.end_s);
  }
  if (const auto& job = p.model.job()) add(job->page, job->started_t_s, kEnd);
  if (!bands.empty() && bands.back().to < kEnd) bands.push_back({{}, kEnd});
  return bands;
}

// The most that the device's tensors may hold, once they hold enough to be seen beside it.
void add_limit(const Panel& p, Device device, std::vector<plot::Reference>& limits) {
  constexpr double kVisible = 0.1;
  const auto limit = static_cast<double>(limit_of(p.model.machine(), device));
  if (static_cast<double>(p.model.memory(device).peak) < kVisible * limit || limit <= 0) return;
  limits.push_back({.label = trf("limit of {}", lab::to_string(device)),
                    .y = limit,
                    .color = device_color(*p.ui.theme, device)});
}

// What each device held at a time.
std::string held_text(const Panel& p, double t_s) {
  std::string text = trf("{:.1f} s since the start", t_s);
  for (const Device device : p.model.devices()) {
    const MemoryHistory& memory = p.model.memory(device);
    const auto next = std::upper_bound(memory.t_s.begin(), memory.t_s.end(), t_s);
    if (memory.peak == 0 || next == memory.t_s.begin()) continue;
    const auto at = static_cast<std::size_t>(next - memory.t_s.begin()) - 1;
    add_row(text, lab::to_string(device),
            format_bytes(static_cast<std::int64_t>(memory.used_bytes[at])));
  }
  return text;
}

void plot_card(const Panel& p) {
  Card card(p, "memory/history", tr("Memory held by the lab's tensors"),
            {.hint = tr("Updated after each change and with every device reading. The names above "
                        "the plot are the pages whose jobs ran.")});
  if (!card) return;
  if (const std::string peaks = peaks_text(p); !peaks.empty()) {
    footnote(p.ui, peaks);
    record_item(p.ui, "memory/peaks", "text", peaks);
  }
  std::vector<plot::Series> series;
  std::vector<plot::Reference> limits;
  int i = 0;
  for (const Device device : p.model.devices()) {
    const MemoryHistory& memory = p.model.memory(device);
    if (memory.peak == 0) continue;
    add_limit(p, device, limits);
    const ImU32 color = device_color(*p.ui.theme, device);
    plot::Series s;
    s.label = lab::to_string(device);
    s.color = color;
    s.line = i % 2 == 0 ? plot::Line::Solid : plot::Line::Dashed;
    s.steps = true;  // tensors are created and freed at once
    s.x = memory.t_s;
    s.y = memory.used_bytes;
    s.describe = [&p, &memory](std::size_t at) { return held_text(p, memory.t_s[at]); };
    series.push_back(std::move(s));
    ++i;
  }
  plot::Axes axes;
  if (!series.empty()) {
    axes = {.x = {.label = tr("time since start"), .unit = "s"},
            .y = {.label = tr("held"), .unit = "B", .binary = true, .min = 0}};
  }
  plot::draw(p.ui, "memory/plot/used", axes, series,
             {.height = 190,
              .grows = true,
              .references = limits,
              .bands = job_bands(p),
              .empty_text = tr("Create a tensor to see its memory here")},
             p.out);
}

// A failed statement is still in its field, and a tensor above the device's limit never fits.
bool offers_retry(const Panel& p) {
  const auto& command = p.model.state(Page::Memory).command;
  if (!command || std::holds_alternative<RunTensorCode>(*command)) return false;
  const auto* make = std::get_if<MakeTensor>(&*command);
  return make == nullptr || fits_device(*make, p.model.machine());
}

void memory_results(const Panel& p) {
  const PageState& state = p.model.state(Page::Memory);
  // A failed statement is explained at its field and among the results.
  const bool at_field = state.phase == Phase::Failed && state.code != Errc::DeviceLost &&
                        state.command && std::holds_alternative<RunTensorCode>(*state.command);
  const std::optional<Mismatch> mixed = mismatch_of(p);
  if (!at_field && !mixed) outcome_box(p, Page::Memory, offers_retry(p));
  {
    constexpr float kLeast = 620;  // units in which both are usable side by side
    Pair pair(p, kLeast);
    pair.next();
    statements_card(p);
    pair.next();
    plot_card(p);
  }
  tensors_card(p, mixed);
  holdings_card(p);
}

}  // namespace

std::string busy_elsewhere(const Panel& p) {
  return p.model.job() && p.model.job()->page != Page::Memory ? busy_reason(p) : std::string();
}

void draw_memory_page(const Panel& p) {
  draw_form_and_results(p, memory_form, memory_results);
}

}  // namespace lab::ui
