#include "compute/train/json_object.h"

#include <fmt/format.h>

#include "compute/core/error.h"

namespace lab {

nlohmann::ordered_json parse_object(std::string_view text, const std::string& what) {
  using Json = nlohmann::ordered_json;
  constexpr int kMaxDepth = 8;
  constexpr int kMostKeys = 1000;  // each is looked for among those before it
  bool shallow = true;
  int keys = 0;
  // What nests deeper is left out while parsing.
  const auto limit = [&](int depth, Json::parse_event_t event, Json&) {
    using Parse = Json::parse_event_t;
    keys += event == Parse::key || event == Parse::object_start ? 1 : 0;
    if (keys > kMostKeys) {
      throw Error(Errc::Corrupt, fmt::format("{} has more than {} fields", what, kMostKeys));
    }
    shallow = shallow && depth <= kMaxDepth;
    return shallow;
  };
  Json json = Json::parse(text, limit, /*allow_exceptions=*/false);
  if (shallow && json.is_object()) return json;
  throw Error(Errc::Corrupt, what + " is no JSON object");
}

}  // namespace lab
