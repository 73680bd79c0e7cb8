#include "compute/kernels/gemm/amx.h"

#include "compute/core/language.h"
#include "compute/kernels/gemm/bf16_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <numeric>

#define LAB_AMX_TARGET __attribute__((target("amx-tile,amx-bf16")))

namespace lab {
namespace {

constexpr int kTileRegisters = 8;
constexpr int kTileRows = 16;
constexpr int kTileRowBytes = 64;

struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved = {};
  std::array<std::uint16_t, 16> row_bytes = {};
  std::array<std::uint8_t, 16> rows = {};
};
static_assert(sizeof(TileConfig) == 64);

bool processor_has_amx_bf16() {
  constexpr unsigned kAmxBf16 = 1U << 22, kAmxTile = 1U << 24;  // CPUID 7.0, EDX
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (edx & kAmxBf16) != 0 && (edx & kAmxTile) != 0;
}

// Linux grants a process the 8 KiB of tile registers only on request.
bool kernel_grants_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Makes the compiler write the object to memory: GCC's tile intrinsics do not declare that they
// read it.
void publish(const void* object) {
  asm volatile("" : : "r"(object) : "memory");
}

}  // namespace

bool amx_bf16_available() {
  constexpr int kAvx512Lanes = 16;
  if (bf16_kernels().lanes < kAvx512Lanes) return false;  // LAB_SIMD or the caller excludes it
  static const bool granted = processor_has_amx_bf16() && kernel_grants_tiles();
  return granted;
}

// Four independent sums hide the latency: a product can start every 16 cycles and takes 52 to
// complete.
LAB_AMX_TARGET double amx_bf16_loop(std::int64_t iterations, float seed, float* result) {
  TileConfig config;
  for (int t = 0; t < kTileRegisters; ++t) {
    config.row_bytes[t] = kTileRowBytes;
    config.rows[t] = kTileRows;
  }
  // Both terms of a pair of A are equal and those of B opposite, so that each product adds zero.
  alignas(64) std::array<std::uint16_t, kTileRows * 32> a{}, b{};
  alignas(64) std::array<float, kTileRows * 16> sums{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::uint16_t>(0x3F00 + i / 2 % 128);  // 0.5 to 1
    b[i] = i % 2 == 0 ? 0x3F80 : 0xBF80;                      // 1, -1
  }
  sums.fill(2 * seed);
  publish(&config);
  publish(sums.data());
  publish(a.data());
  publish(b.data());
  _tile_loadconfig(&config);
  _tile_loadd(0, sums.data(), kTileRowBytes);
  _tile_loadd(1, sums.data(), kTileRowBytes);
  _tile_loadd(2, sums.data(), kTileRowBytes);
  _tile_loadd(3, sums.data(), kTileRowBytes);
  _tile_loadd(4, a.data(), kTileRowBytes);
  _tile_loadd(5, a.data(), kTileRowBytes);
  _tile_loadd(6, b.data(), kTileRowBytes);
  _tile_loadd(7, b.data(), kTileRowBytes);
  for (std::int64_t i = 0; i < iterations; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  alignas(64) std::array<float, 4 * kTileRows * 16> all{};
  _tile_stored(0, all.data(), kTileRowBytes);
  _tile_stored(1, all.data() + sums.size(), kTileRowBytes);
  _tile_stored(2, all.data() + 2 * sums.size(), kTileRowBytes);
  _tile_stored(3, all.data() + 3 * sums.size(), kTileRowBytes);
  _tile_release();
  publish(all.data());
  *result = std::accumulate(all.begin(), all.end(), 0.0F) / static_cast<float>(all.size());
  constexpr double kFlop = 2.0 * 16 * 16 * 32;
  return 4 * kFlop * static_cast<double>(iterations);
}

}  // namespace lab

#else

namespace lab {

bool amx_bf16_available() {
  return false;
}

double amx_bf16_loop(std::int64_t, float, float*) {
  return 0;
}

}  // namespace lab
#endif

namespace lab {

std::string amx_remark(Device device) {
  if (!amx_bf16_available()) return {};
  return trf(
      "{} has AMX, which sets the bf16 peak and which oneDNN can use; the lab's kernels do not use "
      "it and reach only a small share of that peak",
      to_string(device));
}

}  // namespace lab
