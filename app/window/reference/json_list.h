#pragma once
// A list of JSON objects as values.
#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "compute/core/files/json_fields.h"

namespace lab::app {

inline constexpr std::size_t kMostEntries = 4096;

// Throws Error(Corrupt) naming the list where it has more than kMostEntries, and the element,
// "x.json: matmul[3]", where it is no object or `read` refuses it.
template <typename Value>
std::vector<Value> read_list(const files::JsonFields& of, const char* field,
                             Value (*read)(const files::JsonFields&)) {
  const nlohmann::json& list = of.list(field);
  if (list.size() > kMostEntries) {
    of.refuse(
        fmt::format("\"{}\" has {} entries; {} are the most", field, list.size(), kMostEntries));
  }
  std::vector<Value> values;
  for (const nlohmann::json& one : list) {
    const files::JsonFields fields(one,
                                   fmt::format("{}: {}[{}]", of.where(), field, values.size()));
    if (!one.is_object()) fields.refuse("this is not a JSON object");
    values.push_back(read(fields));
  }
  return values;
}

}  // namespace lab::app
