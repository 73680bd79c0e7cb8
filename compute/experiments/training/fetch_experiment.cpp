#include <fmt/format.h>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/data/dataset.h"
#include "compute/data/fashion_mnist.h"
#include "compute/data/fetch.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/run/run_context.h"

namespace lab {
namespace {

class FetchExperiment final : public Experiment {
 public:
  void run(RunContext& ctx) override {
    try {
      fetch(ctx);
    } catch (const Error& e) {
      const bool disk = e.code() == Errc::Io;
      if (!disk && e.code() != Errc::Network && e.code() != Errc::Corrupt) throw;
      ctx.emit(LogLine{Severity::Warning, e.what()});  // which names options of the command line
      throw Error(e.code(),
                  disk ? trf("Fashion-MNIST could not be stored in {}; free some space there, or "
                             "choose synthetic data, which needs no download",
                             default_data_dir().string())
                       : std::string(tr("Fashion-MNIST was not downloaded; check the network, or "
                                        "choose synthetic data, which needs no download")));
    }
  }

 private:
  void fetch(RunContext& ctx) {
    fetch_fashion_mnist(default_data_dir(), default_base_url(), [&](const FetchProgress& p) {
      ctx.checkpoint();
      ctx.progress(done(p), fmt::format("{}, {}", p.file, format_bytes(p.bytes)));
    });
    ctx.emit(LogLine{Severity::Info, trf("Fashion-MNIST is in {}", default_data_dir().string())});
  }

  // The compressed sizes are unknown before, but in proportion to the others.
  static double done(const FetchProgress& p) {
    double before = 0, all = 0, now = 0;
    for (const FashionFile& file : kFashionFiles) {
      const auto bytes = static_cast<double>(file.bytes);
      if (p.file.starts_with(file.name)) {
        before = all;
        now = p.total_bytes > 0
                  ? bytes * static_cast<double>(p.bytes) / static_cast<double>(p.total_bytes)
                  : 0;
      }
      all += bytes;
    }
    return (before + now) / all;
  }
};

}  // namespace

std::unique_ptr<Experiment> make_fetch_experiment() {
  return std::make_unique<FetchExperiment>();
}

}  // namespace lab
