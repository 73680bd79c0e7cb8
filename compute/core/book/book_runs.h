#pragma once
// Trainings that the book's own notebooks recorded (assets/book). Every figure about them that the
// lab shows is computed from these.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/events/spread.h"

namespace lab {

struct BookRun {
  int notebook = 0;  // runs of one notebook followed one another; 0: unknown
  std::string edition, framework, model;
  int image_side = 28, gpus = 1;
  std::int64_t batch = 0;
  double lr = 0;
  double test_acc = 0;  // after the last epoch, as printed
  double s_per_epoch = 0;
  std::vector<double> acc_by_epoch;  // empty if the notebook keeps no figure
};

std::span<const BookRun> book_runs();

// The runs with the chapters' settings: those of the first edition with PyTorch, of the coming one
// with other frameworks.
std::vector<const BookRun*> chapter_book_runs(std::string_view model, int gpus,
                                              std::string_view framework = "pytorch");

// Seconds per epoch on one GPU over those on two, one value per notebook that recorded both.
std::vector<double> chapter_speedups(std::string_view model);

// Test accuracy of these runs after the last epoch, as printed.
Spread chapter_accuracy(std::string_view model, int gpus, std::string_view framework = "pytorch");

}  // namespace lab
