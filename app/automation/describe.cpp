#include "app/automation/describe.h"

#include <nlohmann/json.hpp>

namespace lab::app {

std::string describe_ui(const ui::Ui& ui, int width, int height) {
  using Json = nlohmann::ordered_json;
  Json widgets = Json::array();
  for (const ui::WidgetRect& w : ui.widgets.all()) {
    widgets.push_back({{"path", w.path},
                       {"kind", w.kind},
                       {"label", w.label},
                       {"value", w.value},
                       {"enabled", w.enabled},
                       {"x", w.min.x},
                       {"y", w.min.y},
                       {"width", w.max.x - w.min.x},
                       {"height", w.max.y - w.min.y}});
  }
  const Json json{
      {"width", width}, {"height", height}, {"scale", ui.scale}, {"widgets", std::move(widgets)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lab::app
