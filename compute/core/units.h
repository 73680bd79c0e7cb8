#pragma once
// Parses and formats sizes, counts and quantities with units. GB = 1e9 bytes, GiB = 2^30 bytes.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;
inline constexpr std::int64_t kGiB = 1024 * kMiB;

// Accepts "4096", "4KiB", "1.5 GiB", "64kB", "2MB". Throws Error(Usage) naming the text.
std::int64_t parse_bytes(std::string_view text);

// Accepts "1KiB..1GiB" (doubling from first to last, both included) or "1 KiB, 3 MiB, ...". Throws
// Error(Usage).
std::vector<std::int64_t> parse_byte_sizes(std::string_view text);

// Accepts positive counts, as "64..4096" (doubling from first to last, both included) or
// "100,200,...". Throws Error(Usage).
std::vector<std::int64_t> parse_counts(std::string_view text);

// Formats three significant digits with an SI prefix and the unit: format_si(4.31e12, "B/s") is
// "4.31 TB/s"; 0 is "0 B/s".
std::string format_si(double value, std::string_view unit);
std::string format_gflops(double gflops);      // "487 GFLOP/s"; 1500: "1.50 TFLOP/s"
std::string format_gb_per_s(double gb_per_s);  // "30.2 GB/s"

// "1.50 GiB", "64.0 KiB", "12 B".
std::string format_bytes(std::int64_t bytes);

// Two sizes with as many digits as it takes to tell them apart: "20.41 GiB" and "20.42 GiB"; if
// four digits are too few, the larger as a sum: "20.0 GiB + 4.00 KiB". Equal texts only for equal
// sizes.
std::array<std::string, 2> format_bytes_apart(std::int64_t a, std::int64_t b);

// Separates thousands where there are five digits or more: "9999", "12,345.5", "-60,000".
std::string group_digits(std::string number);

// "835 ns", "12.2 s", "3 min 20 s".
std::string format_seconds(double seconds);

}  // namespace lab
