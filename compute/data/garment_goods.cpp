// Shoes, seen from the side with the toe on the left, and bags.
#include <algorithm>

#include "compute/data/garment_shapes.h"

namespace lab {
namespace {

// Laces: short strips across the instep from `low` (at the toe) to `high`.
void add_laces(Garment& shoe, Point low, Point high, int count, float shade) {
  for (int i = 0; i < count; ++i) {
    const float t = (static_cast<float>(i) + 0.5F) / static_cast<float>(count);
    const float x = low.x + t * (high.x - low.x), y = low.y + t * (high.y - low.y);
    shoe.push_back({strip({{x - 0.02F, y - 0.02F}, {x + 0.1F, y + 0.18F}}, 0.06F), shade});
  }
}

}  // namespace

Garment draw_sneaker(Draws& r) {
  const float top = r.uniform(-0.42F, -0.08F), heel = top - r.uniform(0.0F, 0.14F);
  const float sole = r.uniform(0.1F, 0.2F), bottom = 0.5F, instep = r.uniform(-0.15F, 0.15F);
  const float toe = r.uniform(0.02F, 0.18F);
  const Point low{-0.5F, toe - 0.12F}, high{instep, top};
  Garment shoe;
  shoe.push_back({rounded({{-0.98F, bottom - 0.03F},
                           {-0.93F, toe + 0.12F},
                           low,
                           high,
                           {instep + 0.12F, top - 0.06F},
                           {0.5F, top + r.uniform(0.06F, 0.2F)},
                           {0.86F, heel},
                           {0.97F, bottom - 0.05F}}),
                  1});
  shoe.push_back(
      {{{-0.98F, bottom - sole}, {0.98F, bottom - sole}, {0.96F, bottom}, {-0.94F, bottom}},
       r.uniform(0.6F, 1.5F)});
  if (r.chance(0.6F)) add_laces(shoe, low, high, 3, r.uniform(0.4F, 1.4F));
  if (r.chance(0.4F)) {  // a stripe on the side
    const float x = r.uniform(0.0F, 0.3F);
    shoe.push_back({strip({{x, top + 0.15F}, {x - 0.25F, bottom - sole}}, r.uniform(0.06F, 0.14F)),
                    r.uniform(0.4F, 1.5F)});
  }
  return shoe;
}

Garment draw_ankle_boot(Draws& r) {
  const float top = r.uniform(-0.92F, -0.5F), bottom = 0.72F, heel = r.uniform(0.0F, 0.3F);
  const float front = r.uniform(-0.12F, 0.16F), toe = r.uniform(0.2F, 0.38F);
  const float back = r.uniform(0.74F, 0.9F), sole = bottom - heel * 0.35F;
  const Point low{-0.45F, toe - 0.08F}, high{front, -0.1F};
  Garment boot;
  boot.push_back({rounded({{-0.96F, bottom - 0.02F},
                           {-0.9F, toe + 0.14F},
                           low,
                           high,
                           {front + 0.04F, top},
                           {back, top - r.uniform(0.0F, 0.08F)},
                           {back + 0.04F, sole},
                           {0.3F, sole},
                           {-0.2F, bottom}}),
                  1});
  if (heel > 0.08F) {
    const float width = r.uniform(0.12F, 0.4F);
    boot.push_back({{{back + 0.03F, sole - 0.12F},
                     {back, bottom + 0.05F},
                     {back - width, bottom + 0.05F},
                     {back - width - 0.08F, sole - 0.06F}},
                    r.uniform(0.6F, 1.0F)});
  } else {
    boot.push_back(
        {strip({{-0.95F, bottom}, {back + 0.04F, bottom}}, 0.12F), r.uniform(0.5F, 1.2F)});
  }
  if (r.chance(0.4F)) add_laces(boot, low, {front, top + 0.1F}, 5, r.uniform(0.4F, 1.3F));
  if (r.chance(0.35F)) {  // elastic side panel
    boot.push_back({strip({{0.45F, top + 0.05F}, {0.4F, 0.1F}}, r.uniform(0.12F, 0.26F)),
                    r.uniform(0.4F, 0.8F)});
  }
  return boot;
}

Garment draw_sandal(Draws& r) {
  const float heel = r.chance(0.5F) ? r.uniform(0.3F, 0.7F) : r.uniform(0.0F, 0.12F);
  const float bottom = 0.55F, thick = r.uniform(0.06F, 0.16F), arch_x = r.uniform(-0.2F, 0.2F);
  const Point toe{-0.93F, bottom - 0.04F}, ball{arch_x - 0.25F, bottom - 0.02F};
  const Point back{0.85F, bottom - heel};
  Garment shoe;
  shoe.push_back(
      {strip({toe, ball, {arch_x + 0.3F, bottom - heel * 0.6F}, back}, thick + 0.06F), 1});
  if (heel > 0.2F) {  // a stiletto heel, or a wedge that fills the arch
    if (r.chance(0.6F)) {
      shoe.push_back(
          {strip({{0.8F, back.y}, {0.78F, bottom + 0.05F}}, r.uniform(0.07F, 0.18F)), 1});
    } else {
      shoe.push_back(
          {{ball, {0.9F, back.y}, {0.86F, bottom + 0.04F}, {ball.x, bottom + 0.04F}}, 0.85F});
    }
  }
  const int straps = 1 + static_cast<int>(r.below(3));
  const float shade = r.uniform(0.6F, 1.2F), width = r.uniform(0.07F, 0.16F);
  for (int i = 0; i < straps; ++i) {
    const float x = -0.62F + 0.36F * static_cast<float>(i) + r.uniform(-0.08F, 0.08F);
    const float base = x < ball.x ? bottom : bottom - heel * (x - ball.x) * 0.6F;
    const float rise = r.uniform(0.22F, 0.42F) + 0.06F * static_cast<float>(i);
    shoe.push_back({strip(arch({x, base}, r.uniform(0.12F, 0.22F), rise), width), shade});
  }
  if (r.chance(0.65F)) {  // heel counter and ankle strap
    const float y = back.y - r.uniform(0.4F, 0.6F);
    shoe.push_back({strip({back, {0.88F, y}}, width), shade});
    shoe.push_back({strip({{0.88F, y}, {0.6F, y + 0.05F}, {0.36F, y}}, width), shade});
  }
  return shoe;
}

Garment draw_bag(Draws& r) {
  const float top = r.uniform(-0.45F, 0.05F), bottom = r.uniform(0.55F, 0.88F);
  const float wide = r.uniform(0.6F, 0.92F), narrow = wide * r.uniform(0.72F, 1.05F);
  Garment bag;
  const float kind = r.uniform(0, 1);
  const float strap = r.uniform(0.06F, 0.14F), shade = r.uniform(0.6F, 1.1F);
  if (kind < 0.6F) {
    const float reach = narrow * r.uniform(0.4F, 0.85F);
    const float height = std::min(r.uniform(0.25F, 0.75F), top + 0.95F);
    bag.push_back({strip(arch({0, top + 0.05F}, reach, height), strap), shade});
  } else if (kind < 0.8F) {  // a shoulder strap that leaves the image at the top
    bag.push_back({strip({{-narrow * 0.85F, top}, {-0.2F, -0.98F}}, strap), shade});
    bag.push_back({strip({{narrow * 0.85F, top}, {0.2F, -0.98F}}, strap), shade});
  }
  std::vector<Point> body = {{-narrow, top}, {narrow, top}, {wide, bottom}, {-wide, bottom}};
  bag.push_back({r.chance(0.5F) ? rounded(body) : body, 1});
  if (r.chance(0.5F)) {  // flap
    const float y = top + (bottom - top) * r.uniform(0.3F, 0.65F);
    bag.push_back(
        {{{-narrow * 0.95F, top}, {narrow * 0.95F, top}, {narrow * 0.8F, y}, {-narrow * 0.8F, y}},
         r.uniform(0.7F, 1.2F)});
    bag.push_back({strip({{0, y - 0.1F}, {0, y + 0.08F}}, 0.14F), r.uniform(0.3F, 1.6F)});
  } else if (r.chance(0.4F)) {
    bag.push_back({strip({{-wide * 0.9F, top + 0.2F}, {wide * 0.9F, top + 0.2F}}, 0.05F),
                   r.uniform(0.4F, 0.8F)});
  }
  return bag;
}

}  // namespace lab
