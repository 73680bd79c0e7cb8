#include "compute/train/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab {
// --- bytes ----------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kCastagnoli = 0x82F63B78;  // reflected polynomial

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kCastagnoli : 0);
    table[i] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

template <typename Integer>
void put_fixed(std::string& out, Integer value) {
  for (std::size_t byte = 0; byte < sizeof value; ++byte) {
    out.push_back(static_cast<char>((value >> (8 * byte)) & 0xFF));
  }
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7F) | 0x80));
  out.push_back(static_cast<char>(value));
}

// Wire types of protobuf.
enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

void put_key(std::string& out, std::uint64_t field, Wire wire) {
  put_varint(out, (field << 3) | static_cast<std::uint64_t>(wire));
}

void put_bytes(std::string& out, std::uint64_t field, std::string_view bytes) {
  put_key(out, field, Wire::Bytes);
  put_varint(out, bytes.size());
  out.append(bytes);
}

std::string record(const std::string& message) {
  std::string length, out;
  put_fixed(length, static_cast<std::uint64_t>(message.size()));
  out = length;
  put_fixed(out, masked_crc32c(length));
  out += message;
  put_fixed(out, masked_crc32c(message));
  return out;
}

std::string event_at(double wall_time_s) {
  std::string event;
  put_key(event, 1, Wire::Fixed64);
  put_fixed(event, std::bit_cast<std::uint64_t>(wall_time_s));
  return event;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<std::uint8_t>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U;
}

std::string version_record(double wall_time_s) {
  std::string event = event_at(wall_time_s);
  put_bytes(event, 3, "brain.Event:2");
  return record(event);
}

std::string scalar_record(double wall_time_s, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value;
    put_bytes(value, 1, scalar.tag);
    put_key(value, 2, Wire::Fixed32);
    put_fixed(value, std::bit_cast<std::uint32_t>(static_cast<float>(scalar.value)));
    put_bytes(summary, 1, value);
  }
  std::string event = event_at(wall_time_s);
  put_key(event, 2, Wire::Varint);
  put_varint(event, static_cast<std::uint64_t>(step));
  put_bytes(event, 5, summary);
  return record(event);
}

// --- the file -------------------------------------------------------------------------------

namespace {

double wall_time_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  throw Error(Errc::Io, trf("cannot write the event file {}: {}; free some space or choose another "
                            "--logdir",
                            file.string(), std::generic_category().message(error)));
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& folder) {
  files::make_folder(folder);
  const double now_s = wall_time_s();
  path_ = folder / fmt::format("events.out.tfevents.{:010}.{}.{}", static_cast<std::int64_t>(now_s),
                               host_name(), ::getpid());
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) fail(path_, errno);
  pending_ = version_record(now_s);
}

EventFile::~EventFile() {
  try {
    flush();
  } catch (const Error&) {
    // add() has reported the same reason, or the run ends with its results in memory.
  }
  ::close(file_);
}

void EventFile::add(std::int64_t step, std::span<const Scalar> scalars) {
  constexpr std::chrono::seconds kInterval{1};
  pending_ += scalar_record(wall_time_s(), step, scalars);
  if (Clock::now() - flushed_ >= kInterval) flush();
}

void EventFile::flush() {
  flushed_ = Clock::now();
  std::size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t wrote = ::write(file_, pending_.data() + done, pending_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int error = errno;
      pending_.clear();  // what follows a record that was cut off could not be read
      fail(path_, error);
    }
    done += static_cast<std::size_t>(wrote);
  }
  pending_.clear();
}

}  // namespace lab
