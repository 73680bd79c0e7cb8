#include "compute/core/events/lesson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/list_text.h"
#include "compute/core/printable.h"
#include "compute/core/units.h"

namespace lab {
namespace {

// SI and binary prefixes that may precede a unit.
constexpr std::pair<std::string_view, double> kPrefixes[] = {
    {"", 1},     {"n", 1e-9},  {"u", 1e-6},       {"\u00b5", 1e-6},
    {"m", 1e-3}, {"k", 1e3},   {"M", 1e6},        {"G", 1e9},
    {"T", 1e12}, {"Ki", 1024}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}};

// Reads a number that may be followed by a prefix and the unit: "3", "3 ms", "4MiB", "2.5x".
std::optional<double> read_quantity(std::string_view text, std::string_view unit) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || !std::isfinite(value) || value < 0) return {};
  const auto length = static_cast<std::size_t>(parsed.ptr - text.data());
  const std::string_view suffix = trimmed(text.substr(length));
  if (suffix.empty()) return value;
  for (const auto& [prefix, factor] : kPrefixes) {
    if (suffix == fmt::format("{}{}", prefix, unit)) return value * factor;
    if (!prefix.empty() && suffix == prefix) return value * factor;
  }
  return {};
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

LessonAnswer parse_choice(const LessonQuestion& question, const std::string& text) {
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    if (text == std::to_string(i + 1)) return {{static_cast<double>(i)}};
  }
  const std::string wanted = lower(text);
  std::vector<double> matches;
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    const std::string in_english = lower(question.choices[i]);
    const std::string translated = lower(tr(question.choices[i]));
    if (wanted == in_english || wanted == translated) return {{static_cast<double>(i)}};
    if (wanted.empty()) continue;
    if (in_english.find(wanted) != std::string::npos ||
        translated.find(wanted) != std::string::npos) {
      matches.push_back(static_cast<double>(i));
    }
  }
  if (matches.size() == 1) return {matches};
  std::string choices;
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    choices += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i + 1, tr(question.choices[i]));
  }
  throw Error(Errc::Usage, trf("guess '{}' is not a choice; choose one of {}", text, choices));
}

// "4,194,304", "4 194 304": whether the character at `i`, one of `separators`, only groups the
// digits of one number. A decimal comma, as in "0,125" or "12345,678", does not.
bool groups_digits(std::string_view text, std::string_view separators, std::size_t i) {
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  if (!digit(i + 1) || !digit(i + 2) || !digit(i + 3) || digit(i + 4)) return false;
  std::size_t begin = i;
  while (begin > 0 && digit(begin - 1)) --begin;
  if (begin == i || i - begin > 3) return false;
  const bool is_first =
      begin < 2 || !digit(begin - 2) || separators.find(text[begin - 1]) == std::string_view::npos;
  return is_first ? text[begin] != '0' : i - begin == 3;
}

std::string without_groups(std::string_view text, std::string_view separators) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (separators.find(text[i]) == std::string_view::npos || !groups_digits(text, separators, i)) {
      plain += text[i];
    }
  }
  return plain;
}

std::string wrong_count(const LessonQuestion& question, std::string_view text, std::size_t count) {
  const std::string found = count == 1 ? trf("guess '{}' has 1 number", text)
                                       : trf("guess '{}' has {} numbers", text, count);
  if (question.at.empty()) return trf("{}; write one", found);
  std::vector<std::string> at;
  for (std::size_t i = 0; i < question.at.size(); ++i) at.push_back(position_text(question, i));
  return trf("{}; write {}, one each for {}", found, at.size(), fmt::join(at, ", "));
}

std::vector<std::string> split_answer(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

bool is_exact(double guess, double answer) {
  constexpr double kRounding = 1e-9;  // of numbers that were read from text
  return std::abs(guess - answer) <= kRounding * std::abs(answer);
}

bool is_close(double guess, double answer) {
  if (is_exact(guess, answer)) return true;
  return guess > 0 && answer > 0 && std::abs(std::log(answer / guess)) < std::log(1.1);
}

// How one guessed number compares with the answer.
std::string verdict_of(double guess, double answer) {
  if (is_exact(guess, answer)) return tr("exactly right");
  if (is_close(guess, answer)) return tr("right within a tenth");
  return guess < answer ? tr("too low") : tr("too high");
}

std::string curve_verdict(const LessonQuestion& question, const LessonAnswer& guess,
                          const LessonAnswer& answer) {
  if (std::ranges::equal(guess.values, answer.values, is_exact)) return tr("exactly right");
  if (is_right(question, guess, answer)) return tr("right within a tenth");
  std::vector<std::string> low, high, right;
  const std::size_t n = std::min(guess.values.size(), answer.values.size());
  for (std::size_t i = 0; i < n; ++i) {
    const bool close = is_close(guess.values[i], answer.values[i]);
    std::vector<std::string>& where = close                                ? right
                                      : guess.values[i] < answer.values[i] ? low
                                                                           : high;
    where.push_back(position_text(question, i));
  }
  std::vector<std::string> parts;
  if (!low.empty()) parts.push_back(trf("too low at {}", list_text(low)));
  if (!high.empty()) parts.push_back(trf("too high at {}", list_text(high)));
  if (!right.empty()) parts.push_back(trf("right at {}", list_text(right)));
  return fmt::format("{}", fmt::join(parts, tr(", ")));
}

// Long numbers are grouped: "300,568", but "2048".
std::string plain_number(double value) {
  constexpr double kLong = 9999.5;
  const bool whole = value == std::round(value) && std::abs(value) < 1e9;
  if (!whole && std::abs(value) < 100) return fmt::format("{:.3g}", value);
  const std::string digits = fmt::format("{:.0f}", value);
  return std::abs(value) < kLong ? digits : group_digits(digits);
}

}  // namespace

std::string question_text(const LessonInfo& info, std::optional<double> vary) {
  const double setting = vary.value_or(info.vary ? info.vary->value : 0);
  const std::string shown = plain_number(setting);
  return detail::format_translated(info.question.text, fmt::make_format_args(shown));
}

std::string position_text(const LessonQuestion& question, std::size_t i) {
  return i < question.at_names.size() ? question.at_names[i]
                                      : quantity_text(question.at[i], question.at_unit);
}

LessonAnswer parse_answer(const LessonQuestion& question, std::string_view text) {
  if (!question.choices.empty()) return parse_choice(question, std::string(trimmed(text)));
  const bool one = question.at.empty();
  const std::vector<std::string> parts = split_answer(without_groups(text, one ? ", '" : " '"));
  LessonAnswer answer;
  for (const std::string& part : parts) {
    const auto value = read_quantity(part, question.unit);
    if (!value) {
      throw Error(Errc::Usage, question.unit.empty()
                                   ? trf("guess '{}' is not a number", part)
                                   : trf("guess '{}' is not a number of {}", part, question.unit));
    }
    answer.values.push_back(*value);
  }
  if (parts.size() == (one ? 1 : question.at.size())) return answer;
  throw Error(Errc::Usage, wrong_count(question, text, parts.size()));
}

std::string answer_text(const LessonQuestion& question, const LessonAnswer& answer) {
  if (!question.choices.empty()) {
    const auto choice = answer.values.empty() ? 0 : static_cast<std::size_t>(answer.values.front());
    return choice < question.choices.size() ? tr(question.choices[choice]) : "";
  }
  std::vector<std::string> parts;
  for (const double value : answer.values) {
    std::string& text = parts.emplace_back(quantity_text(value, question.unit));
    if (!question.at.empty()) std::erase(text, ',');  // commas separate the numbers
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Spread spread_of(const LessonSample& sample) {
  Spread spread = spread_of(sample.draws);
  spread.mean = sample.value;
  return spread;
}

std::vector<double> nearest_settings(const LessonVary& vary, double value) {
  value = std::clamp(value, vary.low, vary.high);
  double below = value, above = value;
  if (vary.whole) {
    below = std::floor(value);
    above = std::ceil(value);
  }
  if (vary.doubling) {
    for (above = vary.low; above < value;) above *= 2;
    below = above > value ? above / 2 : above;
  }
  if (below == above) return {below};
  return {below, above};
}

std::string verdict(const LessonQuestion& question, const LessonAnswer& guess,
                    const LessonAnswer& answer) {
  if (!question.choices.empty()) return guess == answer ? tr("right") : tr("wrong");
  if (question.at.empty()) return verdict_of(guess.values.at(0), answer.values.at(0));
  return curve_verdict(question, guess, answer);
}

bool is_right(const LessonQuestion& question, const LessonAnswer& guess,
              const LessonAnswer& answer) {
  if (!question.choices.empty()) return guess == answer;
  return std::ranges::equal(guess.values, answer.values, is_close);
}

std::string unjudged_text(const LessonQuestion& question, const LessonAnswer& answer) {
  const std::string text = answer_text(question, answer);
  return question.choices.empty() ? trf("The answer: {} (rough: the machine was busy)", text)
                                  : trf("The answer: {}", text);
}

std::string part_text(const GapPart& part, std::string_view unit) {
  return fmt::format("{} {}{}", part.cause, part.value > 0 ? "+" : "",
                     quantity_text(part.value, unit));
}

std::string quantity_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "N/A";
  if (unit == "B") return format_bytes(std::llround(value));
  if (unit == "s") {
    const std::string text = format_seconds(std::abs(value));
    return value < 0 ? "-" + text : text;
  }
  if (unit == "x") return fmt::format("{:.2f}x", value);
  if (unit == "images/s") return fmt::format("{:.0f} {}", value, tr("images/s"));
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "cores") return value == 1 ? tr("1 core") : trf("{} cores", plain_number(value));
  return unit.empty() ? plain_number(value) : format_si(value, unit);
}

}  // namespace lab
