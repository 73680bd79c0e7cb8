#pragma once
// Draws controls from the declarations of a request's fields. For use inside ui/pages only.
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compute/core/fields/field.h"
#include "ui/pages/panel.h"

namespace lab::ui {

// Returns the labels of the choices of a combo or a segmented control.
std::vector<std::string> labels_of(std::span<const ValueName> choices);

// Each draws the control of a field under `path` and returns true on change. The texts of the field
// are LAB_TEXT; the control shows their translation.
bool field_control(Ui& ui, const std::string& path, const RequestField& field, bool& value);
bool field_control(Ui& ui, const std::string& path, const RequestField& field, int& value);
bool field_control(Ui& ui, const std::string& path, const RequestField& field, std::int64_t& value);
bool field_control(Ui& ui, const std::string& path, const RequestField& field,
                   std::uint64_t& value);
bool field_control(Ui& ui, const std::string& path, const RequestField& field, double& value);
bool field_control(Ui& ui, const std::string& path, const RequestField& field, std::string& value);

// Draws a segmented control, or a combo if there are many choices.
bool choice_control(Ui& ui, const std::string& path, const RequestField& field,
                    std::span<const ValueName> choices, int& position);

template <NamedEnum E>
bool field_control(Ui& ui, const std::string& path, const RequestField& field, E& value) {
  int position = static_cast<int>(value);
  if (!choice_control(ui, path, field, choices_of<E>(field), position)) return false;
  value = static_cast<E>(position);
  return true;
}

template <typename Value>
bool field_control(Ui& ui, const std::string& path, const RequestField& field,
                   std::optional<Value>& value) {
  Value shown = value.value_or(Value{});
  if (!field_control(ui, path, field, shown)) return false;
  value = shown;
  return true;
}

// Draws the control of `member` as declared, under "<page>/<key>".
template <typename Request, typename Value>
bool field_control(const Panel& p, std::string_view page, Request& request,
                   Value Request::*member) {
  const RequestField field = field_of(member);
  return field_control(p.ui, std::string(page) + '/' + field.key, field, request.*member);
}

// Draws the controls that the declarations put under "More settings".
template <typename Request>
void more_controls(const Panel& p, Fields& fields, std::string_view page, Request& request) {
  for_each_field<Request>([&](const RequestField& field, auto member) {
    using Value = std::remove_cvref_t<decltype(request.*member)>;
    if constexpr (has_control<Value>) {
      if (!field.more) return;
      fields.next();
      field_control(p.ui, std::string(page) + '/' + field.key, field, request.*member);
    }
  });
}

}  // namespace lab::ui
