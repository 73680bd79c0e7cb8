#pragma once
// What measuring transfers asks of a GPU beyond copies, streams and events. Memory is counted in
// words of four bytes; addresses are on the GPU, on a peer that it may access, or in pinned
// memory.
//
// Errors   as in gpu_backend.h
#include <cstddef>
#include <cstdint>
#include <memory>

namespace lab {

class GpuStream;

// A random word, a function of its position alone.
// Source  the finalizer of MurmurHash3 (A. Appleby), 32 bits
constexpr std::uint32_t pattern_word(std::int64_t position, std::uint32_t seed) {
  std::uint32_t x = static_cast<std::uint32_t>(position) + (seed + 1) * 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

// Holds a stream back until the host opens it, so that all that is queued meanwhile runs without
// the time that queueing takes. Behind a closed gate only what never waits for the GPU may be
// queued (no pageable memory), and at most kMostBehindGate operations: beyond about a thousand the
// driver itself waits.
class GpuGate {
 public:
  GpuGate() = default;
  virtual ~GpuGate() = default;
  GpuGate(const GpuGate&) = delete;
  GpuGate& operator=(const GpuGate&) = delete;
  // Closes the gate in front of what is queued on `stream` from now on. It is open before.
  virtual void close(GpuStream& stream) = 0;
  virtual void open() noexcept = 0;
  // Whether the gate gave up waiting, after about two seconds, since it was last closed; what was
  // measured then means nothing. Once the stream has passed it.
  virtual bool gave_up() const = 0;
};
inline constexpr int kMostBehindGate = 512;

// Words between two nodes of a chase: no two share a cache line.
inline constexpr std::int64_t kChaseStride = 32;

class GpuTransfers {
 public:
  GpuTransfers() = default;
  virtual ~GpuTransfers() = default;
  GpuTransfers(const GpuTransfers&) = delete;
  GpuTransfers& operator=(const GpuTransfers&) = delete;

  // Must end before the device.
  virtual std::unique_ptr<GpuGate> make_gate() = 0;

  // All asynchronous on `stream`; addresses are multiples of 16, `words` is not negative.
  // to[i] = from[i], by the GPU's multiprocessors; no overlap. The kernel has at most one in
  // `sharers` of the threads that the GPU holds, so that as many of them run at once; `sharers` is
  // positive.
  virtual void copy_by_kernel(std::uint32_t* to, const std::uint32_t* from, std::int64_t words,
                              int sharers, GpuStream& stream) = 0;
  // to[i] = pattern_word(i, seed)
  virtual void fill_pattern(std::uint32_t* to, std::int64_t words, std::uint32_t seed,
                            GpuStream& stream) = 0;
  // *count += the number of i with at[i] != pattern_word(i, seed)
  virtual void count_mismatches(const std::uint32_t* at, std::int64_t words, std::uint32_t seed,
                                std::uint64_t* count, GpuStream& stream) = 0;
  // One thread: *position = next[*position], `hops` times, each after the other. The values of
  // `next` are its own indices.
  virtual void chase(const std::uint32_t* next, std::uint32_t* position, std::int64_t hops,
                     GpuStream& stream) = 0;
  // Arithmetic on every multiprocessor for a time in proportion to `rounds`, without memory
  // traffic. `sink` holds work_words() words and receives the result.
  virtual void work(std::int64_t rounds, float* sink, GpuStream& stream) = 0;
  virtual std::int64_t work_words() const = 0;
};

}  // namespace lab
