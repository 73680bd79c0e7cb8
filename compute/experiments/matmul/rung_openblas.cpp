// C = A*B, FP32, by OpenBLAS: cblas_sgemm with one thread per thread of the device.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Limits   sizes and leading dimensions below 2^31; OpenBLAS owns its threads, which run on any
// core
//          of the process
// Numerics FP32; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Errors   Unsupported if OpenBLAS cannot be opened or a size does not fit its interface
#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/maybe.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/gpu/dynamic_library.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/machine/cpu_topology.h"

namespace lab {
namespace {

struct OpenBlas {
  decltype(&cblas_sgemm) sgemm;
  decltype(&openblas_get_num_threads) get_num_threads;
  decltype(&openblas_set_num_threads) set_num_threads;
  decltype(&openblas_get_corename) get_corename;  // null in versions without it
};

// Why the address space has no room for OpenBLAS's buffers, 128 MiB per thread; empty if it has.
// Without them, OpenBLAS retries forever.
std::string address_space_too_small() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t bytes = (std::size_t{256} << 20) + threads * (std::size_t{136} << 20);
  void* const room =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    ::munmap(room, bytes);
    return {};
  }
  return trf(
      "the address space is limited to {} (ulimit -v), and less than the {} that OpenBLAS needs "
      "are free; raise the limit",
      format_bytes(static_cast<std::int64_t>(limit.rlim_cur)),
      format_bytes(static_cast<std::int64_t>(bytes)));
}

Maybe<OpenBlas> open_openblas() {
  using Found = Maybe<OpenBlas>;
  if (std::string reason = address_space_too_small(); !reason.empty()) {
    return Found::missing(std::move(reason));
  }
  const auto library =
      DynamicLibrary::open({"libopenblas.so.0", LAB_OPENBLAS_LIBDIR "/libopenblas.so.0"});
  if (!library) {
    return Found::missing(
        trf("OpenBLAS cannot be opened: {}; install libopenblas0-pthread", library.reason()));
  }
  const OpenBlas found{
      library->function<decltype(OpenBlas::sgemm)>("cblas_sgemm"),
      library->function<decltype(OpenBlas::get_num_threads)>("openblas_get_num_threads"),
      library->function<decltype(OpenBlas::set_num_threads)>("openblas_set_num_threads"),
      library->function<decltype(OpenBlas::get_corename)>("openblas_get_corename")};
  if (found.sgemm == nullptr || found.get_num_threads == nullptr ||
      found.set_num_threads == nullptr) {
    return Found::missing(
        tr("libopenblas.so.0 lacks the functions of OpenBLAS; install libopenblas0-pthread"));
  }
  return found;
}

// Until its end, the calling thread, which is pinned to one core, may run on all cores of the
// process. Threads that OpenBLAS starts meanwhile inherit that; they serve all devices.
class OnAllCores {
 public:
  explicit OnAllCores(const ThreadPool& pool) : before_(thread_affinity()) {
    std::vector<int> all = process_affinity();
    all.insert(all.end(), pool.cores().begin(), pool.cores().end());
    widened_ = set_thread_affinity(all);
  }
  ~OnAllCores() {
    if (widened_) set_thread_affinity(before_);
  }
  OnAllCores(const OnAllCores&) = delete;
  OnAllCores& operator=(const OnAllCores&) = delete;

 private:
  const std::vector<int> before_;
  bool widened_ = false;
};

// OpenBLAS is opened at its first product rather than linked, because it starts its threads as it
// loads.
const Maybe<OpenBlas>& opened_openblas(const ThreadPool& pool) {
  static const Maybe<OpenBlas> opened = [&] {
    const OnAllCores widened(pool);
    return open_openblas();
  }();
  return opened;
}

std::string core_name(const ThreadPool& pool) {
  const Maybe<OpenBlas>& opened = opened_openblas(pool);
  return opened && opened->get_corename != nullptr ? opened->get_corename() : "";
}

// OpenBLAS with as many threads as `pool`. Throws Error(Unsupported).
const OpenBlas& openblas_for(const ThreadPool& pool) {
  const Maybe<OpenBlas>& opened = opened_openblas(pool);
  if (!opened) throw Error(Errc::Unsupported, opened.reason());
  if (opened->get_num_threads() != pool.size()) {
    const OnAllCores widened(pool);
    opened->set_num_threads(pool.size());
  }
  return *opened;
}

void openblas_gemm(const GemmArgs& g, ThreadPool* pool) {
  if (finish_if_empty(g)) return;
  const std::int64_t largest = std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc});
  if (largest > std::numeric_limits<blasint>::max()) {
    throw Error(Errc::Unsupported,
                trf("OpenBLAS: a size of {} does not fit its 32-bit interface", largest));
  }
  const auto narrow = [](std::int64_t x) { return static_cast<blasint>(x); };
  openblas_for(*pool).sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, narrow(g.m), narrow(g.n),
                            narrow(g.k), 1.0F, g.a, narrow(g.lda), g.b, narrow(g.ldb), 0.0F, g.c,
                            narrow(g.ldc));
}

}  // namespace

Rung openblas_rung() {
  return {"openblas",
          "OpenBLAS",
          LAB_TEXT("The BLAS that most Linux programs use, with kernels in assembly: what a "
                   "program gets without tuning. A version older than the processor uses kernels "
                   "for an earlier one, far below its peak."),
          true,
          &in_row_blocks<&openblas_gemm, GemmArgs>,
          nullptr,
          "",
          &core_name};
}

}  // namespace lab
