#include "ui/pages/field_control.h"

#include "compute/core/language.h"

namespace lab::ui {
namespace {

NumberOptions number_options(const RequestField& field) {
  return {.min = field.range.least * field.scale,
          .max = field.range.most * field.scale,
          .step = field.step,
          .unit = tr(field.unit),
          .hint = tr(field.hint),
          .above_min = field.range.ends == Ends::NotMin,
          .below_max = field.range.ends == Ends::NotMax};
}

}  // namespace

std::vector<std::string> labels_of(std::span<const ValueName> choices) {
  std::vector<std::string> labels;
  for (const ValueName& choice : choices) labels.emplace_back(choice.label);
  return labels;
}

bool field_control(Ui& ui, const std::string& path, const RequestField& field, bool& value) {
  return checkbox(ui, path, tr(field.label), value, tr(field.hint));
}

bool field_control(Ui& ui, const std::string& path, const RequestField& field, int& value) {
  std::int64_t wide = value;
  if (!field_control(ui, path, field, wide)) return false;
  value = static_cast<int>(wide);
  return true;
}

bool field_control(Ui& ui, const std::string& path, const RequestField& field,
                   std::int64_t& value) {
  return input_number(ui, path, tr(field.label), value, number_options(field));
}

bool field_control(Ui& ui, const std::string& path, const RequestField& field,
                   std::uint64_t& value) {
  NumberOptions options = number_options(field);
  options.min = 0;
  auto shown = static_cast<std::int64_t>(value);
  if (!input_number(ui, path, tr(field.label), shown, options)) return false;
  value = static_cast<std::uint64_t>(shown);
  return true;
}

bool field_control(Ui& ui, const std::string& path, const RequestField& field, double& value) {
  return input_number(ui, path, tr(field.label), value, number_options(field));
}

bool field_control(Ui& ui, const std::string& path, const RequestField& field, std::string& value) {
  if (field.choices.empty()) {
    return input_text(ui, path, tr(field.label), value, tr(field.hint), tr(field.empty));
  }
  auto position = static_cast<int>(position_of(field.choices, value));
  if (!choice_control(ui, path, field, field.choices, position)) return false;
  value = field.choices[static_cast<std::size_t>(position)].name;
  return true;
}

bool choice_control(Ui& ui, const std::string& path, const RequestField& field,
                    std::span<const ValueName> choices, int& position) {
  constexpr std::size_t kMaxSegments = 3;
  const std::vector<std::string> labels = labels_of(choices);
  if (choices.size() > kMaxSegments) {
    return combo(ui, path, tr(field.label), labels, position, tr(field.hint));
  }
  return segmented(ui, path, tr(field.label), labels, position, tr(field.hint));
}

}  // namespace lab::ui
