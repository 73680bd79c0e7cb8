// The command line that the log shows for a job starts the same job.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "compute/core/events/tensor_code.h"
#include "compute/core/fields/field_json.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/units.h"
#include "ui/model/job_settings.h"

namespace lab::app {
namespace {

MachineInfo machine_of(int cpus) {
  MachineInfo machine;
  for (int i = 0; i < cpus; ++i) machine.devices.emplace_back().device = cpu(i);
  return machine;
}

// The job that the command line of `request` starts; its words must need no quotes.
template <typename Request>
Request read_back(const Request& request, const MachineInfo& machine) {
  const std::string line = ui::command_line_of(request, machine);
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  EXPECT_EQ(words.at(0), "device-lab");
  std::vector<const char*> args;
  for (std::size_t i = 1; i < words.size(); ++i) args.push_back(words[i].c_str());
  SCOPED_TRACE(line);
  return std::get<Request>(std::get<JobOptions>(parse_command_line(args)).command);
}

template <typename Request>
void expect_same(const Request& request, const MachineInfo& machine) {
  EXPECT_EQ(request_to_json(read_back(request, machine)), request_to_json(request));
}

TEST(JobCommandLine, StartsTheSameTransfers) {
  expect_same(StartTransfers{}, machine_of(1));
  StartTransfers request;
  request.from = {cpu(1)};
  request.memory = {MemoryKind::Pageable, MemoryKind::Pinned};
  request.ops = {TransferOp::Copy, TransferOp::Triad};
  request.all_threads = false;
  request.sizes_bytes = {kKiB, 3 * kMiB};
  request.cache = CacheState::Cold;
  request.budget_s = 0.25;
  expect_same(request, machine_of(2));
}

TEST(JobCommandLine, StartsTheSameLadder) {
  StartMatmul request;
  request.devices = {cpu(0), cpu(1)};
  request.kernels = {"naive", "best"};
  request.sizes = {64, 100};
  request.dtype = Precision::BF16;
  request.seed = 7;
  request.together = true;
  expect_same(request, machine_of(2));
}

TEST(JobCommandLine, StartsTheSameTraining) {
  StartTraining request;
  request.model = "resnet18";
  request.width = 16;
  request.devices = {cpu(0), cpu(1)};
  request.share_policy = SharePolicy::Auto;
  request.data = DataSource::FashionMnist;
  request.lr = 0.05;
  request.batch = 128;
  request.bucket_bytes = 4 << 20;
  request.stop_at = 0.91;
  request.evaluate = false;
  expect_same(request, machine_of(2));
}

TEST(JobCommandLine, NamesTheDevicesOfTheMachine) {
  EXPECT_EQ(ui::command_line_of(StartTour{}, machine_of(2)), "device-lab tour --cpu-devices 2");
  EXPECT_EQ(ui::command_line_of(StartMatmul{}, machine_of(1)), "device-lab matmul");
  const std::string scaling = ui::command_line_of(StartScaling{}, machine_of(1));
  EXPECT_EQ(scaling.rfind("device-lab scaling --cpu-devices 1", 0), 0U)
      << "the command would make a device of each core: " << scaling;
  StartLesson lesson;
  lesson.lesson = "link";
  EXPECT_EQ(ui::command_line_of(lesson, machine_of(1)), "device-lab lesson --cpu-devices 1 link");
  MachineInfo machine = machine_of(1);
  machine.devices.emplace_back().device = {DeviceKind::Emulated, 0};
  EXPECT_EQ(ui::command_line_of(StartMatmul{}, machine), "device-lab matmul --emulated-gpus 1");
}

TEST(JobCommandLine, QuotesWhatAShellWouldRead) {
  const RunTensorCode code{{parse_tensor_statement("X = ones(2, 3)")}};
  EXPECT_EQ(ui::command_line_of(code, machine_of(1)), "device-lab tensor 'X = ones(2, 3)'");
  StartTraining request;
  request.data_dir = "it's here";
  EXPECT_EQ(ui::command_line_of(request, machine_of(1)),
            "device-lab train --data-dir 'it'\\''s here'");
}

TEST(JobCommandLine, IsEmptyForJobsOfTheWindow) {
  StartMatmul live;
  live.live = true;
  EXPECT_EQ(ui::command_line_of(live, machine_of(1)), "");
  EXPECT_EQ(ui::command_line_of(FreeTensor{}, machine_of(1)), "");
}

TEST(JobSettings, AreThoseThatDifferFromTheDefaults) {
  EXPECT_EQ(ui::settings_text(StartMatmul{}), "");
  StartTraining request;
  request.batch = 128;
  request.lr = 0.05;
  const std::string text = ui::settings_text(request);
  EXPECT_NE(text.find("Batch 128"), std::string::npos) << text;
  EXPECT_NE(text.find("0.05"), std::string::npos) << text;
  EXPECT_EQ(text.find("timeline"), std::string::npos) << text;
}

TEST(JobSettings, HaveTheUnitsOfTheirValues) {
  StartScaling request;
  request.compute_s = 0.006;
  request.fixed_s = 0.0005;
  request.training.bucket_bytes = 4 * kMiB;
  const std::string text = ui::settings_text(request);
  EXPECT_NE(text.find("step time of one device 6.00 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("fixed time per step 500 \u00b5s"), std::string::npos) << text;
  EXPECT_NE(text.find("size of gradient buckets 4.00 MiB"), std::string::npos) << text;
  const std::string line = ui::command_line_of(request, machine_of(1));
  EXPECT_NE(line.find("--compute-ms 6"), std::string::npos)
      << "in the unit of the option: " << line;
}

}  // namespace
}  // namespace lab::app
