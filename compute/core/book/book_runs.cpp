#include "compute/core/book/book_runs.h"

#include <cstdlib>
#include <iterator>
#include <map>

#include "book_rows.h"

namespace lab {
namespace {

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin <= row.size();) {
    const std::size_t end = std::min(row.find(',', begin), row.size());
    cells.emplace_back(row.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

double number(const std::string& cell) {
  return std::strtod(cell.c_str(), nullptr);
}

constexpr std::size_t kFirstEpoch = 11;  // column

BookRun run_of(std::string_view row) {
  const std::vector<std::string> cells = cells_of(row);
  BookRun run;
  run.notebook = static_cast<int>(number(cells.at(0)));
  run.edition = cells.at(1);
  run.framework = cells.at(2);
  run.model = cells.at(3);
  run.image_side = static_cast<int>(number(cells.at(4)));
  run.gpus = static_cast<int>(number(cells.at(5)));
  run.batch = static_cast<std::int64_t>(number(cells.at(6)));
  run.lr = number(cells.at(7));
  run.test_acc = number(cells.at(8));
  run.s_per_epoch = number(cells.at(10));
  for (std::size_t i = kFirstEpoch; i < cells.size() && !cells[i].empty(); ++i) {
    run.acc_by_epoch.push_back(number(cells[i]));
  }
  return run;
}

}  // namespace

std::span<const BookRun> book_runs() {
  static const std::vector<BookRun> kRuns = [] {
    std::vector<BookRun> runs;
    for (auto row = std::begin(kBookRows) + 1; row != std::end(kBookRows); ++row) {
      runs.push_back(run_of(*row));
    }
    return runs;
  }();
  return kRuns;
}

std::vector<const BookRun*> chapter_book_runs(std::string_view model, int gpus,
                                              std::string_view framework) {
  const std::string_view edition = framework == "pytorch" ? "1.0" : "coming";
  std::vector<const BookRun*> found;
  for (const BookRun& run : book_runs()) {
    if (run.edition == edition && run.framework == framework && run.model == model &&
        run.gpus == gpus && run.image_side == 28) {
      found.push_back(&run);
    }
  }
  return found;
}

std::vector<double> chapter_speedups(std::string_view model) {
  std::map<int, double> one_gpu_s;  // by notebook
  for (const BookRun* run : chapter_book_runs(model, 1))
    one_gpu_s[run->notebook] = run->s_per_epoch;
  std::vector<double> speedups;
  for (const BookRun* run : chapter_book_runs(model, 2)) {
    const auto one = one_gpu_s.find(run->notebook);
    if (one != one_gpu_s.end()) speedups.push_back(one->second / run->s_per_epoch);
  }
  return speedups;
}

Spread chapter_accuracy(std::string_view model, int gpus, std::string_view framework) {
  std::vector<double> values;
  for (const BookRun* run : chapter_book_runs(model, gpus, framework))
    values.push_back(run->test_acc);
  return spread_of(values);
}

}  // namespace lab
