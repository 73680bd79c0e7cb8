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
  if (state.phase == Phase::Failed && form.statement == sent.statement) {
    form.failed = {sent.statement, state.error};
    p.view.status_line = p.model.logged();
    p.view.status_dismissed = true;  // the error is at the field
  }
  return sent.by_enter;
}

// What is wrong with the statement in the field: why it failed, or why it cannot be read, which
// counts only once it is no longer typed.
std::string error_at_field(MemoryForm& form, const std::string& unreadable) {
  if (form.failed && form.failed->statement != form.statement) form.failed.reset();
  if (form.failed) return form.failed->error;
  return form.typing ? std::string() : unreadable;
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
  const std::string error = problem([&] { code.statements = parsed(form.statement); });
  if (!error.empty()) {
    form.failed = {form.statement, error};
    return;
  }
  send(p, std::move(code));
  form.sent = {form.statement, p.model.state(Page::Memory).job, by_enter};
  remember_statement(form);
  form.failed.reset();
}

// Returns what is wrong with the statement; empty if nothing is.
std::string statement_field(const Panel& p) {
  MemoryForm& form = p.view.forms.memory;
  const bool focus = settle_statement(p) || std::exchange(form.keep_keyboard, false);
  const std::string error = form.statement.empty() ? "" : problem([&] { parsed(form.statement); });
  const std::string waiting = busy_reason(p);
  const std::string why = !waiting.empty()         ? waiting
                          : form.statement.empty() ? tr("Type a statement first")
                                                   : error;
  std::string wrong = error_at_field(form, error);
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
               {.invalid = !wrong.empty(), .history = form.entered});
    if (ImGui::IsItemActivated() && !ImGui::IsMouseDown(0)) put_cursor_at_end();
    form.typing = ImGui::IsItemActive();
    entered = ImGui::IsItemDeactivated() &&
              (key_pressed(GLFW_KEY_ENTER) || key_pressed(GLFW_KEY_KP_ENTER));
    if (focus) ImGui::SetKeyboardFocusHere(-1);  // for the next statement
    row.next();
    control_label(p.ui, " ");
    run = button(p.ui, "memory/run_statement", tr("Run"),
                 {.kind = why.empty() ? ButtonKind::Primary : ButtonKind::Normal,
                  .enabled = why.empty(),
                  .hint = why.empty() ? tr("Enter") : why,
                  .width = -1});
  }
  if (run && why.empty()) run_statement(p, false);
  if (entered && waiting.empty() && !form.statement.empty()) run_statement(p, true);
  form.keep_keyboard = form.keep_keyboard || (entered && !form.sent);
  return wrong;
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

bool exists(const Panel& p, const std::string& name) {
  return std::ranges::any_of(p.model.tensors(), [&](const TensorInfo& tensor) {
    return tensor.owned_by_page && tensor.name == name;
  });
}

// The statement of example `i` after those that create what it needs and what does not exist.
std::string with_needs(const Panel& p, const std::vector<Example>& examples, std::size_t i) {
  std::string text = examples[i].statement;
  std::string needs = examples[i].needs;
  while (i-- > 0) {
    if (needs.empty() || examples[i].makes != needs) continue;
    if (exists(p, needs)) break;
    text.insert(0, kSeparator).insert(0, examples[i].statement);
    needs = examples[i].needs;
  }
  return text;
}

// Statements that run when clicked, in lines across the width.
void statement_examples(const Panel& p) {
  Ui& ui = p.ui;
  const char* label = tr("Examples:");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImFont* font = ui.fonts.caption;
  draw_text(ImGui::GetWindowDrawList(), font,
            {at.x, at.y + (ui.px(kControlHeight) - font->FontSize) / 2}, ui.theme->muted, label);
  ImGui::Dummy({text_size(font, label).x, ui.px(kControlHeight)});
  const std::vector<Example> examples = examples_for(p);
  const std::string waiting = busy_reason(p);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    ImGui::SameLine(0, 0);
    const float width = text_size(ui.fonts.body, examples[i].statement).x + ui.px(28);
    if (width > ImGui::GetContentRegionAvail().x) ImGui::NewLine();
    if (button(ui, fmt::format("memory/example/{}", i), examples[i].statement,
               {.kind = ButtonKind::Link,
                .enabled = waiting.empty(),
                .hint = waiting.empty() ? tr("Runs this statement, after those that create the "
                                             "tensors it needs")
                                        : waiting})) {
      p.view.forms.memory.statement = with_needs(p, examples, i);
      run_statement(p, false);
    }
  }
}

void mono_line(const Panel& p, const std::string& text) {
  note_text(p.ui.fonts.mono, text);
  ImGui::PushFont(p.ui.fonts.mono);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopFont();
}

// A failed statement, marked, with its error.
void failed_statement(const Panel& p, const StatementOutcome& failed) {
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float side = ui.px(14);
  draw_icon(ImGui::GetWindowDrawList(), kIconError,
            {pos.x, pos.y + (ui.fonts.mono->FontSize - side) / 2}, side, styled(ui.theme->bad));
  ImGui::SetCursorScreenPos({pos.x + side + ui.px(6), pos.y});
  mono_line(p, failed.result.statement);
  hint(ui, trf("Failed: {}", failed.error));
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
      // That of the newest is still at the field until it is corrected.
      if (i > 0 || !p.view.forms.memory.failed) {
        footnote(p.ui, outcome.error);
        record_item(p.ui, path + "/error", "text", outcome.error);
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
  constexpr float kShare = 0.15F, kLeast = 104;  // of the window's height; units
  const char* const history = "memory/results";
  const float high = std::max(kLeast, kShare * ImGui::GetIO().DisplaySize.y / p.ui.scale);
  const float top = ImGui::GetCursorScreenPos().y;
  if (!p.model.statements().empty()) {
    begin_scroll(p.ui, history, high);
    outcome_lines(p);
    end_scroll(p.ui, history);
  }
  const float spare = top + std::floor(p.ui.px(high)) - ImGui::GetCursorScreenPos().y;
  if (spare > 0) ImGui::Dummy({1, spare});
}

}  // namespace

void statements_card(const Panel& p) {
  const Card card(
      p, "memory/statements", tr("Statements"),
      {.hint = tr("As in the chapter: create, copy, add, print and delete tensors by name.")});
  if (!card) return;
  field_error(p.ui, "memory/statement_error", field_problem(statement_field(p)));
  statement_examples(p);
  statement_results(p);
}

}  // namespace lab::ui
