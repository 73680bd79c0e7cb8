#include <fmt/format.h>

#include <cctype>

#include "app/cli/field_options.h"
#include "compute/core/events/share_list.h"
#include "compute/core/events/training_preset.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/train/convolution_choice.h"

namespace lab::app {
namespace {

void read_shares(const TrainText& extra, StartTraining& request) {
  const std::string& text = extra.shares;
  const bool word = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  if (word) {
    request.share_policy =
        choose<SharePolicy>(text, {{"auto", SharePolicy::Auto}, {"equal", SharePolicy::Equal}});
    return;
  }
  request.share_policy = SharePolicy::Listed;
  read_text(field_of(&StartTraining::shares), text, request.shares);
  if (request.devices.empty() && extra.all_devices) return;  // checked by the experiment
  const std::size_t devices = std::max<std::size_t>(1, request.devices.size());
  const std::string fault = validate_shares(request.shares, devices);
  if (!fault.empty()) throw Error(Errc::Usage, fault);
}

// Options are read in the order in which they are added, so that those after it override it.
void add_preset(CLI::App& app, StartTraining& request) {
  add_value(app, "--preset", "book|fast|accurate",
            tr("Settings to start from, which other options override: book (default); fast, "
               "which reaches a test accuracy of 0.91 on Fashion-MNIST soonest; or accurate, "
               "which reaches 0.94 soonest on a GPU with --dtype bf16"),
            [&request](const std::string& text) {
              const auto preset =
                  static_cast<TrainingPreset>(read_choice(enum_names<TrainingPreset>(), text));
              apply_preset(preset, request);
              if (preset == TrainingPreset::Book) request.lr.reset();  // that of --model
            });
}

}  // namespace

Readers training_readers(StartTraining& request, TrainText& extra) {
  Readers readers;
  readers["shares"] = [&](const std::string& text) { extra.shares = text; };
  readers["data"] = [&](const std::string& text) {
    read_text(field_of(&StartTraining::data), text, request.data);
    extra.data_asked = true;
  };
  readers["kernels"] = [&](const std::string& text) {
    const std::size_t which = choice_index(text, {"lab", "library", "both"});
    request.kernels = which == 1 ? Kernels::Library : Kernels::Lab;
    request.compare_kernels = which == 2;
  };
  readers["convolution"] = [&](const std::string& text) {
    choice_index(text, convolution_choice_names());
    request.convolution = text;
  };
  // More than the window offers: the devices decide whether it can be computed.
  readers["dtype"] = [&](const std::string& text) { request.dtype = parse_precision(text); };
  return readers;
}

void add_train_options(CLI::App& app, JobOptions& out, StartTraining& request, TrainText& extra) {
  add_cpu_devices(app, out.cpu_devices);
  add_emulated_gpus(app, out.emulated_gpus);
  add_json(app, out.json);
  add_preset(app, request);
  FieldOptions<StartTraining>(app, request, training_readers(request, extra)).add_all();
}

void finish_training(StartTraining& request, const TrainText& extra) {
  if (!extra.data_asked && !request.data_dir.empty()) request.data = DataSource::FashionMnist;
  if (request.checkpoint_every > 0 && request.checkpoint_dir.empty()) {
    throw Error(Errc::Usage, trf("--every {} needs a checkpoint folder; add --checkpoint DIR",
                                 request.checkpoint_every));
  }
  if (!request.resume_dir.empty() && !request.init_file.empty()) {
    throw Error(Errc::Usage, tr("--resume and --init contradict each other: a checkpoint has its "
                                "own weights; give only one"));
  }
  request.profile = request.profile || request.compare_kernels;
  try {
    read_shares(extra, request);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("--shares: {}", e.what()));
  }
}

}  // namespace lab::app
