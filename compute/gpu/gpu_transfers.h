#pragma once
// Operations for measuring transfers beyond copies, streams and events. Memory is counted in 4-byte
// words. Addresses are on the GPU, on a peer that it may access, or in pinned memory.
//
// Errors   as in gpu_backend.h
#include <cstddef>
#include <cstdint>
#include <memory>

namespace lab {

class GpuStream;

// A pseudo-random word that depends only on `position` and `seed`.
// Source  the finalizer of MurmurHash3 (A. Appleby), 32 bits
constexpr std::uint32_t pattern_word(std::int64_t position, std::uint32_t seed) {
  std::uint32_t x = static_cast<std::uint32_t>(position) + (seed + 1) * 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

// Blocks a stream until the host opens the gate, so that the work queued meanwhile runs without the
// overhead of queueing. Behind a closed gate, queue only operations that never wait for the GPU (no
// pageable memory), and at most kMaxBehindGate of them, the gate, events and waits included: beyond
// about a thousand the driver itself blocks, and the gate would never open.
class GpuGate {
 public:
  GpuGate() = default;
  virtual ~GpuGate() = default;
  GpuGate(const GpuGate&) = delete;
  GpuGate& operator=(const GpuGate&) = delete;
  // Closes the gate in front of the work queued on `stream` from now on. A new gate is open.
  virtual void close(GpuStream& stream) = 0;
  virtual void open() noexcept = 0;
  // Whether the gate has timed out, after about two seconds, since it was last closed; the
  // measurement is then invalid. Meaningful once the stream has passed the gate.
  virtual bool timed_out() const = 0;
};
inline constexpr int kMaxBehindGate = 512;

// Distance of two nodes of a pointer chase in words: no two nodes share a cache line.
inline constexpr std::int64_t kChaseStride = 32;

class GpuTransfers {
 public:
  GpuTransfers() = default;
  virtual ~GpuTransfers() = default;
  GpuTransfers(const GpuTransfers&) = delete;
  GpuTransfers& operator=(const GpuTransfers&) = delete;

  // The gate must be destroyed before the device.
  virtual std::unique_ptr<GpuGate> make_gate() = 0;

  // All are asynchronous on `stream`. Addresses are multiples of 16 bytes; `words` >= 0.
  // to[i] = from[i], copied by the SMs; the ranges must not overlap. The kernel uses at most
  // 1/`sharers` of the threads that the GPU can hold, so that `sharers` of these kernels can run
  // concurrently; `sharers` > 0.
  virtual void copy_by_kernel(std::uint32_t* to, const std::uint32_t* from, std::int64_t words,
                              int sharers, GpuStream& stream) = 0;
  // to[i] = pattern_word(i, seed)
  virtual void fill_pattern(std::uint32_t* to, std::int64_t words, std::uint32_t seed,
                            GpuStream& stream) = 0;
  // *count += the number of i with at[i] != pattern_word(i, seed)
  virtual void count_mismatches(const std::uint32_t* at, std::int64_t words, std::uint32_t seed,
                                std::uint64_t* count, GpuStream& stream) = 0;
  // One thread: *position = next[*position], `hops` dependent loads. The values of `next` are
  // indices into `next`.
  virtual void chase(const std::uint32_t* next, std::uint32_t* position, std::int64_t hops,
                     GpuStream& stream) = 0;
  // Arithmetic on every SM without memory traffic; the run time is proportional to `rounds`. `sink`
  // holds work_words() words and receives the result.
  virtual void work(std::int64_t rounds, float* sink, GpuStream& stream) = 0;
  virtual std::int64_t work_words() const = 0;
};

}  // namespace lab
