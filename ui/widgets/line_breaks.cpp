#include "ui/widgets/line_breaks.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <utility>

#include "ui/fonts.h"

namespace lab::ui {
namespace {

// Ideographs, kana, and full-width forms.
bool is_wide(unsigned c) {
  return (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFF00 && c <= 0xFFEF);
}

bool contains(std::u32string_view characters, unsigned c) {
  return characters.find(static_cast<char32_t>(c)) != std::u32string_view::npos;
}

bool begins_no_line(unsigned c) {
  return contains(
      U",.:;!?)]}%"
      U"、。，．：；？！）」』】〉》〕］”’…・～ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ％",
      c);
}

bool ends_no_line(unsigned c) {
  return contains(U"([{（「『【〈《〔［“‘", c);
}

bool may_break(unsigned before, unsigned after) {
  if (before == ' ') return after != ' ';
  if (after == ' ' || begins_no_line(after) || ends_no_line(before)) return false;
  return is_wide(before) || is_wide(after);
}

// "0.77 +- 0.05", "N = 512"
bool joins_numbers(unsigned c) {
  constexpr unsigned kPlusMinus = 0xB1;
  return c == kPlusMinus || c == '=';
}

// Whether a text begins with a unit, as in "MiB, of which".
bool begins_with_unit(std::string_view text) {
  static constexpr std::string_view kUnits[] = {
      "B",       "KiB",     "MiB",     "GiB",     "TiB",   "s",     "ms",      "\u00b5s", "ns",
      "min",     "%",       "Hz",      "kHz",     "MHz",   "GHz",   "W",       "B/s",     "kB/s",
      "MB/s",    "GB/s",    "TB/s",    "FLOP",    "kFLOP", "MFLOP", "GFLOP",   "TFLOP",   "FLOP/s",
      "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "k",     "M",     "images/s"};
  return std::any_of(std::begin(kUnits), std::end(kUnits), [&](std::string_view unit) {
    if (!text.starts_with(unit)) return false;
    if (text.size() == unit.size()) return true;
    const auto next = static_cast<unsigned char>(text[unit.size()]);
    return std::isalnum(next) == 0 && next != '/';
  });
}

bool is_of_name(unsigned c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Behind the bracket that closes the one at `open`, as in "full((2, 3), 1)"; `open` if the brackets
// hold more than a short piece of code.
const char* end_of_call(const char* open, const char* end) {
  constexpr std::ptrdiff_t kMost = 32;  // bytes
  int depth = 0;
  for (const char* at = open; at < end && at - open < kMost && *at != '\n'; ++at) {
    if (*at == '(') ++depth;
    if (*at == ')' && --depth == 0) return at + 1;
  }
  return open;
}

unsigned next_character(const char*& at, const char* end) {
  unsigned c = 0;
  at += ImTextCharFromUtf8(&c, at, end);
  return c;
}

std::size_t hash_of(const ImFont* font, std::string_view text, float width) {
  const std::size_t hash = std::hash<std::string_view>()(text);
  return hash ^ (std::hash<float>()(width) * 31 + std::hash<const void*>()(font));
}

std::string divide(ImFont* font, std::string_view text, float width) {
  std::string broken;
  const char *at = text.data(), *end = at + text.size();
  const char *line = at, *chance = nullptr;  // begin of the line, last place where it may end
  float used = 0, since_chance = 0;          // width of the line, and of its part after `chance`
  unsigned before = '\n', second = '\n';     // the characters before the next one
  const char* call = at;                     // the end of the last call of a function
  while (at < end) {
    const char* here = at;
    const unsigned c = next_character(at, end);
    const float advance = font->GetCharAdvance(static_cast<ImWchar>(c));
    const bool inside_quantity =
        before == ' ' && (joins_numbers(c) || joins_numbers(second) ||
                          (((second >= '0' && second <= '9') || second == 'k' || second == 'M') &&
                           begins_with_unit({here, static_cast<std::size_t>(end - here)})));
    if (c == '(' && is_of_name(before) && here >= call) call = end_of_call(here, end);
    if (before != '\n' && may_break(before, c) && !inside_quantity && here >= call) {
      chance = here, since_chance = 0;
    }
    if (c == '\n') {
      chance = nullptr, used = 0;
    } else if (c != ' ' && used + advance > width && here != line) {
      const char* stop = chance != nullptr && chance > line ? chance : here;
      used = stop == here ? 0 : since_chance;
      broken.append(line, stop);
      while (!broken.empty() && broken.back() == ' ') broken.pop_back();
      broken += '\n';
      line = stop, chance = nullptr;
    }
    if (c != '\n') used += advance, since_chance += advance;
    if (c == '\n') broken.append(line, at), line = at;
    second = std::exchange(before, c);
  }
  return broken.append(line, end);
}

}  // namespace

const std::string* DividedTexts::find(const ImFont* font, std::string_view text, float width) {
  const std::size_t hash = hash_of(font, text, width);
  const auto same = [&](const Entry& e) {
    return e.font == font && e.width == width && e.text == text;
  };
  if (const auto found = recent_.find(hash); found != recent_.end()) {
    return same(found->second) ? &found->second.lines : nullptr;
  }
  const auto found = older_.find(hash);
  if (found == older_.end() || !same(found->second)) return nullptr;
  add(hash, std::move(older_.extract(found).mapped()));
  return &recent_.at(hash).lines;
}

void DividedTexts::keep(const ImFont* font, std::string_view text, float width, std::string lines) {
  add(hash_of(font, text, width), {font, width, std::string(text), std::move(lines)});
}

void DividedTexts::add(std::size_t hash, Entry entry) {
  if (recent_.size() >= kMost) {
    older_ = std::move(recent_);
    recent_.clear();
  }
  recent_.insert_or_assign(hash, std::move(entry));
}

void DividedTexts::clear() {
  recent_.clear();
  older_.clear();
}

std::string break_lines(ImFont* font, std::string_view text, float width) {
  FontSet* const fonts = font_set();
  if (fonts == nullptr) return divide(font, text, width);
  DividedTexts& divided = fonts->divided();
  if (const std::string* known = divided.find(font, text, width)) return *known;
  std::string lines = divide(font, text, width);
  divided.keep(font, text, width, lines);
  return lines;
}

}  // namespace lab::ui
