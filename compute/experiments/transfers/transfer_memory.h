#pragma once
// One end of a transfer with a GPU: memory that can be filled and compared.
#include <cstdint>
#include <memory>
#include <stop_token>

#include "compute/core/events/command.h"
#include "compute/machine/machine.h"
#include "compute/tensor/buffer.h"

namespace lab {

// Words of pattern_word() in GPU or host memory. Work on the GPU runs on its main stream and
// completes before the function returns. Once `stop` is requested, fill() and count_mismatches()
// return early with undefined results.
class TransferMemory {
 public:
  // Allocates memory of `owner`. That of a CPU device is of `kind`; `gpu` allocates pinned memory.
  // `bytes` > 0, a multiple of 4. Throws Error(OutOfMemory).
  TransferMemory(DeviceContext& owner, MemoryKind kind, GpuDevice& gpu, std::int64_t bytes,
                 std::stop_token stop);

  std::byte* data() const { return data_; }
  std::uint32_t* words() const { return reinterpret_cast<std::uint32_t*>(data_); }
  std::int64_t bytes() const { return bytes_; }

  void fill(std::uint32_t seed);
  // Fills with a pattern that no transfer produces.
  void poison() { fill(kPoisoned); }
  // Number of words that differ from those that fill(seed) writes.
  std::int64_t count_mismatches(std::uint32_t seed);

 private:
  static constexpr std::uint32_t kPoisoned = 99;  // not the seed of any source

  // Calls body(begin, end) on blocks of the words, on all threads of the CPU device.
  template <typename Body>
  void for_pieces(const Body& body);
  std::int64_t count_on_gpu(std::uint32_t seed);

  DeviceContext& owner_;
  const std::int64_t bytes_;
  const std::stop_token stop_;
  Buffer buffer_;  // unused for pinned memory
  std::unique_ptr<PinnedMemory> pinned_;
  std::byte* data_ = nullptr;
};

}  // namespace lab
