#pragma once
// The places of a machine's cores and caches in its picture. For use inside ui/pages only.
#include <imgui.h>

#include <memory>
#include <string>
#include <vector>

#include "compute/core/language.h"
#include "ui/model/silicon.h"
#include "ui/ui.h"

namespace lab::ui {

inline constexpr float kPortraitPad = 6, kPortraitLabel = 19;  // around and above what a box holds

// A package, a cache with what it serves, or a core.
struct PortraitBox {
  int core = -1;           // position in Silicon::cores; -1: a package or a cache
  std::string label = {};  // "L3 32.0 MiB"
  std::string hint = {};
  ImVec2 pos{0, 0}, size{0, 0};  // pixels, relative to the enclosing box
  std::vector<PortraitBox> inner = {};
};

// Returns the packages, which fill `width` pixels. With few cores these are wide bars; with many,
// small squares, and the caches of a single core are left out. The lines of cores share `spare`
// pixels of height.
std::vector<PortraitBox> lay_out(const Ui& ui, const Silicon& silicon, float width,
                                 float spare = 0);

// Where the lowest box ends.
float bottom_of(const std::vector<PortraitBox>& boxes);

// A layout that is kept from frame to frame.
class PortraitLayout {
 public:
  // Lays out again only if the machine, the sizes, the scale or the language differ from those of
  // the call before.
  const std::vector<PortraitBox>& of(const Ui& ui, const std::shared_ptr<const Silicon>& silicon,
                                     float width, float spare = 0);

 private:
  std::shared_ptr<const Silicon> silicon_;
  float width_ = 0, spare_ = 0, scale_ = 0;
  Language language_ = Language::English;
  std::vector<PortraitBox> boxes_;
};

}  // namespace lab::ui
