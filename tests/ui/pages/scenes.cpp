#include "tests/ui/pages/scenes.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

struct Feed {
  Model& model;
  double t = 0;
  void operator()(JobId job, Payload payload) {
    model.apply(event(job, t += 0.1, std::move(payload)));
  }
  // Reports progress of job 1 or finishes it, depending on the scene.
  void end(Scene scene) {
    if (scene == Scene::Running) {
      (*this)(1, Progress{0.42, "a case with a name", 42.0});
    } else if (scene == Scene::Failed) {
      (*this)(
          1, JobFinished{Outcome::Failed, 3,
                         "add: X1 is on cpu:0 and X2 on cpu:1; copy one first: X2.copy_to(cpu:0)"});
    } else {
      (*this)(1, JobFinished{Outcome::Done, 12.5, ""});
    }
  }
};

void feed_devices(Feed& feed) {
  for (int i = 0; i < 240; ++i) {
    feed.t = i;
    feed(0, telemetry(feed.model.devices(), i, 0.4 + 0.3 * std::sin(0.1 * i)));
  }
  for (const Device device : feed.model.devices()) {
    for (const char* name : {"naive", "tiled", "simd", "packed", "onednn"}) {
      feed(0, RungInfo{device, name, std::string("The rung ") + name, "What it adds, and why.",
                       std::string(name) == "onednn"});
    }
  }
}

LessonInfo lesson_info(const char* name, int devices) {
  LessonInfo info;
  info.name = name;
  info.title = std::string("The lesson called ") + name;
  info.devices = devices;
  info.text = {"A sentence that explains what the lesson is about, long enough to be wrapped.",
               "A second sentence.", "A third one, with an exercise."};
  info.steps = {{"First step", {"torch.mm(A, B)", "np.dot(A, B)", "", "jnp.matmul(A, B)", "mm()"}},
                {"Second step",
                 {"for _ in range(1000): log.append(torch.norm(A @ B).item())", "", "", "", ""}}};
  info.question = {
      .text = "Which one?", .choices = {"one", "two", "three"}, .why = "What decides it."};
  info.vary = LessonVary{"Size N", "", 64, 4096, 256, true};
  info.figure = LessonFigure::Curves;
  info.x_label = "bytes";
  info.y_label = "time";
  StartMatmul free;
  info.free = free;
  info.set_free = [](JobCommand& command, double n) {
    std::get<StartMatmul>(command).sizes = {static_cast<std::int64_t>(n)};
  };
  return info;
}

void feed_lessons(Feed& feed) {
  LessonInfo first = lesson_info("first", 1);
  first.about_machine = true;
  feed(0, first);
  LessonInfo second = lesson_info("second", 2);
  second.question = {.text = "How long?",
                     .unit = "s",
                     .low = 1e-8,
                     .high = 1,
                     .at = {1024, 1 << 20, 1 << 26},
                     .at_unit = "B"};
  feed(0, second);
  feed(0, lesson_info("third", 3));
}

// Two devices with three values each; every step adds 1 to device 1's.
LessonFrame lesson_frame(const char* sequence, int step) {
  LessonFrame frame{.sequence = sequence, .step = step};
  frame.title = std::string("The stage of the ") + sequence + " called " + std::to_string(step);
  for (int device = 0; device < 2; ++device) {
    const double value = 10 * (device + 1) + device * step;
    frame.rows.push_back(
        {.name = "device " + std::to_string(device), .values = {value, value + 0.25, value + 0.5}});
  }
  for (const char* group : {"net.1.weight", "net.1.bias"}) {
    frame.rows.push_back({.name = "g0", .values = {0.125}, .group = group});
  }
  if (step > 0) frame.moves = {{0, 1, 0, 3, true}};
  return frame;
}

void feed_learn(Feed& feed, Scene scene) {
  feed(1, JobStarted{"Lesson first", StartLesson{"first", "one", {}, {}}});
  const auto tell = [&](LessonResult result) { feed(1, LessonEvent{"first", std::move(result)}); };
  tell(LessonGuess{"Which one?", "one", {{0}}});
  tell(LessonStepBegun{1});
  if (scene != Scene::Failed) {
    tell(LessonPrediction{"copy",
                          {},
                          "",
                          1e-3,
                          "s",
                          "latency + bytes / bandwidth",
                          {{"latency", 1e-6, "s"}, {"bandwidth", 1e10, "B/s"}}});
    for (int bits = 10; bits <= 26; bits += 4) {
      const double x = std::exp2(bits);
      tell(LessonPrediction{"copy by size", x, "B", x / 2e10, "s", "bytes / bandwidth", {}});
      tell(LessonSample{"copy by size", x, "B", x / 1e10, "s", "", timing(x / 1e10)});
    }
    tell(LessonSample{"copy", {}, "", 2e-3, "s", "", timing(2e-3)});
    tell(LessonSample{"gpu(1)", {}, "", 0, "", "cuda:1 cannot be used: no NVIDIA device", {}});
    for (const int runs : {6, 100}) {
      LessonSample repeated;
      repeated.series = fmt::format("copy, {} runs", runs);
      repeated.unit = "x";
      for (int i = 0; i < runs; ++i) repeated.draws.push_back(1.5 + 0.04 * std::sin(i));
      repeated.value = 1.5;
      tell(LessonPrediction{repeated.series, {}, "", 2, "x", "", {}});
      tell(repeated);
    }
    for (int i = 0; i < 6; ++i) {
      tell(LessonSpan{i % 2 == 0 ? "host" : "cpu:0", i % 3 == 0 ? "submit" : "product", 1e-5 * i,
                      1e-5 * (i + 1), i == 4});
    }
    tell(LessonMap{feed.model.machine().devices, {}, {{cpu(0), cpu(1), "main memory"}}});
    for (int step = 0; step < 3; ++step) tell(lesson_frame("ring", step));
    tell(lesson_frame("star", 0));
    tell(LessonGap{
        "copy", "s", 1e-3, 2e-3, {{"latency", 4e-4}, {"waiting", 7e-4}, {"unexplained", -1e-4}}});
  }
  if (scene == Scene::Done) {
    tell(LessonDone{"The copy took 2.00 ms, twice as long as predicted.",
                    {{"the copy is exact", true, ""}, {"nothing is left", true, ""}},
                    LessonAnswer{{1}}});
  }
  feed.end(scene);
}

void feed_memory(Feed& feed, Scene scene) {
  feed(1, JobStarted{"Create a tensor on cpu:0", MakeTensor{}});
  TensorList list;
  for (int i = 1; i <= 5; ++i) {
    list.tensors.push_back(tensor(i, cpu(i % 2), i * 3 * kMiB));
    list.tensors.back().owned_by_page = i != 4;
  }
  feed(1, list);
  for (const char* statement : {"X = ones(2, 3)", "Y = X.to(cpu:1)"}) {
    TensorResult result;
    result.statement = statement;
    result.tensor = tensor(1, cpu(), 24);
    result.grid = {2, 3, {0, 1}, {0, 1, 2}, {1, 1, 1, 1, 1, 1}};
    feed(1, result);
  }
  feed.end(scene);
}

void feed_transfers(Feed& feed, Scene scene) {
  feed(1, JobStarted{"Transfers by size", StartTransfers{}});
  for (int op = 0; op < 4 && scene != Scene::Failed; ++op) {
    for (int bits = 10; bits <= 30; bits += 2) {
      feed(1, transfer_sample(cpu(), cpu(), static_cast<TransferOp>(op), 1 + op % 2,
                              std::int64_t{1} << bits, 20 + 5 * op));
    }
    if (scene != Scene::Done) continue;
    TransferFit fit;
    fit.op = static_cast<TransferOp>(op);
    fit.threads = 1 + op % 2;
    fit.levels = {{"L1", 16 * kKiB, 3, 2e-7, 60, 0.02}, {"memory", 0, 8, 0, 20, 0.03 * op}};
    feed(1, fit);
  }
  feed(1, Skipped{"triad at 1 GiB", "needs 3 GiB but 2.1 GiB are free"});
  feed.end(scene);
}

void feed_matmul(Feed& feed, Scene scene) {
  feed(1, JobStarted{"Matmul ladder on cpu:0", StartMatmul{}});
  if (scene != Scene::Failed) {
    PeakSample peak;
    peak.gflops = 500;
    peak.threads = 2;
    peak.time = timing(0.1);
    feed(1, peak);
    feed(1, ceilings_measured(cpu()));
    double gflops = 5;
    for (const char* name : {"naive", "tiled", "simd", "onednn"}) {
      gflops *= 4;
      for (int n = 64; n <= 1024; n *= 2) feed(1, matmul_sample(cpu(), name, n, gflops));
    }
  }
  if (scene == Scene::Failed) {
    feed(1, RungFailed{cpu(), "simd", Precision::F32, 4096,
                       "the error of C[17,4] is 12.5 times the rounding bound", 12.5});
  }
  feed(1, Skipped{"openblas", "libopenblas.so.0 is not installed"});
  feed.end(scene);
}

void feed_training(Feed& feed, Scene scene) {
  feed(1, JobStarted{"Training lenet on cpu:0", StartTraining{}});
  feed(1, training_started(true));
  for (int step = 1; step <= 700 && scene != Scene::Failed; ++step) {
    feed(1, step_done(step));
    if (step % 235 != 0) continue;
    feed(1, epoch_done(step / 235));
    feed(1, predictions(48));
    feed(1, confusion());
  }
  feed.end(scene);
}

void feed_scaling(Feed& feed, Scene scene) {
  StartScaling request;
  request.modes = {ScalingMode::Strong, ScalingMode::Weak};
  feed(1, JobStarted{"Scaling lenet over 2 devices", request});
  for (const ScalingMode mode : request.modes) {
    if (scene == Scene::Failed) break;
    if (mode == ScalingMode::Strong) feed(1, step_timeline(1));
    feed(1, scaling_point(mode, 1));
    if (scene == Scene::Running) break;
    if (mode == ScalingMode::Strong) feed(1, step_timeline(2));
    feed(1, scaling_point(mode, 2));
    feed(1, scaling_point(mode, 4, true));
    for (const int devices : {1, 2, 4, 8, 16}) feed(1, scaling_prediction(mode, devices));
    for (const int devices : {1, 2, 4}) feed(1, scaling_check(mode, devices));
  }
  if (scene == Scene::Done) feed(1, Skipped{"8 devices", "the machine has 4 devices"});
  feed.end(scene);
}

void feed_tour(Feed& feed, Scene scene) {
  feed(1, JobStarted{"Tour, all devices", StartTour{}});
  for (const Device device : feed.model.devices()) {
    for (const TourQuestion question : enum_values<TourQuestion>()) {
      if (scene == Scene::Failed) break;
      if (scene == Scene::Running && question == TourQuestion::Training) break;
      TourFigure figure = tour_figure(device, question);
      if (device == cpu(1) && question == TourQuestion::Bandwidth) {
        figure.missing = "a working set beyond the caches needs 2 GiB, but only 1 GiB can be used";
      }
      feed(1, figure);
    }
  }
  feed.end(scene);
}

}  // namespace

Model make_scene(Page page, Scene scene) {
  Model model(machine_of(2));
  Feed feed{model};
  feed_devices(feed);
  feed_lessons(feed);
  feed(0, scaling_comparison());
  if (scene == Scene::Empty) return model;
  switch (page) {
    case Page::Tour: feed_tour(feed, scene); break;
    case Page::Learn: feed_learn(feed, scene); break;
    case Page::Devices: break;
    case Page::Memory: feed_memory(feed, scene); break;
    case Page::Transfers: feed_transfers(feed, scene); break;
    case Page::Matmul: feed_matmul(feed, scene); break;
    case Page::Training: feed_training(feed, scene); break;
    case Page::Scaling: feed_scaling(feed, scene); break;
    case Page::Log:
      for (int i = 0; i < 60; ++i) {
        feed(0, LogLine{static_cast<Severity>(i % 3),
                        "A line that is long enough to be wrapped in a narrow window, number " +
                            std::to_string(i)});
      }
      break;
  }
  return model;
}

Model make_many_devices(const ManyDevices& what, Scene scene) {
  Model model(machine_of(what.devices / what.ranks));
  Feed feed{model};
  feed_devices(feed);
  StartTraining request;
  request.model = "resnet18";
  request.data = DataSource::FashionMnist;
  request.devices = model.devices();
  request.share_policy = what.policy;
  feed(1, JobStarted{"Training resnet18", request});
  TrainingStarted started = training_started(false);
  started.request = request;
  started.lr = 0.1;
  feed(1, started);
  const bool automatic = what.policy == SharePolicy::Auto;
  for (int step = 1; step <= 700; ++step) {
    StepDone done = step_done(step);
    done.lr = started.lr;
    done.devices = device_steps(what.devices, what.ranks, step, automatic);
    feed(1, done);
    if (step % 235 == 0) feed(1, epoch_done(step / 235));
  }
  if (scene == Scene::Done) {
    TrainingDone done;
    done.ranks = what.ranks;
    done.images_per_s = 11'200;
    done.hidden_share = 0.957;
    feed(1, done);
  }
  feed.end(scene);
  return model;
}

Model make_layers(const Layers& what, Scene scene) {
  Model model(machine_of(1));
  Feed feed{model};
  StartTraining request;
  request.profile = true;
  request.compare_kernels = what.both;
  feed(1, JobStarted{"Training lenet on cpu:0", request});
  TrainingStarted started = training_started(true);
  started.request = request;
  feed(1, started);
  for (int step = 1; step <= 40; ++step) feed(1, step_done(step));
  if (what.profile) feed(1, training_profile(what.both, what.layers));
  feed.end(scene);
  return model;
}

std::vector<std::string> Lab::legend(std::string_view plot) const {
  const std::string entries = std::string(plot) + "/legend/";
  std::vector<std::string> labels;
  for (const ui::WidgetRect& w : backend.ui.widgets.all()) {
    if (w.path.starts_with(entries)) labels.push_back(w.path.substr(entries.size()));
  }
  return labels;
}

void Lab::scroll(float notches) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  backend.move_to({screen.x - 20 * view.scale, screen.y / 2});
  frame();
  backend.wheel(notches);
  frames(2);
}

void Lab::scroll_to_and_click(std::string_view path) {
  const auto reachable = [&] {
    const ui::WidgetRect* w = backend.ui.widgets.find(path);
    return w != nullptr && w->max.y - w->min.y >= backend.ui.px(16);
  };
  for (int i = 0; i < 200 && !reachable(); ++i) scroll(-1);
  click(path);
}

void Lab::press(int key, bool control) {
  backend.control(control);
  backend.key(key, true);
  frame();
  backend.key(key, false);
  backend.control(false);
  frames(2);
}

}  // namespace lab::test
