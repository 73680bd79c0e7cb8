#pragma once
// Copies between the host and a GPU, on a GPU, and between two GPUs.
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/experiments/transfers/gpu_case.h"
#include "compute/experiments/transfers/transfer_memory.h"
#include "compute/measure/gated_clock.h"

namespace lab {

// The GPU that does the work of a series: of two, the one that writes or reads.
Device working_gpu(const TransferSeries& series);

// Direct access of the GPUs that work on a series to each other's memory, while it lives: of both
// where the copies go both ways, since each direction has a GPU of its own. None where the series
// asks for none.
class PeerGuard {
 public:
  PeerGuard(Machine& machine, const TransferSeries& series);

 private:
  class Access {
   public:
    // From `worker` to the memory of `other`.
    Access(GpuDevice& worker, GpuDevice& other);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    GpuDevice& worker_;
    GpuDevice& other_;
  };
  std::optional<Access> there_, back_;
};

class GpuCopyCase final : public GpuCase {
 public:
  GpuCopyCase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
              std::stop_token stop);
  double operate(int times) override;
  void spoil() override;
  std::string check() override;
  bool gated() const override;

 private:
  // One direction.
  struct Way {
    GpuDevice* worker;
    GpuDevice* from;  // null: the host
    GpuDevice* to;
    TransferMemory source, result;
    std::uint32_t seed;
  };
  void run_ungated();
  void queue_copies(Way& way, int times, GpuStream& stream);
  void queue_copy(Way& way, std::int64_t begin, std::int64_t bytes, GpuStream& stream);

  const TransferSeries series_;
  const std::int64_t bytes_;
  const std::stop_token stop_;
  const std::vector<GpuDevice*> workers_;  // of each direction
  const int kernels_at_once_;              // on one GPU
  std::vector<Way> ways_;
  const PeerGuard access_;
  GatedClock clock_;  // last: its end waits for what uses the memory
};

}  // namespace lab
