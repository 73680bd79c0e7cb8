#include "compute/train/json_object.h"

#include "compute/types/error.h"

namespace lab {

nlohmann::ordered_json parse_object(std::string_view text, const std::string& what) {
  using Json = nlohmann::ordered_json;
  constexpr int kMaxDepth = 8;
  bool shallow = true;
  // What nests deeper is left out while parsing.
  const auto limit = [&](int depth, Json::parse_event_t, Json&) {
    shallow = shallow && depth <= kMaxDepth;
    return shallow;
  };
  Json json = Json::parse(text, limit, /*allow_exceptions=*/false);
  if (shallow && json.is_object()) return json;
  throw Error(Errc::Corrupt, what + " is no JSON object");
}

}  // namespace lab
