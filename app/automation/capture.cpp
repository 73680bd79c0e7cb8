#include "app/automation/capture.h"

#include <fmt/format.h>
#include <glad/gl.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

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

Picture read_frame(int frame_width, int frame_height, Region region) {
  const int left = std::clamp(region.left, 0, frame_width);
  const int top = std::clamp(region.top, 0, frame_height);
  const int right = std::clamp(region.left + region.width, left, frame_width);
  const int bottom = std::clamp(region.top + region.height, top, frame_height);
  Picture picture{right - left, bottom - top, {}};
  const std::size_t row_bytes = static_cast<std::size_t>(picture.width) * 3;
  picture.rgb.resize(row_bytes * static_cast<std::size_t>(picture.height));
  if (picture.rgb.empty()) return picture;
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadBuffer(GL_BACK);
  glReadPixels(left, frame_height - bottom, picture.width, picture.height, GL_RGB, GL_UNSIGNED_BYTE,
               picture.rgb.data());
  for (int y = 0; y < picture.height / 2; ++y) {  // OpenGL counts rows from the bottom
    const auto upper = picture.rgb.begin() + static_cast<std::ptrdiff_t>(y * row_bytes);
    const auto lower = picture.rgb.end() - static_cast<std::ptrdiff_t>((y + 1) * row_bytes);
    std::swap_ranges(upper, upper + static_cast<std::ptrdiff_t>(row_bytes), lower);
  }
  return picture;
}

void write_png(const Picture& picture, const std::filesystem::path& file) {
  std::string png;
  const auto append = [](void* target, void* data, int size) {
    static_cast<std::string*>(target)->append(static_cast<const char*>(data),
                                              static_cast<std::size_t>(size));
  };
  const bool encoded =
      !picture.rgb.empty() && stbi_write_png_to_func(append, &png, picture.width, picture.height, 3,
                                                     picture.rgb.data(), picture.width * 3) != 0;
  if (!encoded) {
    throw Error(Errc::InvalidArgument,
                trf("cannot write {}: image of {}x{} pixels is empty; enlarge the window",
                    file.string(), picture.width, picture.height));
  }
  files::write_file(file, png);
}

}  // namespace lab::app
