#include "compute/kernels/convolution/remembered_choices.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

using Json = nlohmann::json;  // not ordered_json, whose key lookup is linear
namespace fs = std::filesystem;

// Increment when the meaning of keys, the way of measuring or the algorithms' speed changes; older
// choices are then dropped.
constexpr int kVersion = 4;

// Far more than the choices of all convolutions and processors take.
constexpr std::int64_t kLargestFile = 4 << 20;

// Longer than any measurement takes.
constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::milliseconds kLook{5};

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never modified
  return value == nullptr ? "" : value;
}

fs::path default_file() {
  fs::path base = variable("XDG_CACHE_HOME");
  if (!base.is_absolute()) {
    const fs::path home = variable("HOME");
    if (home.empty()) return {};
    base = home / ".cache";
  }
  return base / "device-lab" / "convolutions.json";
}

// Excludes the other processes that lock the same file. If the system has no locks, or another
// process holds one for longer than kPatience, it excludes none.
class ProcessLock {
 public:
  ProcessLock(const fs::path& file, const std::stop_token& stop)
      : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (descriptor_ >= 0 && held_by_another() && !stop.stop_requested() &&
           std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(kLook);
    }
  }
  ~ProcessLock() {
    if (descriptor_ >= 0) ::close(descriptor_);  // also releases the lock
  }
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;

 private:
  bool held_by_another() const {
    return ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR);
  }
  const int descriptor_;
};

}  // namespace

RememberedChoices::RememberedChoices(fs::path file) : file_(std::move(file)) {}

std::string RememberedChoices::choose(const std::string& key,
                                      FunctionRef<bool(const std::string&)> valid,
                                      FunctionRef<std::string()> make,
                                      const std::stop_token& stop) {
  const std::lock_guard alone(mutex_);
  throw_if_cancelled(stop);
  if (auto known = find(key, valid)) return *known;
  std::optional<ProcessLock> lock;
  if (!file_.empty()) {
    std::error_code told_when_written;
    fs::create_directories(file_.parent_path(), told_when_written);
    // A separate lock file, since the file itself is replaced by every write.
    lock.emplace(file_.string() + ".lock", stop);
    throw_if_cancelled(stop);
    if (auto known = find(key, valid)) return *known;
  }
  std::string choice = make();
  made_[key] = choice;
  write(key, choice);
  return choice;
}

std::string RememberedChoices::problem() const {
  const std::lock_guard alone(mutex_);
  return problem_;
}

std::optional<std::string> RememberedChoices::find(const std::string& key,
                                                   FunctionRef<bool(const std::string&)> valid) {
  if (const auto made = made_.find(key); made != made_.end()) return made->second;
  const Choices& choices = read();
  const auto found = choices.find(key);
  if (found == choices.end() || !valid(found->second)) return {};
  return made_[key] = found->second;
}

// Parses the file once, and again only after another process has replaced it.
const RememberedChoices::Choices& RememberedChoices::read() {
  struct stat status {};
  if (file_.empty() || ::stat(file_.c_str(), &status) != 0) {
    read_.clear();
    read_version_.reset();
    return read_;
  }
  const Version version{status.st_ino, status.st_size, status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec};
  if (read_version_ == version) return read_;
  read_ = parse();
  read_version_ = version;
  return read_;
}

RememberedChoices::Choices RememberedChoices::parse() {
  Choices choices;
  Json json;
  std::error_code unknown;
  const std::uintmax_t bytes = fs::file_size(file_, unknown);
  if (!unknown && bytes > kLargestFile) {
    problem_ = trf(
        "convolutions: {} is damaged: it has {}, the limit is {}; the choices are measured again "
        "and the file is replaced",
        file_.string(), format_bytes(static_cast<std::int64_t>(bytes)), format_bytes(kLargestFile));
    return choices;
  }
  try {
    json = Json::parse(files::read_file(file_), nullptr, /*allow_exceptions=*/false);
  } catch (const Error& e) {
    problem_ = trf("convolutions: the choices of earlier runs are ignored: {}", e.what());
    return choices;
  }
  if (!json.is_object() || !json.contains("choices") || !json["choices"].is_object()) {
    problem_ =
        trf("convolutions: {} is damaged; the choices are measured again and the file is replaced",
            file_.string());
    return choices;
  }
  if (json.value("version", Json()) != kVersion) return choices;
  for (const auto& [key, value] : json["choices"].items()) {
    if (value.is_string()) choices[key] = value.get<std::string>();
  }
  return choices;
}

void RememberedChoices::write(const std::string& key, const std::string& choice) {
  if (file_.empty()) return;
  std::error_code unknown;
  const fs::file_status there = fs::status(file_, unknown);
  if (fs::exists(there) && !fs::is_regular_file(there)) return;  // read() has set problem_
  Choices choices = read();
  choices[key] = choice;
  const Json json = {{"version", kVersion}, {"choices", choices}};
  try {
    files::write_file(file_, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const Error& e) {
    problem_ = trf("convolutions: the next run must measure again and may choose differently: {}",
                   e.what());
  }
}

RememberedChoices& convolution_choices() {
  static RememberedChoices choices(default_file());
  return choices;
}

}  // namespace lab
