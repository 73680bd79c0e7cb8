#pragma once
// The operations of STREAM on arrays of doubles, in SIMD dispatched at run time.
//   bytes moved per element of 8 bytes: read 8, write 8, copy 16, triad 24
// Arrays need only the alignment of a double and must not overlap. n >= 0.
// Streaming stores bypass the caches. A cached store first reads the line it overwrites, so writing
// past the caches costs one transfer more than STREAM counts. Streaming stores therefore pay off
// once the arrays exceed the last-level cache, and lose below that.
// Source  J. D. McCalpin, "STREAM: Sustainable Memory Bandwidth in High Performance Computers"
#include <cstdint>

namespace lab {

enum class Stores { Cached, Streaming };

struct StreamKernels {
  // Sum of all bit patterns modulo 2^64: exact in any order, and dependent on every value, so that
  // no load can be optimised away.
  std::uint64_t (*read)(const double* a, std::int64_t n);
  // a[i] = value
  void (*write)(double* a, double value, std::int64_t n, Stores stores);
  // to[i] = from[i], bit for bit
  void (*copy)(double* to, const double* from, std::int64_t n, Stores stores);
  // a[i] = b[i] + q * c[i]; may be fused
  void (*triad)(double* a, const double* b, const double* c, double q, std::int64_t n,
                Stores stores);
};

const StreamKernels& stream_kernels();

}  // namespace lab
