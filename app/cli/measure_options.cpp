// Options of the commands that time something: transfer and matmul.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "app/cli/option_text.h"
#include "app/cli/options.h"
#include "app/cli/suggest.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/matmul_experiment.h"

namespace lab::app {
namespace {

void add_cache(CLI::App& app, CacheState& cache) {
  add_value(
      app, "--cache", "warm|cold", "Whether the data lies in the caches when timing starts",
      [&cache](const std::string& text) {
        cache = choose<CacheState>(text, {{"warm", CacheState::Warm}, {"cold", CacheState::Cold}});
      });
}

void add_budget(CLI::App& app, double& budget_s) {
  add_value(app, "--budget", "SECONDS", "Longest time for one case",
            [&budget_s](const std::string& text) { budget_s = real_number(text, 0.001, 3600); });
}

}  // namespace

void add_transfer_options(CLI::App& app, JobOptions& out, StartTransfers& request) {
  add_cpu_devices(app, out.cpu_devices);
  add_json(app, out.json);
  add_value(app, "--from", "DEV,...", "Source devices; all when left out",
            [&request](const std::string& text) { request.from = parse_devices(text); });
  add_value(app, "--to", "DEV,...", "Target devices; all when left out",
            [&request](const std::string& text) { request.to = parse_devices(text); });
  add_value(app, "--devices", "LIST",
            "Every pair among these and cpu:0, such as cuda:0,cuda:1; not with --from or --to",
            [&request](const std::string& text) {
              std::vector<Device> devices = parse_devices(text);
              if (std::find(devices.begin(), devices.end(), cpu()) == devices.end()) {
                devices.insert(devices.begin(), cpu());
              }
              request.from = request.to = devices;
            })
      ->excludes("--from")
      ->excludes("--to");
  add_value(app, "--memory", "pageable|pinned|both", "Kind of host memory",
            [&request](const std::string& text) {
              using Kinds = std::vector<MemoryKind>;
              request.memory =
                  choose<Kinds>(text, {{"pageable", {MemoryKind::Pageable}},
                                       {"pinned", {MemoryKind::Pinned}},
                                       {"both", {MemoryKind::Pageable, MemoryKind::Pinned}}});
            });
  add_value(app, "--ops", "OP,...",
            "read, write, copy, triad as STREAM defines them; with a GPU copy, both, pieces, "
            "chase, overlap",
            [&request](const std::string& text) {
              request.ops.clear();
              for (const std::string& name : comma_list(text)) {
                request.ops.push_back(choose<TransferOp>(name, {{"read", TransferOp::Read},
                                                                {"write", TransferOp::Write},
                                                                {"copy", TransferOp::Copy},
                                                                {"triad", TransferOp::Triad},
                                                                {"both", TransferOp::Both},
                                                                {"pieces", TransferOp::Pieces},
                                                                {"chase", TransferOp::Chase},
                                                                {"overlap", TransferOp::Overlap}}));
              }
            });
  add_value(app, "--threads", "one|all|both", "Threads that move the data",
            [&request](const std::string& text) {
              const std::size_t choice = choice_index(text, {"one", "all", "both"});
              request.one_thread = choice != 1;
              request.all_threads = choice != 0;
            });
  add_value(app, "--sizes", "1KiB..1GiB", "Sizes of one array: a range of powers of two or a list",
            [&request](const std::string& text) { request.sizes_bytes = parse_byte_sizes(text); });
  add_cache(app, request.cache);
  add_budget(app, request.budget_s);
}

void add_matmul_options(CLI::App& app, JobOptions& out, StartMatmul& request) {
  add_cpu_devices(app, out.cpu_devices);
  add_json(app, out.json);
  add_value(app, "--devices", "LIST", "Devices, such as cpu:0,cuda:0; all when left out",
            [&request](const std::string& text) { request.devices = parse_devices(text); });
  add_value(app, "--kernels", "all|best|NAME,...", "Rungs of the ladder",
            [&request](const std::string& text) {
              request.kernels.clear();
              if (text != "all") request.kernels = comma_list(text);
            });
  add_value(app, "--sizes", "64..4096", "Square sizes: a range of powers of two or a list",
            [&request](const std::string& text) { request.sizes = parse_counts(text); });
  add_value(app, "--dtype", "f32|bf16|tf32", "What factors are when they are multiplied",
            [&request](const std::string& text) { request.dtype = parse_precision(text); });
  add_cache(app, request.cache);
  add_budget(app, request.budget_s);
  add_value(app, "--seed", "N", "Seed of the random inputs",
            [&request](const std::string& text) { request.seed = seed_number(text); });
}

void check_kernels(const StartMatmul& request) {
  std::vector<std::string> known = matmul_kernel_names();
  known.insert(known.begin(), {"all", "best"});
  for (const std::string& name : request.kernels) {
    if (name == "all") {
      throw Error(Errc::Usage,
                  "--kernels: 'all' cannot be combined with other kernels; give 'all' alone or "
                  "leave it out");
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(Errc::Usage,
                  fmt::format("--kernels: '{}' is no kernel{}", name, way_out(name, known)));
    }
  }
}

}  // namespace lab::app
