#include "ui/ui.h"

#include <algorithm>

namespace lab::ui {

const WidgetRect* WidgetMap::find(std::string_view path) const {
  const auto it =
      std::find_if(widgets_.begin(), widgets_.end(), [&](const auto& w) { return w.path == path; });
  return it == widgets_.end() ? nullptr : &*it;
}

}  // namespace lab::ui
