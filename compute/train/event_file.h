#pragma once
// TensorBoard event files, written without TensorFlow: TFRecords that hold protobuf Event messages.
//
//   record   u64 length, u32 masked crc32c of it, message, u32 masked crc32c of it; little-endian
//   message  Event { double wall_time = 1; int64 step = 2; string file_version = 3;
//                    Summary summary = 5; }
//   Summary  { repeated Value value = 1; }   Value { string tag = 1; float simple_value = 2; }
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lab {

struct Scalar {
  std::string_view tag;  // "loss/train"; the part before the slash is its group
  double value = 0;
};

// The Castagnoli checksum, and TFRecord's form of it.
std::uint32_t crc32c(std::string_view bytes);
std::uint32_t masked_crc32c(std::string_view bytes);

// Returns the record of the first event of a file, and of an event with one value per tag.
std::string version_record(double wall_time_s);
std::string scalar_record(double wall_time_s, std::int64_t step, std::span<const Scalar> scalars);

// One file of one run, for one thread. Flushed about once per second, so that a reader can follow,
// and when destroyed, then without reporting errors.
class EventFile {
 public:
  // Creates the folder and in it events.out.tfevents.SECONDS.HOST.PID. Throws Error(Io).
  explicit EventFile(const std::filesystem::path& folder);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // Throws Error(Io) with the file, the reason and the fix.
  void add(std::int64_t step, std::span<const Scalar> scalars);
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::filesystem::path path_;
  int file_ = -1;
  std::string pending_;
  Clock::time_point flushed_ = Clock::now();
};

}  // namespace lab
