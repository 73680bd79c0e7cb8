// Helpers shared by the pages: jobs and page layout.
#include "ui/pages/panel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {
// --- jobs -----------------------------------------------------------------------------------

namespace {

// How long a sent job may take to appear before it is considered lost.
constexpr double kSentSeconds = 2;

bool just_sent(const Panel& p) {
  return p.view.sent_after == p.model.jobs_started() &&
         p.ui.time_s - p.view.sent_t_s < kSentSeconds;
}

// Whether the same request may succeed later.
bool may_succeed_later(Errc code) {
  switch (code) {
    case Errc::InvalidArgument:
    case Errc::Usage:
    case Errc::DeviceMismatch:
    case Errc::Unsupported: return false;
    default: return true;
  }
}

Command as_command(const JobCommand& job) {
  return std::visit([](const auto& c) { return Command(c); }, job);
}

}  // namespace

bool busy(const Panel& p) {
  return p.model.job().has_value() || just_sent(p);
}

std::string busy_reason(const Panel& p) {
  if (p.model.job()) {
    return trf("Busy: {}", p.model.job()->title);
  }
  return just_sent(p) ? tr("The job just requested is about to start") : "";
}

void send(const Panel& p, Command command) {
  p.out.push_back(std::move(command));
  p.view.sent_after = p.model.jobs_started();
  p.view.sent_t_s = p.ui.time_s;
}

bool runs(const Panel& p, Page page) {
  return p.model.job() && p.model.job()->page == page;
}

bool paused(const Panel& p) {
  return p.model.job() && p.view.paused_job == p.model.job()->id;
}

bool has_progress(const Panel& p) {
  const auto& job = p.model.job();
  return job && (paused(p) || job->done > 0 || job->left_s);
}

std::string progress_text(const Panel& p) {
  const auto& job = p.model.job();
  if (!job) return {};
  if (!has_progress(p)) {  // or too young to tell
    return trf("for {:.0f} s", std::floor(std::max(0.0, p.model.now_s() - job->started_t_s)));
  }
  const std::string done = percent(job->done);
  if (paused(p)) return trf("paused at {}", done);
  return job->left_s ? trf("{}, {} left", done, about(*job->left_s)) : done;
}

void toggle_pause(const Panel& p) {
  if (!p.model.job() || !p.model.job()->can_pause) return;
  if (paused(p)) {
    p.out.push_back(ResumeJob{});
    p.view.paused_job = 0;
  } else {
    p.out.push_back(PauseJob{});
    p.view.paused_job = p.model.job()->id;
  }
}

void cancel(const Panel& p) {
  if (p.model.job()) p.out.push_back(CancelJob{});
}

bool start_button(const Panel& p, std::string_view path, std::string_view label,
                  std::string_view error, bool main, ButtonKind kind) {
  const std::string why = error.empty() ? busy_reason(p) : std::string(error);
  const bool keys = why.empty() && main;
  const bool clicked = button(p.ui, path, label,
                              {.kind = main ? kind : ButtonKind::Normal,
                               .enabled = why.empty(),
                               .hint = keys ? "Ctrl+Enter" : std::string_view(why),
                               .width = -1,
                               .hint_side = keys ? HintSide::Left : HintSide::Below});
  return why.empty() && (clicked || (main && p.start_pressed));
}

bool stop_instead(const Panel& p, Page page) {
  if (!runs(p, page)) return false;
  if (button(p.ui, fmt::format("{}/stop", key_of(page)), tr("Stop"),
             {.kind = ButtonKind::Danger,
              .hint = tr("Stops the running job; results are kept. Esc asks before it stops."),
              .width = -1})) {
    cancel(p);
  }
  return true;
}

void send_and_show(const Panel& p, Command command) {
  send(p, std::move(command));
  p.view.to_top = true;
}

void duration_note(const Panel& p, std::string_view path, std::string_view before) {
  std::string text(before);
  if (runs(p, p.view.page)) {
    const std::optional<double> left_s = p.model.job()->left_s;
    text = left_s ? trf("{} left", about(*left_s)) : std::string(tr("Running"));
  }
  caption(p.ui, text);
  record_item(p.ui, path, "text", text);
}

void estimate_note(const Panel& p, std::string_view path, const RunEstimate& estimate,
                   std::string_view basis) {
  constexpr double kLong_s = 3600;
  if (estimate.cases == 0) return;
  if (runs(p, p.view.page)) return duration_note(p, path, "");
  if (estimate.seconds >= kLong_s) {
    warning_sentence(p, path,
                     trf("This run takes {}. Start it only if you mean it; fewer or smaller sizes "
                         "are quicker.",
                         about(estimate.seconds)));
  } else {
    duration_note(p, path, trf("{}, more on a busy machine", about(estimate.seconds)));
  }
  hint(p.ui, basis);
}

std::string sweep_basis(const RunEstimate& estimate, double case_s) {
  return trf("{} cases, estimated at {} each. Many end earlier, once their spread is below 2 %.",
             group_digits(std::to_string(estimate.cases)), format_seconds(case_s));
}

namespace {

// Offers to stop the job that keeps the page's own from starting.
void stop_button(const Panel& p, const std::string& path) {
  const std::string label = trf("Stop: {}", p.model.job()->title);
  const float room = ImGui::GetContentRegionAvail().x;
  const float width = std::min(room, p.ui.px(button_width(p.ui, label)));
  const ImVec2 at = ImGui::GetCursorPos();
  ImGui::SetCursorPos({at.x + (room - width) / 2, at.y - p.ui.px(16)});  // close to its neighbour
  if (button(p.ui, path, label,
             {.hint = tr("Asks for confirmation. Results so far are kept."),
              .width = width / p.ui.scale})) {
    p.view.confirm_cancel = true;
  }
}

}  // namespace

bool empty_page(const Panel& p, std::string_view path, std::string_view sentence,
                std::string_view label, const std::function<Command()>& command, float beside) {
  std::string why = busy_reason(p);
  const std::string text =
      why.empty() ? std::string(sentence) : fmt::format("{} {}.", sentence, why);
  if (why.empty()) why = field_problem(problem(command));  // the form shows it
  const bool pressed = empty_state(p.ui, path, text, label, why, beside);
  if (pressed) send(p, command());
  if (p.model.job()) stop_button(p, fmt::format("{}/stop", path));
  return pressed;
}

namespace {

constexpr float kBetweenButtons = 8;  // units

}  // namespace

void draw_beside(const Panel& p, std::string_view path, const std::function<void()>& draw) {
  const WidgetRect* first = p.ui.widgets.find(path);
  if (first == nullptr) return;
  const ImVec2 back = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({first->max.x + p.ui.px(kBetweenButtons), first->min.y});
  draw();
  ImGui::SetCursorScreenPos(back);
}

float room_beside(const Panel& p, std::string_view label) {
  return kBetweenButtons + button_width(p.ui, label);
}

namespace {

std::string answer_text(const TourFigure& figure) {
  const std::string value = value_text(figure), device = lab::to_string(figure.device);
  switch (figure.question) {
    case TourQuestion::Peak: return trf("a peak of {} on {}", value, device);
    case TourQuestion::Bandwidth: return trf("{} from memory on {}", value, device);
    case TourQuestion::SmallCopy:
      return trf("{} for a copy of {} on {}", value, format_bytes(kTourCopy_bytes), device);
    case TourQuestion::Training: break;
  }
  return trf("{} in training LeNet on {}", value, device);
}

}  // namespace

std::string tour_sentence(const Panel& p, std::span<const TourQuestion> questions) {
  constexpr int kMost = 2;  // devices per question
  std::vector<std::string> answers;
  for (const TourQuestion question : questions) {
    int devices = 0;
    for (const TourFigure& figure : shown(p.model.tour()).figures) {
      if (figure.question != question || !figure.missing.empty() || !figure.complete) continue;
      if (++devices <= kMost) answers.push_back(answer_text(figure));
    }
  }
  return answers.empty()
             ? ""
             : trf("The tour measured {}.", fmt::format("{}", fmt::join(answers, tr(", "))));
}

void restart_button(const Panel& p, std::string_view path, std::string_view label,
                    std::string_view hint, const RestartLab& request) {
  if (button(p.ui, path, label, {.kind = ButtonKind::Normal, .hint = hint, .width = 0})) {
    p.view.confirm_restart = request;
  }
  error_box(p.ui, fmt::format("{}/refused", path), p.model.restart_refusal());
}

void lost_box(const Panel& p, std::string_view path, std::string_view sentence) {
  if (sentence.empty()) return;
  error_box(p.ui, path, sentence);
  restart_button(p, fmt::format("{}/restart", path), tr("Restart Device Lab"),
                 tr("Restarts the program with the same arguments"), {.wake_gpus = true});
}

std::string of_cores(const Model& model, double cores) {
  const int threads = model.core_use().threads;
  if (std::ssize(model.silicon()->cores) != threads) {
    return trf("{:.1f} of {} hardware threads", cores, threads);
  }
  return threads == 1 ? trf("{:.1f} of 1 core", cores) : trf("{:.1f} of {} cores", cores, threads);
}

std::string core_use_text(const Model& model, double lab, const OtherLoad& others) {
  constexpr double kNotable = 0.05;  // less is shown as 0.0
  if (others.host < kNotable) {
    return trf("lab {:.1f}, others {}", lab, of_cores(model, others.programs));
  }
  return trf("lab {:.1f}, others {:.1f}, host {}", lab, others.programs,
             of_cores(model, others.host));
}

std::string core_use_text(const Model& model) {
  const CoreUse& use = model.core_use();
  if (use.t_s.empty()) return {};
  return core_use_text(model, use.lab.back(), {use.programs.back(), use.host.back(), use.threads});
}

std::string core_use_hint(const Model& model) {
  return trf(
      "Processor time per second since the last reading, where 1 is one core all the time. "
      "Lab: this program, which holds {} of memory. Others: all other programs. Host: what "
      "the host of a virtual machine took from its cores.",
      format_bytes(model.lab_rss_bytes()));
}

void stopped_note(const Panel& p, Page page) {
  const PageState& state = p.model.state(page);
  if (state.phase != Phase::Done || !state.cancelled) return;
  note_box(p.ui, std::string(key_of(page)) + "/stopped",
           trf("Stopped after {}. Results kept.", format_seconds(state.seconds)));
}

void outcome_box(const Panel& p, Page page, bool retry, Figures figures) {
  failure_box(p, page, retry);
  outcome_notes(p, page, figures);
}

void failure_box(const Panel& p, Page page, bool retry) {
  const PageState& state = p.model.state(page);
  const std::string key = key_of(page);
  const std::string path = key + "/error";
  if (state.phase == Phase::Failed && state.code == Errc::DeviceLost) {
    lost_box(p, path, state.error);
  } else if (state.phase == Phase::Failed) {
    error_box(p.ui, path, state.error);
    const std::string why = busy_reason(p);
    if (retry && state.command && may_succeed_later(state.code) &&
        button(p.ui, key + "/retry", tr("Retry"),
               {.kind = ButtonKind::Normal,
                .enabled = why.empty(),
                .hint = why.empty() ? tr("Sends the same request again") : why,
                .width = 0})) {
      send(p, as_command(*state.command));
    }
  }
}

void outcome_notes(const Panel& p, Page page, Figures figures) {
  const PageState& state = p.model.state(page);
  if (state.phase != Phase::Done) return;
  // A lesson keeps it with its results, the Scaling page says it with the figures, and the Memory
  // page times nothing.
  if (page != Page::Learn && page != Page::Scaling && page != Page::Memory) {
    others_note(p, std::string(key_of(page)) + "/others", state.others, figures, state.programs);
  }
  stopped_note(p, page);
}

std::vector<Device> wanted_devices(const Panel& p, const std::vector<Device>& named) {
  std::vector<Device> wanted = named;
  if (wanted.empty()) {
    for (const DeviceInfo& one : p.model.machine().devices) wanted.push_back(one.device);
  }
  std::erase_if(wanted, [](Device device) { return !is_timed(device); });
  return wanted;
}

// --- layout ---------------------------------------------------------------------------------

namespace {

constexpr float kPageEnd = 18;  // units between the last card and the end of the page

}  // namespace

float width_left(const Panel& p) {
  return ImGui::GetContentRegionAvail().x / p.ui.scale;
}

StretchedArea::StretchedArea(const Panel& p) : p_(p) {
  p.ui.memory.stretched = 0;
  top_ = ImGui::GetCursorScreenPos().y;
  room_ = ImGui::GetContentRegionAvail().y - p.ui.px(kPageEnd);
}

StretchedArea::~StretchedArea() {
  WidgetMemory& memory = p_.ui.memory;
  const float used = ImGui::GetCurrentWindowRead()->DC.CursorMaxPos.y - top_;
  const float free = (room_ - used) / p_.ui.scale + memory.stretched;
  float& known = memory.spare_heights[key_of(p_.view.page)];
  const float spare = std::max(0.0F, std::floor(free));
  if (std::abs(known - spare) > 1) {
    known = spare;
    p_.ui.wants_layout = true;
  }
}

float spare_height(const Panel& p, float most) {
  WidgetMemory& memory = p.ui.memory;
  return memory.stretched = std::min(most, memory.spare_heights[key_of(p.view.page)]);
}

float place_form(const Panel& p, const std::string& card) {
  if (p.folded()) return 0;
  const float least = ImGui::GetContentRegionAvail().y / p.ui.scale - kPageEnd;
  const auto& heights = p.ui.memory.card_heights;
  const auto known = heights.find(card);
  const float height = known == heights.end() ? 0 : known->second;
  const float beyond = std::max(0.0F, p.ui.px(height - least));
  p.ui.memory.form_follows = std::max(0.0F, ImGui::GetScrollY() - beyond);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + p.ui.memory.form_follows);
  return least;
}

void room_for_actions(const Panel& p) {
  if (p.folded()) ImGui::SetCursorPosY(ImGui::GetCursorPosY() + p.ui.px(6));
}

bool settings_shown(const Panel& p, Page page, std::string_view path, SettingsOpen& open,
                    const std::function<std::string()>& summary) {
  if (!p.folded()) return true;
  const JobId job = p.model.state(page).job;
  if (open.job != job) open = {.open = false, .job = job};
  foldout(p.ui, path, summary(), open.open);
  return open.open;
}

void form_actions(const Panel& p, float units, const std::function<void()>& draw) {
  if (!p.folded()) {
    draw();
    return;
  }
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImVec2 back = window->DC.CursorPos, end = window->DC.CursorMaxPos;
  window->DC.CursorPos = {back.x, window->DC.CursorStartPos.y - p.ui.px(4)};
  {
    Row row(p.ui, {1, -std::min(units, width_left(p) * 0.7F)});
    row.next();
    row.next();
    draw();
  }
  window->DC.CursorPos = back;
  window->DC.CursorMaxPos = end;
}

void draw_form_and_results(const Panel& p, void (*form)(const Panel&),
                           void (*results)(const Panel&), float form_units) {
  if (p.folded()) {
    form(p);
    busy_cores_note(p);  // the buttons of the form are beside its title
    const StretchedArea area(p);
    results(p);
    return;
  }
  p.ui.memory.form_follows = 0;
  Row row(p.ui, {-form_units, 1});
  row.next();
  form(p);
  // A form that follows the scrolling must not keep the page from scrolling back to its results.
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImVec2 form_end(window->DC.CursorMaxPos.x,
                        window->DC.CursorMaxPos.y - p.ui.memory.form_follows);
  window->DC.CursorPosPrevLine.y -= p.ui.memory.form_follows;
  row.next();
  // Rows inside the results must not extend to the bottom of the form.
  window->DC.CursorMaxPos = window->DC.CursorPos;
  {
    const StretchedArea area(p);
    results(p);
  }
  ImVec2& end = window->DC.CursorMaxPos;
  end = {std::max(end.x, form_end.x), std::max(end.y, form_end.y)};
}

Card::Card(const Panel& p, std::string_view path, std::string_view title,
           const CardOptions& options)
    : ui_(p.ui), visible_(begin_card(p.ui, path, title, options)) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui_.px(8), ui_.px(8)});
}

Card::~Card() {
  ImGui::PopStyleVar();
  end_card(ui_);
}

namespace {

CardOptions placed(const Panel& p, const std::string& path, CardOptions options) {
  options.least = place_form(p, path);
  return options;
}

}  // namespace

FormCard::FormCard(const Panel& p, const std::string& path, std::string_view title,
                   CardOptions options)
    : Card(p, path, title, placed(p, path, options)), p_(p) {
  constexpr float kLow = 760;  // units
  const bool low = !p.folded() && ImGui::GetIO().DisplaySize.y < p.ui.px(kLow);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(8), p.ui.px(low ? 6 : 8)});
}

FormCard::~FormCard() {
  if (*this && !p_.folded()) busy_cores_note(p_);
  ImGui::PopStyleVar();
}

Fields::Fields(const Panel& p)
    : ui_(p.ui),
      columns_(p.folded() ? std::clamp(static_cast<int>(width_left(p) / 190), 1, 4) : 1) {}

void Fields::next() {
  if (columns_ == 1) return;
  if (field_++ % columns_ == 0) {
    row_.reset();
    const std::vector<float> weights(static_cast<std::size_t>(columns_), 1.0F);
    row_.emplace(ui_, weights);
  }
  row_->next();
}

Pair::Pair(const Panel& p, float units_needed, float extra) {
  if (width_left(p) < units_needed) return;
  row_.emplace(p.ui, std::initializer_list<float>{1, 1}, RowOptions{.equal = true, .extra = extra});
}

void Pair::next() {
  if (row_) row_->next();
}

void FactColumns::add(std::string label, Maybe<std::string> value, std::string hint,
                      std::string path, bool warns) {
  facts_.push_back({std::move(label), std::move(value), std::move(hint), std::move(path), warns});
}

float FactColumns::value_column(std::span<const Fact> facts) const {
  constexpr float kMostOfWidth = 0.6F;
  float label = 0;
  for (const Fact& one : facts) {
    label = std::max(label, text_size(p_.ui.fonts.body, one.label).x);
  }
  return std::min(label + p_.ui.px(16), kMostOfWidth * ImGui::GetContentRegionAvail().x);
}

FactColumns::~FactColumns() {
  if (facts_.empty()) return;
  constexpr std::size_t kMostColumns = 3;
  const auto fit = static_cast<std::size_t>(std::max(1.0F, width_left(p_) / units_));
  const std::size_t most = std::min({fit, kMostColumns, facts_.size()});
  const auto [lines, columns] = even_columns(facts_.size(), most);
  constexpr float kGutter = -16;  // so that a value and the next label are not read as one
  std::vector<float> weights = {1};
  for (std::size_t i = 1; i < columns; ++i) weights.insert(weights.end(), {kGutter, 1});
  Row row(p_.ui, weights);
  float value_at = 0;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const Fact& one = facts_[i];
    if (i % lines == 0) {
      if (i > 0) row.next();  // the gutter
      row.next();
      const std::size_t n = std::min(lines, facts_.size() - i);
      value_at = value_column(std::span(facts_).subspan(i, n));
    }
    fact(p_.ui, one.label, one.value, one.hint, value_at);
    if (!one.path.empty()) {
      record_item(p_.ui, one.path, "text", one.label, one.value ? *one.value : "N/A");
    }
    if (one.warns && one.value) {
      const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
      const float after = min.x + value_at + text_size(p_.ui.fonts.body, *one.value).x;
      const float mark = std::min(after + p_.ui.px(6), max.x - p_.ui.px(kWarningSide));
      draw_warning(p_.ui, {mark, min.y + p_.ui.px(9)});
      record_item(p_.ui, one.path + "/disturbed", "text", one.hint);
    }
  }
}

const char* data_note(bool synthetic) {
  return synthetic ? tr("synthetic data") : "";
}

// --- the machine ----------------------------------------------------------------------------

std::optional<MainMemory> memory_in_use(const Model& model, std::span<const DeviceInfo> devices) {
  const auto first = std::find_if(devices.begin(), devices.end(), [](const DeviceInfo& info) {
    return info.device.kind == DeviceKind::Cpu;
  });
  if (first == devices.end()) return std::nullopt;
  MainMemory memory{.total_bytes = first->memory_total_bytes};
  const DeviceHistory& history = model.history(first->device);
  const Column64& used_bytes = history.memory_used_bytes;
  if (!used_bytes.empty() && !std::isnan(used_bytes.back())) {
    memory.used_bytes = static_cast<std::int64_t>(used_bytes.back());
  }
  return memory;
}

void draw_device_label(const Ui& ui, const DeviceLabel& label, ImVec2 left_middle, float width) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddCircleFilled({left_middle.x + ui.px(4), left_middle.y}, ui.px(4), styled(label.dot));
  const float name = ui.px(kDeviceDot);
  draw_text_fitted(list, label.font,
                   {left_middle.x + name, left_middle.y - label.font->FontSize / 2}, width - name,
                   label.color, label.name);
}

std::string number_ranges(std::span<const int> values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t last = i;
    while (last + 1 < values.size() && values[last + 1] == values[last] + 1) ++last;
    const bool range = last > i + 1;
    parts.push_back(range ? trf("{} to {}", values[i], values[last]) : std::to_string(values[i]));
    i = range ? last + 1 : i + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string core_numbers(const DeviceInfo& info) {
  if (info.cores.empty()) return "N/A";
  std::vector<int> cores = info.cores;
  std::ranges::sort(cores);  // of several kinds, the fastest come first
  return cores.size() == 1 ? trf("core {}", cores.front()) : trf("cores {}", number_ranges(cores));
}

std::string with_sharers(const std::string& text, std::span<const Device> sharers) {
  constexpr std::size_t kNamed = 3;
  if (sharers.empty()) return text;
  if (sharers.size() > kNamed) {
    return trf("{}, shared with {} other devices", text, sharers.size());
  }
  std::string names;
  for (const Device device : sharers) {
    names += (names.empty() ? "" : ", ") + lab::to_string(device);
  }
  return trf("{}, shared with {}", text, names);
}

}  // namespace lab::ui
