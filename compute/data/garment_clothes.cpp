// Garments worn on the body: tops, dresses and trousers.
#include "compute/data/garment_shapes.h"

namespace lab {
namespace {

// Measures of a top; lengths in garment units, y down from the shoulders.
struct TopCut {
  float neck = 0.2F;        // half width of the neckline
  float neck_depth = 0.1F;  // of its lowest point
  bool v_neck = false;
  float shoulder = 0.5F;  // half widths
  float chest = 0.48F;
  float waist = 0.45F;
  float hem = 0.47F;
  float hem_y = 0.8F;
  float hem_drop = 0;       // extra depth of the hem's middle
  float sleeve = 1.3F;      // length; 0: none
  float sleeve_out = 0.3F;  // horizontal part of its direction
  float cuff = 0.2F;        // width at the end
};

constexpr float kTop = -0.85F;

Patch body_of(const TopCut& cut) {
  std::vector<Point> half;
  half.push_back({0, kTop + cut.neck_depth});
  if (!cut.v_neck) half.push_back({cut.neck * 0.7F, kTop + cut.neck_depth * 0.75F});
  half.push_back({cut.neck, kTop});
  half.push_back({cut.shoulder, kTop + 0.14F});
  half.push_back({cut.chest, kTop + 0.5F});
  half.push_back({cut.waist, kTop + 0.6F * (cut.hem_y - kTop)});
  half.push_back({cut.hem, cut.hem_y});
  half.push_back({0, cut.hem_y + cut.hem_drop});
  return {mirrored(std::move(half)), 1};
}

void add_sleeves(Garment& garment, const TopCut& cut, float shade) {
  const Point shoulder{cut.shoulder * 0.94F, kTop + 0.1F}, armpit{cut.chest * 0.96F, kTop + 0.48F};
  const float down = 1 - 0.35F * cut.sleeve_out;
  const Point outer{shoulder.x + cut.sleeve * cut.sleeve_out + 0.12F,
                    shoulder.y + cut.sleeve * down};
  const Point inner{outer.x - cut.cuff, outer.y - cut.cuff * cut.sleeve_out * 0.6F};
  const Point elbow{shoulder.x + 0.55F * cut.sleeve * cut.sleeve_out + 0.13F,
                    shoulder.y + 0.45F * cut.sleeve * down};
  const std::vector<Point> right = {shoulder, elbow, outer, inner, armpit};
  garment.push_back({right, shade});
  garment.push_back({flipped(right), shade});
}

void add_front_line(Garment& garment, const TopCut& cut, float width, float shade, float lean) {
  garment.push_back(
      {strip({{0, kTop + cut.neck_depth}, {lean, cut.hem_y + cut.hem_drop}}, width), shade});
}

void add_collar(Garment& garment, const TopCut& cut, float size, float shade) {
  const std::vector<Point> right = {{0.02F, kTop + cut.neck_depth + 0.02F},
                                    {cut.neck * 0.9F, kTop - 0.06F},
                                    {cut.neck + size * 0.6F, kTop + 0.05F},
                                    {size * 0.75F, kTop + cut.neck_depth + size}};
  garment.push_back({right, shade});
  garment.push_back({flipped(right), shade});
}

void add_band(Garment& garment, float half_width, float y, float height, float shade) {
  garment.push_back(
      {{{-half_width, y}, {half_width, y}, {half_width, y + height}, {-half_width, y + height}},
       shade});
}

// Common cut of the tops. Widths scale together, so that a wide chest has wide shoulders.
TopCut common_cut(Draws& r, float slim, float wide) {
  TopCut cut;
  const float size = r.uniform(slim, wide);
  cut.neck = r.uniform(0.15F, 0.26F);
  cut.neck_depth = r.uniform(0.04F, 0.22F);
  cut.v_neck = r.chance(0.3F);
  cut.shoulder = 0.5F * size + r.uniform(-0.03F, 0.03F);
  cut.chest = 0.48F * size;
  cut.waist = cut.chest * r.uniform(0.88F, 1.03F);
  cut.hem = cut.chest * r.uniform(0.92F, 1.1F);
  cut.hem_y = r.uniform(0.68F, 0.92F);
  return cut;
}

void make_long_sleeves(TopCut& cut, Draws& r) {
  cut.sleeve = r.uniform(1.15F, 1.5F);
  cut.sleeve_out = r.uniform(0.1F, 0.32F);
  cut.cuff = r.uniform(0.14F, 0.22F);
}

void make_short_sleeves(TopCut& cut, Draws& r) {
  cut.sleeve = r.uniform(0.38F, 0.66F);
  cut.sleeve_out = r.uniform(0.35F, 0.75F);
  cut.cuff = r.uniform(0.22F, 0.32F);
}

Garment t_shirt(Draws& r) {
  TopCut cut = common_cut(r, 0.88F, 1.12F);
  make_short_sleeves(cut, r);
  Garment garment;
  add_sleeves(garment, cut, r.uniform(0.8F, 1.05F));
  garment.push_back(body_of(cut));
  if (r.chance(0.35F)) {  // a print on the chest
    const float w = r.uniform(0.12F, 0.3F), y = r.uniform(-0.5F, -0.2F);
    add_band(garment, w, y, r.uniform(0.15F, 0.5F), r.uniform(0.4F, 1.6F));
  }
  return garment;
}

Garment pullover(Draws& r) {
  TopCut cut = common_cut(r, 0.92F, 1.14F);
  make_long_sleeves(cut, r);
  Garment garment;
  add_sleeves(garment, cut, r.uniform(0.8F, 1.05F));
  garment.push_back(body_of(cut));
  const float rib = r.uniform(0.75F, 1.0F);
  if (r.chance(0.7F)) add_band(garment, cut.hem, cut.hem_y - 0.1F, 0.1F, rib);
  if (r.chance(0.3F)) {  // turtleneck
    add_band(garment, cut.neck, kTop - 0.1F, 0.16F, rib);
  }
  return garment;
}

Garment coat(Draws& r) {
  TopCut cut = common_cut(r, 0.94F, 1.16F);
  make_long_sleeves(cut, r);
  cut.v_neck = true;
  cut.hem_y = r.uniform(0.82F, 0.98F);
  cut.hem *= r.uniform(1.04F, 1.2F);
  Garment garment;
  add_sleeves(garment, cut, r.uniform(0.8F, 1.05F));
  garment.push_back(body_of(cut));
  const float dark = r.uniform(0.25F, 0.75F), lean = r.uniform(-0.08F, 0.08F);
  add_front_line(garment, cut, r.uniform(0.07F, 0.16F), dark, lean);
  if (r.chance(0.6F)) add_collar(garment, cut, r.uniform(0.2F, 0.36F), r.uniform(0.6F, 1.0F));
  if (r.chance(0.4F)) {  // pockets
    const float y = r.uniform(0.1F, 0.4F);
    const std::vector<Point> pocket = strip({{0.18F, y}, {0.38F, y - 0.05F}}, 0.08F);
    garment.push_back({pocket, dark});
    garment.push_back({flipped(pocket), dark});
  }
  return garment;
}

Garment shirt(Draws& r) {
  TopCut cut = common_cut(r, 0.8F, 1.0F);
  if (r.chance(0.84F))
    make_long_sleeves(cut, r);
  else
    make_short_sleeves(cut, r);
  cut.neck_depth = r.uniform(0.08F, 0.16F);
  cut.hem_drop = r.uniform(0.04F, 0.16F);
  Garment garment;
  add_sleeves(garment, cut, r.uniform(0.8F, 1.05F));
  garment.push_back(body_of(cut));
  if (r.chance(0.9F)) {
    const float shade = r.chance(0.3F) ? r.uniform(0.45F, 0.75F) : r.uniform(1.25F, 1.6F);
    add_front_line(garment, cut, r.uniform(0.04F, 0.08F), shade, 0);
  }
  if (r.chance(0.9F)) add_collar(garment, cut, r.uniform(0.16F, 0.26F), r.uniform(1.15F, 1.6F));
  return garment;
}

}  // namespace

Garment draw_top(int label, Draws& draws) {
  switch (label) {
    case 0: return t_shirt(draws);
    case 2: return pullover(draws);
    case 4: return coat(draws);
    default: return shirt(draws);
  }
}

Garment draw_dress(Draws& r) {
  TopCut cut = common_cut(r, 0.88F, 1.12F);
  const float slim = r.uniform(0.55F, 0.8F);
  cut.shoulder *= slim;
  cut.chest *= slim;
  cut.neck = cut.shoulder * r.uniform(0.45F, 0.75F);
  cut.waist = cut.chest * r.uniform(0.7F, 1.0F);
  cut.hem = cut.chest * r.uniform(1.0F, 1.75F);
  cut.hem_y = r.uniform(0.85F, 0.98F);
  Garment garment;
  const float kind = r.uniform(0, 1);
  if (kind < 0.3F) {
    make_short_sleeves(cut, r);
    cut.cuff *= 0.7F;
  } else if (kind < 0.45F) {
    make_long_sleeves(cut, r);
    cut.cuff *= 0.8F;
  }
  if (kind < 0.45F) add_sleeves(garment, cut, r.uniform(0.8F, 1.05F));
  garment.push_back(body_of(cut));
  if (r.chance(0.35F)) {
    add_band(garment, cut.waist, kTop + 0.55F * (cut.hem_y - kTop), 0.1F, r.uniform(0.5F, 1.3F));
  }
  return garment;
}

Garment draw_trouser(Draws& r) {
  const float waist = r.uniform(0.26F, 0.38F), hip = waist * r.uniform(1.05F, 1.25F);
  const float crotch_y = r.uniform(-0.4F, -0.1F), hem_y = r.uniform(0.8F, 0.98F);
  const float stance = r.uniform(0.0F, 0.14F), leg = r.uniform(0.16F, 0.3F);
  const float inner = 0.03F + stance, outer = inner + leg;
  const float knee_y = (crotch_y + hem_y) / 2;
  const std::vector<Point> right = {
      {0, -0.9F},     {waist, -0.9F}, {hip, crotch_y - 0.1F},          {(hip + outer) / 2, knee_y},
      {outer, hem_y}, {inner, hem_y}, {0.02F + stance * 0.4F, knee_y}, {0, crotch_y}};
  Garment garment;
  garment.push_back({right, 1});
  garment.push_back({flipped(right), r.uniform(0.88F, 1.0F)});
  if (r.chance(0.6F)) add_band(garment, waist, -0.9F, 0.1F, r.uniform(0.5F, 1.3F));
  if (r.chance(0.4F)) {
    garment.push_back({strip({{0, -0.85F}, {0, crotch_y}}, 0.04F), r.uniform(0.4F, 0.8F)});
  }
  return garment;
}

}  // namespace lab
