// CPU time of building a frame, without drawing it: one JSON line per page and amount of data.
//   bench_interface_frames [--frames N] [--runs]
// Every page is shown with the results that its tests use, and Training also with 20 runs of 50,000
// steps in all of its plots; --runs: only that. The pointer moves over the page, so that hovering
// counts too.
//   bench_interface_frames --hours N
// Prints instead the heap memory that each hour of telemetry, of a live matrix product and of a
// live copy adds to the window's data.
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/pages/scenes.h"

namespace {

using namespace lab;

constexpr int kRuns = 20;
constexpr std::int64_t kStepsPerRun = 50'000;
const ImVec2 kSizes[] = {{1280, 720}, {2560, 1440}};

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

ui::Model many_runs() {
  ui::Model model = test::make_scene(ui::Page::Training, test::Scene::Done);
  for (JobId job = 2; job < 2 + kRuns; ++job) {
    const auto feed = [&model, job](Payload payload) {
      model.apply({job, 0.0, std::move(payload)});
    };
    feed(JobStarted{"Training", StartTraining{}});
    feed(test::training_started(true));
    for (std::int64_t step = 1; step <= kStepsPerRun; ++step) {
      StepDone done = test::step_done(step);
      done.loss *= 1 + 0.1 * static_cast<double>(job);
      feed(done);
      if (step % 5000 == 0) feed(test::epoch_done(step / 5000));
    }
    feed(test::predictions(48));
    feed(test::confusion());
    feed(JobFinished{});
  }
  return model;
}

void measure(const std::string& name, ui::Page page, ui::Model model, ImVec2 size, int frames) {
  test::Lab lab(std::move(model), 1, size);
  lab.open(page);
  std::vector<double> ms;
  for (int i = 0; i < frames; ++i) {
    const float along = static_cast<float>(i % 97) / 97;
    lab.backend.move_to({size.x * (0.1F + 0.85F * along), size.y * (0.15F + 0.7F * along)});
    const double begin = cpu_ms();
    lab.frame();
    ms.push_back(cpu_ms() - begin);
  }
  std::sort(ms.begin(), ms.end());
  fmt::print(
      "{{\"page\":\"{}\",\"width\":{:.0f},\"height\":{:.0f},\"median_ms\":{:.4f},"
      "\"p90_ms\":{:.4f},\"max_ms\":{:.4f},\"frames\":{}}}\n",
      name, size.x, size.y, ms[ms.size() / 2], ms[ms.size() * 9 / 10], ms.back(), frames);
  std::fflush(stdout);
}

double heap_mib() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd) / static_cast<double>(kMiB);
}

// Telemetry arrives every second, and five samples per second of a live matrix product in one
// window and of a live copy in another.
void grow(int hours) {
  ui::Model product(test::machine_of(2)), copy(test::machine_of(2));
  StartMatmul start_product;
  start_product.live = true;
  product.apply({1, 0.0, JobStarted{"Live matrix product", start_product}});
  StartTransfers start_copy;
  start_copy.live = true;
  copy.apply({1, 0.0, JobStarted{"Live copy", start_copy}});
  double before = heap_mib();
  for (int hour = 1; hour <= hours; ++hour) {
    for (int fifth = 0; fifth < 5 * 3600; ++fifth) {
      const double t_s = 3600.0 * (hour - 1) + 0.2 * fifth;
      for (ui::Model* model : {&product, &copy}) {
        if (fifth % 5 == 0) model->apply({0, t_s, test::telemetry(model->devices(), t_s, 0.5)});
      }
      product.apply({1, t_s, test::matmul_sample(cpu(), "simd", 1024, 400 + fifth % 7)});
      copy.apply({1, t_s, test::transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kMiB, 20)});
    }
    const double now = heap_mib();
    fmt::print("{{\"hour\":{},\"added_mib\":{:.4f}}}\n", hour, now - before);
    before = now;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("CPU time of building a frame");
  int frames = 300;
  int hours = 0;
  bool runs = false;
  app.add_option("--frames", frames)->check(CLI::PositiveNumber);
  app.add_flag("--runs", runs);
  app.add_option("--hours", hours)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (hours > 0) {
    grow(hours);
    return 0;
  }
  for (const ImVec2 size : kSizes) {
    for (int i = 0; i < ui::kPages && !runs; ++i) {
      const auto page = static_cast<ui::Page>(i);
      measure(ui::key_of(page), page, test::make_scene(page, test::Scene::Done), size, frames);
    }
    measure("training, 20 runs of 50,000 steps", ui::Page::Training, many_runs(), size, frames);
  }
  return 0;
}
