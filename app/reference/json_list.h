#pragma once
// A list of JSON objects as values.
#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "compute/files/json_fields.h"

namespace lab::app {

// Throws Error(Corrupt) naming the element, "x.json: matmul[3]", where it is no object or `read`
// refuses it.
template <typename Value>
std::vector<Value> read_list(const files::JsonFields& of, const char* field,
                             Value (*read)(const files::JsonFields&)) {
  std::vector<Value> values;
  for (const nlohmann::json& one : of.list(field)) {
    const files::JsonFields fields(one,
                                   fmt::format("{}: {}[{}]", of.where(), field, values.size()));
    if (!one.is_object()) fields.refuse("this is not a JSON object");
    values.push_back(read(fields));
  }
  return values;
}

}  // namespace lab::app
