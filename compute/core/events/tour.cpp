#include "compute/core/events/tour.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/events/stats.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

// "0.31 %", "84 %": small shares keep two digits.
std::string share_text(double share) {
  const double shown = 100 * share;
  return fmt::format("{:.{}f} %", shown, shown < 0.995 ? 2 : shown < 9.95 ? 1 : 0);
}

std::string quantity(TourQuestion question, double value) {
  switch (question) {
    case TourQuestion::SmallCopy: return format_seconds(value);
    case TourQuestion::Training:
      return fmt::format("{} {}", format_si(value, ""), tr(unit_of(question)));
    case TourQuestion::Peak:
    case TourQuestion::Bandwidth: break;
  }
  return format_si(value, unit_of(question));
}

std::string peak_sentence(const TourFigure& f) {
  if (!f.plain_share) {
    return tr("The most multiplications and additions per second that its units can do.");
  }
  const std::string plain = share_text(*f.plain_share);
  const std::int64_t n = tour_matrix_size(f.device);
  if (!f.best_share) {
    return is_gpu(f.device)
               ? trf("With {0} x {0} matrices, one thread per element uses {1} of this GPU.", n,
                     plain)
               : trf("With {0} x {0} matrices, three plain loops use {1} of {2}'s peak.", n, plain,
                     lab::to_string(f.device));
  }
  const std::string measured = share_text(*f.best_share);
  const std::string best = f.share_unsteady ? trf("at least {}", measured) : measured;
  return is_gpu(f.device)
             ? trf("With {0} x {0} matrices, one thread per element uses {1} of this GPU, the "
                   "lab's fastest kernel {2}.",
                   n, plain, best)
             : trf("With {0} x {0} matrices, three plain loops use {1} of {2}'s peak, the lab's "
                   "fastest kernel {3}.",
                   n, plain, lab::to_string(f.device), best);
}

std::string copy_sentence(const TourFigure& f) {
  const std::string bytes = format_bytes(kTourCopy_bytes);
  if (is_gpu(f.device)) {
    return trf("A queued copy of {} from main memory to the GPU: mostly its start, not its bytes.",
               bytes);
  }
  if (!f.all_threads_s) {
    return trf("One thread copies {} in this time: even a small copy takes time.", bytes);
  }
  const std::string all = format_seconds(*f.all_threads_s);
  return *f.all_threads_s > f.value
             ? trf("One thread copies {} in this time, all threads together in {}: waking them "
                   "costs more than so few bytes.",
                   bytes, all)
             : trf("One thread copies {} in this time, all threads together in {}.", bytes, all);
}

}  // namespace

double tour_duration_s(double seconds, std::size_t devices) {
  constexpr double kLeastShare = 1.0 / 3;  // for one device, however many there are
  return seconds * std::max(1.0, kLeastShare * static_cast<double>(devices));
}

const char* unit_of(TourQuestion question) {
  switch (question) {
    case TourQuestion::Peak: return "FLOP/s";
    case TourQuestion::Bandwidth: return "B/s";
    case TourQuestion::SmallCopy: return "s";
    case TourQuestion::Training: break;
  }
  return LAB_TEXT("images/s");
}

const char* question_text(TourQuestion question) {
  switch (question) {
    case TourQuestion::Peak: return tr("How many multiplications and additions per second?");
    case TourQuestion::Bandwidth: return tr("How many bytes per second does its memory deliver?");
    case TourQuestion::SmallCopy: return tr("How long does even a small copy take?");
    case TourQuestion::Training: break;
  }
  return tr("How many images per second does LeNet learn from?");
}

std::string value_text(const TourFigure& figure) {
  return figure.missing.empty() ? quantity(figure.question, figure.value) : "N/A";
}

std::string spread_text(const TourFigure& f) {
  if (!f.missing.empty() || f.n == 0 || f.median <= 0) return {};
  std::string spread = half_range(f.low, f.high, f.median, f.n);
  if (f.n == 1) return spread;
  const bool ceiling = f.question == TourQuestion::Peak || f.question == TourQuestion::Bandwidth;
  const std::string text = ceiling ? trf("best of {}", f.n) : trf("median of {}, {}", f.n, spread);
  return f.unstable && f.complete ? trf("{}, unsteady", text) : text;
}

std::string percentiles_text(const TourFigure& f) {
  if (!f.missing.empty() || f.n == 0) return {};
  if (f.n == 1) return tr("There was time for one measurement, so its spread is unknown.");
  return trf("median {}, p10 {}, p90 {}, n = {}", quantity(f.question, f.median),
             quantity(f.question, f.low), quantity(f.question, f.high), f.n);
}

std::string sentence_of(const TourFigure& f) {
  if (!f.missing.empty()) return trf("Not available: {}.", tr(f.missing));
  switch (f.question) {
    case TourQuestion::Peak: return peak_sentence(f);
    case TourQuestion::Bandwidth:
      return is_gpu(f.device)
                 ? tr("A kernel that copies within the GPU's memory; bytes read and written count.")
             : f.threads == 1
                 ? tr("One thread reads far more than the caches hold: this is what limits large "
                      "tensors.")
                 : tr("All threads read far more than the caches hold: this is what limits large "
                      "tensors.");
    case TourQuestion::SmallCopy: return copy_sentence(f);
    case TourQuestion::Training: break;
  }
  return tr("Forward, backward and update of the chapters' network, 256 images per step.");
}

}  // namespace lab
