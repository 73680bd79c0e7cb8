// Options of the measurement commands, transfer and matmul.
#include <algorithm>

#include "app/cli/field_options.h"
#include "app/cli/suggest.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/matmul_experiment.h"

namespace lab::app {

void add_transfer_options(CLI::App& app, JobOptions& out, StartTransfers& request) {
  add_cpu_devices(app, out.cpu_devices);
  add_emulated_gpus(app, out.emulated_gpus);
  add_json(app, out.json);
  Readers readers;
  readers["memory"] = [&request](const std::string& text) {
    using Kinds = std::vector<MemoryKind>;
    request.memory = choose<Kinds>(text, {{"pageable", {MemoryKind::Pageable}},
                                          {"pinned", {MemoryKind::Pinned}},
                                          {"both", {MemoryKind::Pageable, MemoryKind::Pinned}}});
  };
  readers["sizes"] = [&request](const std::string& text) {
    request.sizes_bytes = parse_byte_sizes(text);
  };
  FieldOptions<StartTransfers> options(app, request, std::move(readers));
  options.add(&StartTransfers::from);
  options.add(&StartTransfers::to);
  add_value(
      app, "--devices", "LIST",
      tr("All pairs of these devices and cpu:0, such as cuda:0,cuda:1; not with --from or --to"),
      [&request](const std::string& text) {
        std::vector<Device> devices = parse_devices(text);
        if (std::find(devices.begin(), devices.end(), cpu()) == devices.end()) {
          devices.insert(devices.begin(), cpu());
        }
        request.from = request.to = devices;
      })
      ->excludes("--from")
      ->excludes("--to");
  options.add(&StartTransfers::memory);
  options.add(&StartTransfers::ops);
  add_value(app, "--threads", "one|all|both", tr("Threads that move the data"),
            [&request](const std::string& text) {
              const std::size_t choice = choice_index(text, {"one", "all", "both"});
              request.one_thread = choice != 1;
              request.all_threads = choice != 0;
            });
  options.add(&StartTransfers::sizes_bytes);
  options.add(&StartTransfers::cache);
  options.add(&StartTransfers::budget_s);
  options.add(&StartTransfers::quick);
}

void add_matmul_options(CLI::App& app, JobOptions& out, StartMatmul& request) {
  add_cpu_devices(app, out.cpu_devices);
  add_emulated_gpus(app, out.emulated_gpus);
  add_json(app, out.json);
  Readers readers;
  readers["kernels"] = [&request](const std::string& text) {
    request.kernels.clear();
    if (text != "all") request.kernels = comma_list(text);
  };
  readers["dtype"] = [&request](const std::string& text) { request.dtype = parse_precision(text); };
  FieldOptions<StartMatmul>(app, request, std::move(readers)).add_all();
}

void check_kernels(const StartMatmul& request) {
  std::vector<std::string> known = matmul_kernel_names();
  known.insert(known.begin(), {"all", "best"});
  for (const std::string& name : request.kernels) {
    if (name == "all") {
      throw Error(Errc::Usage, tr("--kernels: 'all' cannot be combined with other kernels; give "
                                  "only 'all' or omit the option"));
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(Errc::Usage, trf("--kernels: '{}' is not a kernel", name) + way_out(name, known));
    }
  }
}

}  // namespace lab::app
