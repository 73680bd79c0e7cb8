#include "ui/pages/reference_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/language.h"

namespace lab::ui {
namespace {

constexpr float kQuietAlpha = 0.65F;  // below 0.6 a plot prefers other curves for its tooltip
constexpr float kQuietWidth = 1.4F;

// Legend text; differs from every kernel and operation name.
std::string entry_name(const ReferenceMachine& machine) {
  return trf("Reference: {}", machine.name);
}

// Returns a unique name per machine; the file name is appended to equal names.
std::vector<std::string> machine_names(const std::vector<ReferenceResults>& references) {
  std::vector<std::string> names;
  for (const ReferenceResults& one : references) {
    const auto alike = std::count_if(
        references.begin(), references.end(),
        [&](const ReferenceResults& other) { return other.machine.name == one.machine.name; });
    names.push_back(alike == 1 ? one.machine.name
                               : fmt::format("{}, {}", one.machine.name, one.machine.key));
  }
  return names;
}

std::string field_hint(const ReferenceResults* chosen) {
  std::string text = tr("Another machine's results, drawn pale beside those measured here.");
  if (chosen == nullptr) return text;
  text += '\n' + trf("{} was measured {}", chosen->machine.name, measured_with(chosen->machine));
  for (const std::string& command : chosen->machine.commands) text += "\n" + command;
  return text;
}

}  // namespace

const ReferenceResults* chosen_reference(const Panel& p) {
  const auto& references = p.model.references();
  const auto found = std::find_if(
      references.begin(), references.end(),
      [&](const ReferenceResults& one) { return one.machine.key == p.view.forms.reference; });
  return found == references.end() ? nullptr : &*found;
}

void reference_field(const Panel& p, Fields& fields, std::string_view path,
                     OffersReference offers) {
  const auto& references = p.model.references();
  const std::vector<std::string> all = machine_names(references);
  std::vector<std::string> keys = {""}, names = {LAB_TEXT("none")};
  int index = 0;
  const ReferenceResults* chosen = chosen_reference(p);
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (offers != nullptr && !offers(references[i], p.model.machine())) continue;
    if (&references[i] == chosen) index = static_cast<int>(keys.size());
    keys.push_back(references[i].machine.key);
    names.push_back(all[i]);
  }
  if (keys.size() == 1) return;
  fields.next();
  const std::string hint = field_hint(index == 0 ? nullptr : chosen);
  if (!combo(p.ui, path, tr("Reference"), names, index, hint)) return;
  p.view.forms.reference = keys[static_cast<std::size_t>(index)];
}

std::string provenance(const ReferenceMachine& machine) {
  return trf("{}, measured {}", entry_name(machine), measured_with(machine));
}

plot::Series reference_entry(const Panel& p, const ReferenceMachine& machine) {
  plot::Series s;
  s.label = s.group = entry_name(machine);
  s.color = p.ui.theme->muted;
  s.line = plot::Line::DashDot;
  s.width = kQuietWidth;
  return s;
}

plot::Series quiet_series(const plot::Series& like, const ReferenceMachine& machine) {
  plot::Series s;
  s.label = fmt::format("{}, {}", like.label, machine.name);
  s.group = entry_name(machine);
  s.color = like.color;
  s.in_legend = false;
  s.line = plot::Line::DashDot;
  s.width = kQuietWidth;
  s.alpha = kQuietAlpha * like.alpha;
  return s;
}

void reference_note(const Panel& p, std::string_view path, std::string_view note) {
  if (note.empty()) return;
  caption(p.ui, note);
  record_item(p.ui, path, "text", note);
}

}  // namespace lab::ui
