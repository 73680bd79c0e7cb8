// Compares the lab's GEMM with oneDNN's and OpenBLAS's on the same random matrices. Rounds
// interleave the contenders and, with --peak, a measurement of the processor's peak. Every
// contender's result is verified before timing starts.
//
//     bench_gemm_shapes [--rounds N] [--seconds X] [--statistic NAME] [--bf16] [--peak]
//                       [--peer NAME=COMMAND]... MxNxK...
//
// Prints one JSON object per shape: seconds per call of each contender in each of N rounds, a
// statistic over a slice of about X seconds: median (default), fastest or mean. --bf16 adds the
// lab's GEMM with bf16 operands; --peak adds the peak of each round in GFLOP/s. --peer adds the
// contenders of another process as "NAME.CONTENDER" (gemm_peer.cpp, torch_gemm.py); a contender
// that has no time for a shape is left out there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/experiments/matmul/reference.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/machine/machine.h"
#include "compute/tensor/random.h"
#include "compute/tensor/tensor.h"
#include "tests/bench/call_time.h"
#include "tests/bench/peer_process.h"
#include "tests/support/product_shape.h"

namespace {

using lab::bench::Statistic;
using lab::test::ProductShape;

// Library threads keep spinning for a while after a call and would slow down the next contender.
constexpr std::chrono::milliseconds kSettle{30};
// Rounding both operands to bf16 changes a product by at most 2^-7, relative.
constexpr double kBf16Error = 1.0 / 128;

struct Options {
  int rounds = 5;
  double seconds = 0.1;
  Statistic statistic = Statistic::Median;
  bool bf16 = false;
  bool peak = false;
  std::vector<std::pair<std::string, std::string>> peers;  // name and command
  std::vector<ProductShape> shapes;
};

// Returns false for invalid arguments.
bool parse(std::span<char*> words, Options& options) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--statistic" && i + 1 < words.size()) {
      const std::optional<Statistic> named = lab::bench::statistic_named(words[++i]);
      if (!named) return false;
      options.statistic = *named;
    } else if (word == "--bf16") {
      options.bf16 = true;
    } else if (word == "--peak") {
      options.peak = true;
    } else if (word == "--rounds" && i + 1 < words.size()) {
      options.rounds = std::atoi(words[++i]);
    } else if (word == "--seconds" && i + 1 < words.size()) {
      options.seconds = std::atof(words[++i]);
    } else if (word == "--peer" && i + 1 < words.size()) {
      const std::string_view peer = words[++i];
      const std::size_t equals = peer.find('=');
      if (equals == std::string_view::npos) return false;
      options.peers.emplace_back(peer.substr(0, equals), peer.substr(equals + 1));
    } else {
      options.shapes.push_back(lab::test::parse_product_shape(word));
      if (options.shapes.back().m == 0) return false;
    }
  }
  return !options.shapes.empty() && options.rounds > 0 && options.seconds > 0;
}

struct Contender {
  std::string name;
  bool library = false;
  std::function<void()> multiply;
  std::vector<double> seconds;  // per call, one value per round
};

// Contenders of another process, "NAME.CONTENDER".
struct Peer {
  Peer(std::string title, const std::string& command) : name(std::move(title)), process(command) {}
  std::string name;
  lab::bench::PeerProcess process;
};

// One of them for one shape. `reason` is why it has no time there; empty if it has.
struct PeerTimes {
  Peer* peer;
  std::string contender;
  std::string reason;
  std::vector<double> seconds;
};

class Bench {
 public:
  Bench(const ProductShape& shape, lab::DeviceContext& device)
      : device_(device),
        a_(random(shape.m * shape.k, 1)),
        b_(random(shape.k * shape.n, 2)),
        c_(device, {shape.m * shape.n}, lab::DType::F32, "C"),
        args_{.m = shape.m,
              .n = shape.n,
              .k = shape.k,
              .a = a_.values<float>().data(),
              .lda = shape.k,
              .b = b_.values<float>().data(),
              .ldb = shape.n,
              .c = c_.values<float>().data(),
              .ldc = shape.n},
        reference_(args_, {}) {
    lab::ThreadPool& pool = device_.threads();
    contenders_.push_back({"lab", false, [this, &pool] { lab::gemm(args_, pool); }, {}});
    contenders_.push_back(
        {"onednn", true, [this, &pool] { lab::gemm(args_, pool, lab::Kernels::Library); }, {}});
    contenders_.push_back(
        {"openblas", true, [this, &pool] { lab::openblas_rung().run(args_, pool, {}); }, {}});
    for (const Contender& one : contenders_) verify(one);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void add_bf16() {
    const auto multiply = [this] {
      lab::GemmArgs rounded = args_;
      rounded.products = lab::Precision::BF16;
      lab::gemm(rounded, device_.threads());
    };
    verify_bf16(multiply);
    contenders_.push_back({"lab_bf16", false, multiply, {}});
  }

  void add(Peer& peer) {
    for (const std::string& name : peer.process.contenders()) {
      peer_times_.push_back({&peer, name, {}, {}});
    }
  }

  void time(const Options& options) {
    for (int round = 0; round < options.rounds; ++round) {
      if (options.peak) {
        peaks_.push_back(lab::measure_peak(device_.device(), &device_.threads(),
                                           lab::bench::slice_of(options.seconds))
                             .gflops);
      }
      for (Contender& one : contenders_) {
        one.seconds.push_back(
            lab::bench::seconds_per_call(one.multiply, options.seconds, options.statistic));
        if (one.library) std::this_thread::sleep_for(kSettle);
      }
      for (PeerTimes& one : peer_times_) time(one, options);
    }
  }

  void print() const {
    fmt::print("{{\"m\":{},\"n\":{},\"k\":{},\"threads\":{}", args_.m, args_.n, args_.k,
               device_.threads().size());
    if (!peaks_.empty()) fmt::print(",\"peak_gflops\":[{:.2f}]", fmt::join(peaks_, ","));
    for (const Contender& one : contenders_) {
      fmt::print(",\"{}_s\":[{:.9f}]", one.name, fmt::join(one.seconds, ","));
    }
    for (const PeerTimes& one : peer_times_) {
      if (!one.reason.empty()) continue;
      fmt::print(",\"{}.{}_s\":[{:.9f}]", one.peer->name, one.contender,
                 fmt::join(one.seconds, ","));
    }
    fmt::print("}}\n");
    std::fflush(stdout);
  }

 private:
  void time(PeerTimes& one, const Options& options) const {
    if (!one.reason.empty()) return;
    try {
      one.seconds.push_back(one.peer->process.seconds_per_call(
          one.contender, {args_.m, args_.n, args_.k}, options.seconds, options.statistic));
    } catch (const lab::Error& error) {
      one.reason = error.what();
      fmt::print(stderr, "{}.{} at {}x{}x{}: {}\n", one.peer->name, one.contender, args_.m, args_.n,
                 args_.k, one.reason);
    }
    std::this_thread::sleep_for(kSettle);
  }

  lab::Tensor random(std::int64_t size, std::uint64_t stream) const {
    lab::Tensor tensor(device_, {size}, lab::DType::F32, "operand");
    const std::span<float> values = tensor.values<float>();
    lab::RandomStream{7, stream}.fill_uniform(values);
    for (float& value : values) value = 2 * value - 1;
    return tensor;
  }

  void verify(const Contender& one) {
    lab::MatmulReference::poison(args_);
    one.multiply();
    if (const lab::MatmulCheck check = reference_.check(args_); !check.ok) {
      throw lab::Error(
          lab::Errc::Internal,
          fmt::format("{} at {}x{}x{}: C[{},{}] is {:.3g} error bounds from float64; errors are "
                      "typically {:.3g} times what FP32 explains",
                      one.name, args_.m, args_.n, args_.k, check.row, check.col, check.max_error,
                      check.typical_error));
    }
  }

  // Compares with the lab's FP32 product: the result must differ, by no more than kBf16Error.
  // Throws Error(Errc::Unsupported) if it is identical: the lab has no bf16 kernel here.
  void verify_bf16(const std::function<void()>& multiply) {
    lab::gemm(args_, device_.threads());
    const std::span<const float> c = c_.values<float>();
    const std::vector<float> exact(c.begin(), c.end());
    lab::MatmulReference::poison(args_);
    multiply();
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      difference += std::pow(double{c[i]} - double{exact[i]}, 2);
      size += double{exact[i]} * double{exact[i]};
    }
    const double error = std::sqrt(difference / size);
    if (error == 0) {
      throw lab::Error(
          lab::Errc::Unsupported,
          "gemm with bf16 operands is bit-identical to FP32: no bf16 kernel on this machine");
    }
    if (!(error < kBf16Error)) {
      throw lab::Error(lab::Errc::Internal,
                       fmt::format("gemm with bf16 operands is {:.3g} from FP32, limit {:.3g}",
                                   error, kBf16Error));
    }
  }

  lab::DeviceContext& device_;
  lab::Tensor a_, b_, c_;  // allocated like the lab's own matrices
  const lab::GemmArgs args_;
  const lab::MatmulReference reference_;
  std::vector<Contender> contenders_;
  std::vector<PeerTimes> peer_times_;
  std::vector<double> peaks_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse({argv, static_cast<std::size_t>(argc)}, options)) {
    fmt::print(
        stderr,
        "usage: bench_gemm_shapes [--rounds N] [--seconds X] [--statistic median|fastest|mean] "
        "[--bf16] [--peak] [--peer NAME=COMMAND]... MxNxK...\n");
    return 2;
  }
  try {
    std::vector<std::unique_ptr<Peer>> peers;  // before the calling thread is bound to a core
    for (const auto& [name, command] : options.peers) {
      peers.push_back(std::make_unique<Peer>(name, command));
    }
    lab::Machine machine;
    lab::DeviceContext& device = machine.at(lab::cpu());
    const auto guard = device.threads().bind_caller();
    for (const ProductShape& shape : options.shapes) {
      Bench bench(shape, device);
      if (options.bf16) bench.add_bf16();
      for (const std::unique_ptr<Peer>& peer : peers) bench.add(*peer);
      bench.time(options);
      bench.print();
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_gemm_shapes: {}\n", error.what());
    return 1;
  }
  return 0;
}
