#pragma once
// The GpuTransfers of a fake GPU.
#include "compute/gpu/gpu_transfers.h"

namespace lab::test {

class FakeGpu;

class FakeTransfers final : public GpuTransfers {
 public:
  explicit FakeTransfers(FakeGpu& gpu) : gpu_(gpu) {}

  std::unique_ptr<GpuGate> make_gate() override;
  void copy_by_kernel(std::uint32_t* to, const std::uint32_t* from, std::int64_t words, int sharers,
                      GpuStream& stream) override;
  void fill_pattern(std::uint32_t* to, std::int64_t words, std::uint32_t seed,
                    GpuStream& stream) override;
  void count_mismatches(const std::uint32_t* at, std::int64_t words, std::uint32_t seed,
                        std::uint64_t* count, GpuStream& stream) override;
  void chase(const std::uint32_t* next, std::uint32_t* position, std::int64_t hops,
             GpuStream& stream) override;
  void work(std::int64_t rounds, float* sink, GpuStream& stream) override;
  std::int64_t work_words() const override { return 256; }

 private:
  FakeGpu& gpu_;
};

}  // namespace lab::test
