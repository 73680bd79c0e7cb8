// The statements of the Memory page: their field, examples and results.
#include "ui/pages/memory/memory_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/events/tensor_code.h"
#include "compute/core/language.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr const char* kSeparator = "; ";  // of statements on one line

// Reads statements that are separated by semicolons.
std::vector<TensorStatement> parsed(std::string_view text) {
  std::vector<TensorStatement> statements;
  for (bool last = false; !last;) {
    const std::size_t end = text.find(';');
    last = end == std::string_view::npos;
    statements.push_back(parse_tensor_statement(text.substr(0, end)));
    if (!last) text.remove_prefix(end + 1);
  }
  return statements;
}

// Clears the field once its statement has run; a failed one stays, to be corrected. Returns true if
// the field should have the keyboard again.
bool settle_statement(const Panel& p) {
  MemoryForm& form = p.view.forms.memory;
  if (!form.sent || busy(p) || ImGui::IsAnyItemActive()) return false;
  const MemoryForm::Sent sent = *std::exchange(form.sent, std::nullopt);
  const PageState& state = p.model.state(Page::Memory);
  if (state.job == sent.after) return sent.by_enter;
  const bool done = state.phase == Phase::Done && !state.cancelled;
  if (done && form.statement == sent.statement) form.statement.clear();
  if (state.phase == Phase::Failed) form.failed = sent.statement;
  return sent.by_enter;
}

// Whether the statement in the field has failed, or cannot be read, which counts only once it is no
// longer typed.
bool is_wrong(MemoryForm& form, bool unreadable) {
  if (form.failed != form.statement) form.failed.clear();
  return !form.failed.empty() || (unreadable && !form.typing);
}

void remember_statement(MemoryForm& form) {
  if (!form.entered.empty() && form.entered.back() == form.statement) return;
  form.entered.push_back(form.statement);
  if (form.entered.size() > kMaxStatements) form.entered.erase(form.entered.begin());
}

// Reads the field and sends its statements. `by_enter`: the field then gets the keyboard again.
void run_statement(const Panel& p, bool by_enter) {
  MemoryForm& form = p.view.forms.memory;
  RunTensorCode code;
  std::string error = problem([&] { code.statements = parsed(form.statement); });
  remember_statement(form);
  if (!error.empty()) {
    form.failed = form.statement;
    p.out.push_back(NoteUnreadable{form.statement, std::move(error)});
    return;
  }
  send(p, std::move(code));
  form.sent = {form.statement, p.model.state(Page::Memory).job, by_enter};
  form.failed.clear();
}

// The results say what is wrong with a statement, so that nothing moves.
void statement_field(const Panel& p) {
  MemoryForm& form = p.view.forms.memory;
  const bool focus = settle_statement(p) || std::exchange(form.keep_keyboard, false);
  const bool unreadable =
      !form.statement.empty() && !problem([&] { parsed(form.statement); }).empty();
  const std::string waiting = busy_reason(p);
  const std::string why = !waiting.empty()         ? waiting
                          : form.statement.empty() ? tr("Type a statement first")
                                                   : "";
  const bool wrong = is_wrong(form, unreadable);
  bool entered = false, run = false;
  {
    Row row(p.ui, {1, -90});
    row.next();
    const std::string forms = fmt::format(
        "{}\nX = ones(2, 3), X = tensor([1, 2, 3], device=gpu(0)), Y = X.to(cpu:1), "
        "Y = X.copy_to(cpu:1), Z = X + Y, Z, Z.device, Z.shape, del Z\n{}\n{}",
        tr("Forms of a statement"),
        tr("Several statements are separated by semicolons; Up recalls earlier ones."),
        tr("to(device) copies only if it must; copy_to(device) always copies."));
    const std::string elsewhere = busy_elsewhere(p);
    input_text(p.ui, "memory/statement", elsewhere.empty() ? tr("Statement") : elsewhere,
               form.statement, forms, "X = ones(2, 3, device=try_gpu())",
               {.invalid = wrong, .history = form.entered});
    if (ImGui::IsItemActivated() && !ImGui::IsMouseDown(0)) put_cursor_at_end();
    form.typing = ImGui::IsItemActive();
    entered = ImGui::IsItemDeactivated() &&
              (key_pressed(GLFW_KEY_ENTER) || key_pressed(GLFW_KEY_KP_ENTER));
    if (focus) ImGui::SetKeyboardFocusHere(-1);  // for the next statement
    row.next();
    control_label(p.ui, " ");
    run = button(p.ui, "memory/run_statement", tr("Run"),
                 {.kind = why.empty() && !unreadable ? ButtonKind::Primary : ButtonKind::Normal,
                  .enabled = why.empty(),
                  .hint = why.empty() ? tr("Enter") : why,
                  .width = -1});
  }
  if (run && why.empty()) run_statement(p, false);
  if (entered && waiting.empty() && !form.statement.empty()) run_statement(p, true);
  form.keep_keyboard = form.keep_keyboard || (entered && !form.sent);
}

struct Example {
  std::string statement;
  std::string makes = {};  // the tensor that it creates
  std::string needs = {};  // one that must exist
};

std::vector<Example> examples_for(const Panel& p) {
  std::vector<Example> examples = {{"X = ones(2, 3)", "X"}};
  if (p.model.devices().size() > 1) {
    const std::string last = lab::to_string(p.model.devices().back());
    examples.push_back({fmt::format("Y = X.copy_to({})", last), "Y", "X"});
    examples.push_back({"Z = Y + Y", "Z", "Y"});
  } else {
    examples.push_back({"Z = X + X", "Z", "X"});
  }
  examples.push_back({"Z", {}, "Z"});
  examples.push_back({"Z.device", {}, "Z"});
  examples.push_back({"del Z", {}, "Z"});
  return examples;
}

// The statement of example `i` after those that create what it needs and what does not exist.
std::string with_needs(const Panel& p, const std::vector<Example>& examples, std::size_t i) {
  std::string text = examples[i].statement;
  std::string needs = examples[i].needs;
  while (i-- > 0) {
    if (needs.empty() || examples[i].makes != needs) continue;
    if (has_tensor_named(p, needs)) break;
    text.insert(0, kSeparator).insert(0, examples[i].statement);
    needs = examples[i].needs;
  }
  return text;
}

// Statements that run when clicked, in lines across the width.
void statement_examples(const Panel& p) {
  Ui& ui = p.ui;
  constexpr float kGap = 6;  // units
  control_label(ui, tr("Examples: a click runs one, after those that it needs"));
  const std::vector<Example> examples = examples_for(p);
  const std::string waiting = busy_reason(p);
  const float left = ImGui::GetCursorScreenPos().x;
  const float right = left + ImGui::GetContentRegionAvail().x;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(kGap), ui.px(kGap)});
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const float width = ui.px(small_button_width(ui, examples[i].statement));
    const float end = ImGui::GetItemRectMax().x + ui.px(kGap) + width;
    if (i > 0 && end <= right) ImGui::SameLine();
    const std::string text = with_needs(p, examples, i);
    if (button(ui, fmt::format("memory/example/{}", i), examples[i].statement,
               {.enabled = waiting.empty(),
                .hint = waiting.empty() ? trf("Runs {}", text) : waiting,
                .small = true})) {
      p.view.forms.memory.statement = text;
      run_statement(p, false);
    }
  }
  ImGui::PopStyleVar();
}

void mono_line(const Panel& p, const std::string& text) {
  note_text(p.ui.fonts.mono, text);
  ImGui::PushFont(p.ui.fonts.mono);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopFont();
}

// A failed statement, marked.
void failed_statement(const Panel& p, const StatementOutcome& failed) {
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float side = ui.px(14);
  draw_icon(ImGui::GetWindowDrawList(), kIconError,
            {pos.x, pos.y + (ui.fonts.mono->FontSize - side) / 2}, side, styled(ui.theme->bad));
  ImGui::SetCursorScreenPos({pos.x + side + ui.px(6), pos.y});
  mono_line(p, failed.result.statement);
}

// The newest outcomes first, the newest with its values.
void outcome_lines(const Panel& p) {
  const auto& outcomes = p.model.statements();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const StatementOutcome& outcome = outcomes[outcomes.size() - 1 - i];
    const TensorResult& result = outcome.result;
    const std::string path = fmt::format("memory/result/{}", i);
    ImGui::Dummy({0, p.ui.px(i == 0 ? 4 : 2)});
    if (!outcome.error.empty()) {
      failed_statement(p, outcome);
      const std::string error = field_problem(outcome.error);
      if (i == 0) {
        field_error(p.ui, path + "/error", error);
      } else {
        footnote(p.ui, error);
        record_item(p.ui, path + "/error", "text", error);
      }
      record_item(p.ui, path, "text", result.statement, outcome.error);
      continue;
    }
    mono_line(p, result.statement);
    record_item(p.ui, path, "text", result.statement,
                result.tensor ? result.tensor->preview : result.answer);
    if (!result.answer.empty()) mono_line(p, "  " + result.answer);
    if (i == 0 && result.tensor) {
      for (const std::string& line : grid_lines(result.grid)) mono_line(p, "  " + line);
    }
    if (result.tensor) footnote(p.ui, describe(result));
  }
}

// In a height that leaves the plot in sight, the same without results, so that nothing moves.
void statement_results(const Panel& p) {
  constexpr float kLeast = 104;  // units
  const char* const history = "memory/results";
  const float high = kLeast + statements_growth(p);
  const float top = ImGui::GetCursorScreenPos().y;
  if (!p.model.statements().empty()) {
    begin_scroll(p.ui, history, high);
    constexpr float kBetween = 3;  // lines, units
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(8), p.ui.px(kBetween)});
    outcome_lines(p);
    ImGui::PopStyleVar();
    end_scroll(p.ui, history);
  }
  const float spare = top + std::floor(p.ui.px(high)) - ImGui::GetCursorScreenPos().y;
  if (spare > 0) ImGui::Dummy({1, spare});
}

}  // namespace

bool has_tensor_named(const Panel& p, std::string_view name) {
  constexpr std::string_view kSeparated = ", ";  // names of one tensor, as in TensorInfo::name
  return !name.empty() && std::ranges::any_of(p.model.tensors(), [&](const TensorInfo& tensor) {
    if (!tensor.owned_by_page) return false;
    const std::string all = fmt::format("{0}{1}{0}", kSeparated, tensor.name);
    return all.find(fmt::format("{0}{1}{0}", kSeparated, name)) != std::string::npos;
  });
}

float statements_growth(const Panel& p) {
  constexpr float kLow = 720, kShare = 0.45F;  // units; the table below gets the rest
  return std::max(0.0F, kShare * (ImGui::GetIO().DisplaySize.y / p.ui.scale - kLow));
}

void statements_card(const Panel& p) {
  const Card card(
      p, "memory/statements", tr("Statements"),
      {.hint = tr("As in the chapter: create, copy, add, print and delete tensors by name.")});
  if (!card) return;
  statement_field(p);
  statement_examples(p);
  statement_results(p);
}

}  // namespace lab::ui
