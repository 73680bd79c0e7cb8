#pragma once
// Declarations of request fields. The command line, JSON, checkpoints, the comparison of ranks, the
// forms and their saved settings are generated from them.
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

// Which ends of a range are included.
enum class Ends { Both, NotMin, NotMax };

// Range::most of a range without an upper limit; infinity stays outside.
inline constexpr double kNoMost = std::numeric_limits<double>::max();

struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  Ends ends = Ends::Both;

  bool holds(double value) const;  // false for NaN
  std::string text() const;        // "from 1 to 5", "above 0", "from 0 to below 1"
};

enum class Decides {
  Numbers,  // affects what each step computes
  Course,   // number of steps and their division; must match across ranks, but not on resume
  Place,    // where the job runs, what it reads and writes
};

struct RequestField {
  const char* key;  // JSON key; follows the page's name in settings and widget paths

  // Command line. An option without a placeholder is a flag that sets a bool to true, or to false
  // if the option begins with --no-.
  const char* option = "";
  bool own_option = true;        // false: another field's option also sets this field
  const char* placeholder = "";  // empty: the choices, "shuffled|sequential"
  const char* help = "";         // the choices follow a final colon; empty: the choices only
  Range range = {};              // of a number, in the unit of the option
  double scale = 1;              // field value = option value * scale
  std::span<const ValueName> choices = {};  // text or enum; empty: any text, all enum values

  // Form. A field without a label has no control of its own and is not saved with the form.
  const char* label = "";
  const char* hint = "";
  const char* empty = "";  // placeholder of an empty text field
  const char* unit = "";
  double step = 1;
  bool more = false;  // the form draws its control automatically, under "More settings"

  const char* name = "";  // in messages; empty: the label with a lower-case initial
  Decides decides = Decides::Place;
  bool reported = false;  // included in the last JSON object of a run
};

template <typename Request>
struct FieldsOf;

template <typename Request, typename Visit>
void for_each_field(const Visit& visit) {
  FieldsOf<Request>::each(visit);
}

// Returns the declaration of a member of the list.
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

// Returns the choices of a field whose values are of type `Value`.
template <typename Value>
std::span<const ValueName> choices_of(const RequestField& field) {
  if constexpr (NamedEnum<Value>) {
    return field.choices.empty() ? enum_names<Value>() : field.choices;
  } else {
    return field.choices;
  }
}

// Whether a form can generate a control for values of this type.
template <typename Value>
inline constexpr bool has_control =
    NamedEnum<Value> || std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>;
template <typename Value>
inline constexpr bool has_control<std::optional<Value>> = has_control<Value>;

// Returns "batch is 0 images; it must be from 1 to 16777216", or an empty string if the value is
// within its range.
std::string range_fault(const RequestField& field, double value);
std::string range_fault(const RequestField& field, std::int64_t value);

template <typename Value>
std::string value_error(const RequestField& field, const Value& value) {
  if constexpr (std::is_same_v<Value, double>) {
    return range_fault(field, value);
  } else if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, int>) {
    return range_fault(field, std::int64_t{value});
  } else {
    return {};
  }
}

template <typename Value>
std::string value_error(const RequestField& field, const std::optional<Value>& value) {
  return value ? value_error(field, *value) : std::string();
}

// Checks the request's numbers in order and returns range_fault() of the first one out of range;
// empty if there is none.
template <typename Request>
std::string fault_in_ranges(const Request& request) {
  std::string fault;
  for_each_field<Request>([&](const RequestField& field, auto member) {
    if (fault.empty()) fault = value_error(field, request.*member);
  });
  return fault;
}

}  // namespace lab
