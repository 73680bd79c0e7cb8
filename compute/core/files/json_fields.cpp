#include "compute/core/files/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"

namespace lab::files {
namespace {

using Json = nlohmann::json;

constexpr double kLargestCount = 1e12;
constexpr std::size_t kMaxQuotedBytes = 60;  // bytes of a value quoted in an error message
constexpr const char* kLine = LAB_TEXT("one line of up to 200 bytes");
static_assert(JsonFields::kLongestLine == 200);

bool is_line(const std::string& text) {
  return printable(text, JsonFields::kLongestLine) == text;
}

}  // namespace

nlohmann::ordered_json parse_object(std::string_view text, const std::string& what) {
  using Ordered = nlohmann::ordered_json;
  constexpr int kMaxDepth = 8;
  constexpr int kMaxKeys = 1000;  // bounds the linear search for duplicates on each insertion
  bool shallow = true;
  int keys = 0;
  // Returning false makes the parser discard values that nest deeper.
  const auto limit = [&](int depth, Ordered::parse_event_t event, Ordered&) {
    using Parse = Ordered::parse_event_t;
    keys += event == Parse::key || event == Parse::object_start ? 1 : 0;
    if (keys > kMaxKeys) {
      throw Error(Errc::Corrupt, trf("{} has more than {} fields", what, kMaxKeys));
    }
    shallow = shallow && depth <= kMaxDepth;
    return shallow;
  };
  Ordered json = Ordered::parse(text, limit, /*allow_exceptions=*/false);
  if (shallow && json.is_object()) return json;
  throw Error(Errc::Corrupt, trf("{} is not a JSON object", what));
}

JsonFields::JsonFields(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {}

const Json* JsonFields::find(const char* field) const {
  const auto found = json_.find(field);
  return found == json_.end() ? nullptr : &*found;
}

bool JsonFields::has(const char* field) const {
  return find(field) != nullptr;
}

std::string JsonFields::text(const char* field) const {
  const Json* found = find(field);
  if (found == nullptr || !found->is_string() || found->get_ref<const std::string&>().empty()) {
    refuse(field, tr("a string"));
  }
  return found->get<std::string>();
}

std::string JsonFields::line(const char* field) const {
  std::string line = text(field);
  if (!is_line(line)) refuse(field, tr(kLine));
  return line;
}

std::string JsonFields::line_or_empty(const char* field) const {
  return has(field) ? line(field) : "";
}

bool JsonFields::flag(const char* field) const {
  const Json* found = find(field);
  if (found == nullptr || !found->is_boolean()) refuse(field, tr("true or false"));
  return found->get<bool>();
}

double JsonFields::number(const char* field, const char* expected, bool allow_zero) const {
  const Json* found = find(field);
  const double value = found != nullptr && found->is_number() ? found->get<double>() : -1;
  if (!std::isfinite(value) || value < 0 || (value == 0 && !allow_zero)) refuse(field, expected);
  return value;
}

double JsonFields::positive(const char* field) const {
  return number(field, tr("a number above 0"), false);
}

double JsonFields::non_negative(const char* field) const {
  return number(field, tr("a non-negative number"), true);
}

std::optional<double> JsonFields::number_or_null(const char* field) const {
  const Json* found = find(field);
  if (found != nullptr && found->is_null()) return {};
  return number(field, tr("a non-negative number or null"), true);
}

std::int64_t JsonFields::count(const char* field, std::int64_t least) const {
  const Json* found = find(field);
  const double value = found != nullptr && found->is_number() ? found->get<double>() : -1;
  const bool fits = value >= static_cast<double>(least) && value <= kLargestCount;
  if (!fits || value != std::floor(value)) {
    refuse(field, trf("a whole number from {}", least));
  }
  return static_cast<std::int64_t>(value);
}

const Json& JsonFields::list(const char* field) const {
  static const Json kNone = Json::array();
  const Json* found = find(field);
  if (found == nullptr) return kNone;
  if (!found->is_array()) refuse(field, tr("a list"));
  return *found;
}

const Json& JsonFields::object(const char* field) const {
  static const Json kNone = Json::object();
  const Json* found = find(field);
  if (found == nullptr) return kNone;
  if (!found->is_object()) refuse(field, tr("an object"));
  return *found;
}

std::vector<std::string> JsonFields::lines(const char* field) const {
  std::vector<std::string> lines;
  for (const Json& one : list(field)) {
    if (!one.is_string() || !is_line(one.get_ref<const std::string&>()) ||
        lines.size() == kMaxLines) {
      refuse(field, trf("a list of up to {} strings, each {}", kMaxLines, tr(kLine)));
    }
    lines.push_back(one.get<std::string>());
  }
  return lines;
}

std::string JsonFields::word(const char* field, const std::vector<std::string>& choices) const {
  const Json* found = find(field);
  std::string value = found != nullptr && found->is_string() ? found->get<std::string>() : "";
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    refuse(field, choices.size() > 1 ? trf("one of {}", fmt::join(choices, ", "))
                                     : fmt::format("{}", fmt::join(choices, ", ")));
  }
  return value;
}

void JsonFields::refuse(const std::string& reason) const {
  throw Error(Errc::Corrupt, fmt::format("{}: {}", where_, reason));
}

void JsonFields::refuse(const char* field, const std::string& expected) const {
  const Json* found = find(field);
  if (found == nullptr) {
    refuse(trf("the field \"{}\" is missing; it must be {}", field, expected));
  }
  // A list or an object may nest arbitrarily deep, so only its type is printed.
  const std::string value = found->is_structured()
                                ? std::string("an ") + found->type_name()
                                : found->dump(-1, ' ', false, Json::error_handler_t::replace);
  refuse(trf("the field \"{}\" is {}; it must be {}", field, printable(value, kMaxQuotedBytes),
             expected));
}

}  // namespace lab::files
