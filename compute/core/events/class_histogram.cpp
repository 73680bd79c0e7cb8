// The histogram of a class: how many guessed what, and what was measured.
#include <algorithm>
#include <cmath>

#include "compute/core/events/lesson.h"
#include "compute/core/language.h"

namespace lab {
namespace {

// Numbers to count: guesses and measured answers, or their ratio at every position of a curve.
struct Numbers {
  std::vector<double> guesses, answers;
};

Numbers numbers_of(const LessonQuestion& question, const std::vector<ClassEntry>& people) {
  Numbers found;
  const bool curve = !question.at.empty();
  for (const ClassEntry& one : people) {
    if (!curve) {
      if (one.guess) found.guesses.push_back(one.guess->values.front());
      if (one.answer) found.answers.push_back(one.answer->values.front());
      continue;
    }
    if (one.answer) found.answers.push_back(1);
    if (!one.guess || !one.answer) continue;
    for (std::size_t i = 0; i < question.at.size(); ++i) {
      if (one.answer->values[i] > 0) {
        found.guesses.push_back(one.guess->values[i] / one.answer->values[i]);
      }
    }
  }
  return found;
}

std::vector<ClassBin> choice_bins(const LessonQuestion& question,
                                  const std::vector<ClassEntry>& people) {
  std::vector<ClassBin> bins;
  for (const std::string& choice : question.choices) bins.push_back({.label = tr(choice)});
  const auto count = [&](const std::optional<LessonAnswer>& answer, int ClassBin::*counter) {
    if (answer) ++(bins[static_cast<std::size_t>(answer->values.front())].*counter);
  };
  for (const ClassEntry& one : people) {
    count(one.guess, &ClassBin::guesses);
    count(one.answer, &ClassBin::answers);
  }
  return bins;
}

// Half a decade each, as many as all numbers need, at most kMostBins: wider ones if they spread
// further. Numbers that are not positive are counted in the first bin.
std::vector<ClassBin> logarithmic_bins(const Numbers& numbers, const std::string& unit) {
  constexpr double kMostBins = 16;
  double low = INFINITY, high = 0;
  const auto reach = [&](double value) {
    if (value > 0) low = std::min(low, value);
    high = std::max(high, value);
  };
  std::for_each(numbers.guesses.begin(), numbers.guesses.end(), reach);
  std::for_each(numbers.answers.begin(), numbers.answers.end(), reach);
  if (high <= 0) low = high = 1;
  double step = 0.5;  // decades
  double first = std::floor(std::log10(low) / step), last = std::floor(std::log10(high) / step);
  while (last - first >= kMostBins) {
    step *= 2;
    first = std::floor(std::log10(low) / step);
    last = std::floor(std::log10(high) / step);
  }
  std::vector<ClassBin> bins;
  for (int i = 0; i <= static_cast<int>(last - first); ++i) {
    const double at = first + i;
    ClassBin bin{.low = std::pow(10, at * step), .high = std::pow(10, (at + 1) * step)};
    bin.label = trf("{} to {}", quantity_text(bin.low, unit), quantity_text(bin.high, unit));
    bins.push_back(std::move(bin));
  }
  const auto count = [&](double value, int ClassBin::*counter) {
    const double at = value > 0 ? std::floor(std::log10(value) / step) - first : 0;
    ++(bins[static_cast<std::size_t>(std::clamp(at, 0.0, last - first))].*counter);
  };
  for (const double value : numbers.guesses) count(value, &ClassBin::guesses);
  for (const double value : numbers.answers) count(value, &ClassBin::answers);
  return bins;
}

}  // namespace

std::vector<ClassBin> class_histogram(const LessonQuestion& question,
                                      const std::vector<ClassEntry>& people) {
  if (!question.choices.empty()) return choice_bins(question, people);
  return logarithmic_bins(numbers_of(question, people), question.at.empty() ? question.unit : "x");
}

}  // namespace lab
