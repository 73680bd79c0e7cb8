// Trainings on an emulated GPU that end early, started and ended by clicks: the pages, the worker
// and the devices work together here as they do in the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/experiments/registry.h"
#include "compute/gpu/library/layer_libraries.h"
#include "compute/machine/machine.h"
#include "compute/run/worker.h"
#include "compute/tensor/tensor_store.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

constexpr auto kPatience = std::chrono::seconds(60);

class LiveLab {
 public:
  explicit LiveLab(const MachineOptions& options = {.emulated_gpus = 1})
      : machine_(options),
        worker_(machine_, tensors_, channel_, make_experiment, job_title),
        lab_(ui::Model(machine_.info()), 1, {1280, 1400}) {
    StartTraining& request = lab_.view.forms.training.request;
    request.model = "softmax";
    request.lr = 0.1;
    request.batch = 4;
    request.synthetic_train = 64;
    request.synthetic_test = 8;
    request.epochs = 100'000;
    lab_.view.forms.training.devices = {false, true};
    lab_.open(Page::Training);
    EXPECT_EQ(lab_.backend.ui.widgets.find("training/device/emu:0")->value, "on");
  }

  StartTraining& request() { return lab_.view.forms.training.request; }
  GpuDevice& gpu() { return *machine_.at(emulated_gpu(0)).gpu(); }
  Lab& lab() { return lab_; }

  void click(const std::string& path) {
    lab_.click(path);
    for (const Command& command : lab_.out) {
      if (const auto* start = std::get_if<StartTraining>(&command)) worker_.submit(*start);
      if (std::holds_alternative<CancelJob>(command)) worker_.cancel();
    }
    lab_.out.clear();
  }

  // Draws frames until the condition holds; false if it never does.
  template <typename Condition>
  bool wait_for(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      apply_events(0.01);
      lab_.frame();
    }
    lab_.frames(3);
    return true;
  }
  bool wait_for_steps() {
    return wait_for(
        [&] { return !lab_.model.runs().empty() && lab_.model.runs().back().steps().size() > 2; });
  }
  // A job that fails at once may have ended before its first event is read, so the events that an
  // idle worker left are applied before the model is asked.
  bool wait_for_end() {
    return wait_for([&] {
      if (!worker_.idle()) return false;
      apply_events(0);
      return !lab_.model.job();
    });
  }
  std::string label(const std::string& path) {
    const ui::WidgetRect* const widget = lab_.backend.ui.widgets.find(path);
    return widget == nullptr ? "" : widget->label;
  }

 private:
  void apply_events(double seconds) {
    for (const Event& event : channel_.wait_and_drain(seconds)) lab_.model.apply(event);
  }

  Machine machine_;
  TensorStore tensors_;
  Channel channel_;
  Worker worker_;
  Lab lab_;
};

TEST(GpuTrainingFaults, StopEndsATrainingWithStepsQueued) {
  LiveLab live;
  live.click("training/start");
  ASSERT_TRUE(live.wait_for_steps());
  live.click("training/stop");
  ASSERT_TRUE(live.wait_for_end());
  EXPECT_TRUE(live.lab().visible("training/stopped"));
  EXPECT_TRUE(live.lab().visible("training/plot/loss"));
  live.request().epochs = 1;
  live.click("training/start");
  ASSERT_TRUE(live.wait_for_end());
  EXPECT_EQ(live.label("training/error"), "");
}

TEST(GpuTrainingFaults, ALostGpuIsNamedWithTheWayOut) {
  LiveLab live;
  live.click("training/start");
  ASSERT_TRUE(live.wait_for_steps());
  std::byte nowhere{};
  const std::unique_ptr<GpuStream> stream = live.gpu().make_stream();
  live.gpu().release(&nowhere, *stream);
  ASSERT_TRUE(live.wait_for_end());
  const std::string error = live.label("training/error");
  EXPECT_NE(error.find("emu:0 is lost"), std::string::npos) << error;
  EXPECT_NE(error.find("restart"), std::string::npos) << error;
  EXPECT_TRUE(live.lab().visible("training/error/restart"));
}

TEST(GpuTrainingFaults, ABatchThatDoesNotFitNamesTheLargest) {
  LiveLab live;
  live.request().model = "resnet18";
  live.request().width = 16;
  live.request().batch = 1 << 14;
  live.lab().frames(2);  // its form has one row more
  live.click("training/start");
  ASSERT_TRUE(live.wait_for_end());
  const std::string error = live.label("training/error");
  EXPECT_NE(error.find("emu:0"), std::string::npos) << error;
  EXPECT_NE(error.find("resnet18 can take batches of up to"), std::string::npos) << error;
}

TEST(GpuTrainingFaults, AnEmulatedGpuNamesTheOtherKernels) {
  LiveLab live;
  live.request().kernels = Kernels::Library;
  live.click("training/start");
  ASSERT_TRUE(live.wait_for_end());
  EXPECT_NE(live.label("training/error").find("choose --kernels lab"), std::string::npos)
      << live.label("training/error");
}

// An emulated GPU that opens its libraries as a real one does, from these files.
MachineOptions gpu_with(const library::LibraryFiles& files) {
  return {.emulated_gpus = 1,
          .emulated_library = [files](GpuDevice&, GpuLayers&) -> std::unique_ptr<GpuLayers> {
            library::open_layer_libraries(files);
            throw Error(Errc::Internal, "the libraries were opened");
          }};
}

// Libraries that cannot be used, and the parts of the sentence about them.
struct UnusableLibraries {
  library::LibraryFiles files;
  std::string what, way_out;
};

std::vector<UnusableLibraries> unusable_libraries() {
  const std::string install =
      "; install it, add its folder to LD_LIBRARY_PATH, or choose "
      "--kernels lab";
  return {{{.cudnn = {"/none/libcudnn.so.9"}, .cublas = {}},
           "cuDNN cannot be opened: /none/libcudnn.so.9 (",
           install},
          {{.cudnn = {LAB_COMPLETE_CUDNN}, .cublas = {"/none/libcublas.so.13"}},
           "cuBLAS cannot be opened: /none/libcublas.so.13 (",
           install},
          {{.cudnn = {LAB_OLD_CUDNN}, .cublas = {}},
           std::string(LAB_OLD_CUDNN) + " is cuDNN 8; the lab works with 9",
           ": install it, or choose --kernels lab"}};
}

TEST(GpuTrainingFaults, AnUnusableLibraryIsNamedWithTheWayOut) {
  for (const UnusableLibraries& unusable : unusable_libraries()) {
    LiveLab live(gpu_with(unusable.files));
    live.request().kernels = Kernels::Library;
    live.click("training/start");
    ASSERT_TRUE(live.wait_for_end());
    const std::string error = live.label("training/error");
    EXPECT_NE(error.find("training: emu:0: " + unusable.what), std::string::npos) << error;
    EXPECT_NE(error.find(unusable.way_out), std::string::npos) << error;
    EXPECT_TRUE(live.lab().model.runs().empty());
    // As the sentence says.
    live.request().kernels = Kernels::Lab;
    live.request().epochs = 1;
    live.click("training/start");
    ASSERT_TRUE(live.wait_for_end());
    EXPECT_EQ(live.label("training/error"), "");
  }
}

TEST(GpuTrainingFaults, BothKernelsSkipAnUnusableLibrary) {
  for (const UnusableLibraries& unusable : unusable_libraries()) {
    LiveLab live(gpu_with(unusable.files));
    live.request().compare_kernels = true;
    live.request().epochs = 1;
    live.click("training/start");
    ASSERT_TRUE(live.wait_for_end());
    EXPECT_EQ(live.label("training/error"), "");
    ASSERT_FALSE(live.lab().model.runs().empty());
    EXPECT_EQ(live.lab().model.runs().back().steps().size(), 16U);
    const std::string skipped = "Skipped library kernels on emu:0: " + unusable.what;
    EXPECT_TRUE(std::ranges::any_of(live.lab().model.log(), [&](const auto& line) {
      return line.text.starts_with(skipped) && line.text.ends_with(unusable.way_out);
    })) << skipped;
  }
}

TEST(GpuTrainingFaults, OnlyGpusAreOfferedTf32) {
  LiveLab live;
  live.request().dtype = Precision::TF32;
  EXPECT_EQ(live.label("training/form_error"), "");
  live.lab().click("training/device/cpu:0");
  EXPECT_EQ(live.label("training/form_error"),
            "cpu:0 does not compute in tf32; choose f32 or bf16");
}

}  // namespace
}  // namespace lab::test
