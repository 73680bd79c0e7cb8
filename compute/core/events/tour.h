#pragma once
// The tour: four figures per device that answer what the machine can do.
#include <cstdint>
#include <optional>
#include <string>

#include "compute/core/device.h"
#include "compute/core/fields/enum_names.h"

namespace lab {

enum class TourQuestion {
  Peak,       // FLOP/s of the multiply-add units
  Bandwidth,  // bytes per second from main memory, or within a GPU's memory
  SmallCopy,  // seconds to copy kTourCopy_bytes with one thread, or to a GPU
  Training,   // LeNet's training images per second
};
template <>
struct EnumNames<TourQuestion> {
  static constexpr ValueName kAll[] = {{"peak", LAB_TEXT("Peak")},
                                       {"bandwidth", LAB_TEXT("Memory bandwidth")},
                                       {"small_copy", LAB_TEXT("Small copy")},
                                       {"training", LAB_TEXT("Training LeNet")}};
};

inline constexpr std::int64_t kTourCopy_bytes = 4096;
// Side of the multiplied matrices: the plain kernel leaves the nearest cache, or a GPU is filled.
inline std::int64_t tour_matrix_size(Device device) {
  return is_gpu(device) ? 2048 : 512;
}

// A measured figure, in the unit of its question: FLOP/s, B/s, s or images/s.
struct TourFigure {
  Device device;
  TourQuestion question = TourQuestion::Peak;
  double value = 0;  // ceilings: of the fastest repetition; otherwise the median
  double median = 0, low = 0, high = 0;  // low and high: 10th and 90th percentile
  std::int64_t n = 0;                    // timed repetitions
  bool unstable = false;                 // the time ended before the median was known to 2 %
  bool complete = false;                 // false: still being measured
  std::string missing = {};              // why there is no value; empty if there is one
  int threads = 0;                       // that took part; 0: a whole GPU
  // Peak: shares of it that the plainest kernel and the lab's fastest one reach.
  std::optional<double> plain_share = {}, best_share = {};
  bool share_unsteady = false;               // the repetitions of the fastest kernel varied
  std::optional<double> all_threads_s = {};  // SmallCopy: the time of all threads together
};

// About how long a tour of `seconds` takes: each of several devices gets at least a third of it.
double tour_duration_s(double seconds, std::size_t devices);
// "FLOP/s", "B/s", "s", "images/s".
const char* unit_of(TourQuestion question);
// What is measured, as a question for somebody who has not measured it yet.
const char* question_text(TourQuestion question);
// "187 GFLOP/s", "4.31 µs", "9.53 k images/s".
std::string value_text(const TourFigure& figure);
// "best of 31", "median of 31, ±12 %, unsteady": half the distance from the 10th to the 90th
// percentile, relative to the median; only a complete figure is called unsteady. Empty without a
// value.
std::string spread_text(const TourFigure& figure);
// "median 181 GFLOP/s, p10 172 GFLOP/s, p90 185 GFLOP/s, n = 31". Empty without a value.
std::string percentiles_text(const TourFigure& figure);
// One sentence that explains the figure, with its numbers.
std::string sentence_of(const TourFigure& figure);

}  // namespace lab
