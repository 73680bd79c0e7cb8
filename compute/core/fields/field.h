#pragma once
// What is declared about one field of a request. The command line, JSON, checkpoints, the
// comparison of ranks, the forms and their saved settings take it from here.
//
// FieldsOf<Request>::each(visit) calls visit(RequestField, Value Request::*) for each declared
// field; request_fields.h holds the lists.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "compute/core/fields/enum_names.h"

namespace lab {

// Which ends of a range belong to it.
enum class Ends { Both, NotMin, NotMax };

// As Range::most: every finite number is small enough.
inline constexpr double kNoMost = std::numeric_limits<double>::max();

struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  Ends ends = Ends::Both;

  bool holds(double value) const;  // NaN: never
  std::string text() const;        // "from 1 to 5", "above 0", "from 0 to below 1"
};

enum class Decides {
  Numbers,  // what every step computes
  Course,   // number of steps and how they are divided: ranks must agree, a resumed run need not
  Place,    // where it runs, what it reads and writes
};

struct RequestField {
  const char* key;  // in JSON, and after the page's name in settings and in widgets' paths

  // The command line. An option without a placeholder is a flag, which sets a bool to true, or to
  // false where it begins with --no-.
  const char* option = "";
  bool own_option = true;        // false: another field's option sets this one too
  const char* placeholder = "";  // empty: the choices, "shuffled|sequential"
  const char* help = "";         // the choices follow a final colon; empty: the choices alone
  Range range = {};              // of a number, in the option's unit
  double scale = 1;              // the field's value is the option's times this
  std::span<const ValueName> choices =
      {};  // of a text or an enum; empty: any text, every value of the enum

  // The form. A field without a label has no control of its own and is not saved with the form.
  const char* label = "";
  const char* hint = "";
  const char* empty = "";  // shown in an empty text field
  const char* unit = "";
  double step = 1;
  bool more = false;  // the form draws its control under "More settings" without further code

  const char* name = "";  // in messages; empty: the label in lower case
  Decides decides = Decides::Place;
  bool reported = false;  // in the last JSON object of a run
};

template <typename Request>
struct FieldsOf;

template <typename Request, typename Visit>
void for_each_field(const Visit& visit) {
  FieldsOf<Request>::each(visit);
}

// The declaration of a member that is in the list.
template <typename Request, typename Value>
RequestField field_of(Value Request::*member) {
  RequestField found{.key = ""};
  for_each_field<Request>([&](const RequestField& field, auto candidate) {
    if constexpr (std::is_same_v<decltype(candidate), Value Request::*>) {
      if (candidate == member) found = field;
    }
  });
  return found;
}

// The choices of a field whose values are of type `Value`.
template <typename Value>
std::span<const ValueName> choices_of(const RequestField& field) {
  if constexpr (NamedEnum<Value>) {
    return field.choices.empty() ? enum_names<Value>() : field.choices;
  } else {
    return field.choices;
  }
}

// Whether a form can have a control for values of this type without further code.
template <typename Value>
inline constexpr bool has_control =
    NamedEnum<Value> || std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>;
template <typename Value>
inline constexpr bool has_control<std::optional<Value>> = has_control<Value>;

// "batch is 0 images; it must be from 1 to 16777216"; empty: the value is in its range.
std::string range_fault(const RequestField& field, double value);
std::string range_fault(const RequestField& field, std::int64_t value);

template <typename Value>
std::string fault_in_value(const RequestField& field, const Value& value) {
  if constexpr (std::is_same_v<Value, double>) {
    return range_fault(field, value);
  } else if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, int>) {
    return range_fault(field, std::int64_t{value});
  } else {
    return {};
  }
}

template <typename Value>
std::string fault_in_value(const RequestField& field, const std::optional<Value>& value) {
  return value ? fault_in_value(field, *value) : std::string();
}

// The first number of the request that is out of its range, as range_fault() words it; empty: none.
template <typename Request>
std::string fault_in_ranges(const Request& request) {
  std::string fault;
  for_each_field<Request>([&](const RequestField& field, auto member) {
    if (fault.empty()) fault = fault_in_value(field, request.*member);
  });
  return fault;
}

}  // namespace lab
