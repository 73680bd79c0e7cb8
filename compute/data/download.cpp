#include "compute/data/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) fail(tr("cannot be opened for writing"), errno);
  try {
    take();
  } catch (...) {
    ::close(fd_);
    throw;
  }
  ::lseek(fd_, 0, SEEK_END);
}

void PartFile::take() {
  struct stat opened {
  }, named{};
  if (::fstat(fd_, &opened) != 0) fail(tr("cannot be opened for writing"), errno);
  // A device has no content that concurrent writers could mix up.
  if (S_ISREG(opened.st_mode)) {
    const bool locked = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) fail(tr("cannot be locked"), errno);
    // Before the lock was taken, another download may have appended to the file or renamed it.
    const bool ours = locked && ::fstat(fd_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                      opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
    if (!ours) {
      throw Error(Errc::Io, trf("{} is being written by another download; wait for it to finish",
                                path_.string()));
    }
  }
  size_ = opened.st_size;
}

PartFile::~PartFile() {
  ::close(fd_);
}

void PartFile::fail(const std::string& what, int reason) const {
  const char* way_out = reason == ENOSPC || reason == EDQUOT
                            ? tr("free some space or choose another directory with --dir")
                            : tr("choose a directory you may write to with --dir");
  throw Error(Errc::Io, trf("{}: {}: {}; {}", path_.string(), what,
                            std::generic_category().message(reason), way_out));
}

void PartFile::append(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(tr("cannot be written"), errno);
    size_ += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void PartFile::truncate() {
  if (::ftruncate(fd_, 0) != 0) fail(tr("cannot be emptied"), errno);
  ::lseek(fd_, 0, SEEK_SET);
  size_ = 0;
}

void PartFile::finish(const std::filesystem::path& final_path) {
  if (::fsync(fd_) != 0) fail(tr("cannot be written"), errno);
  if (::rename(path_.c_str(), final_path.c_str()) != 0) {
    const int reason = errno;
    fail(trf("cannot be renamed to {}", final_path.string()), reason);
  }
  files::sync_folder_of(final_path);
}

namespace {

constexpr const char* kWayOut = LAB_TEXT(
    "check the network, name another source with --url, or use --data synthetic, which needs no "
    "download");
constexpr long kRangeNotSatisfiable = 416;

// One request. Exceptions must not propagate through libcurl's C code: callbacks store them and
// perform() rethrows them.
class Transfer {
 public:
  Transfer(const std::string& url, PartFile& part, const DownloadOptions& options,
           const std::function<void(std::int64_t, std::int64_t)>& progress)
      : part_(part),
        options_(options),
        progress_(progress),
        start_(part.size()),
        curl_(curl_easy_init(), curl_easy_cleanup) {
    if (!curl_) throw Error(Errc::Internal, tr("libcurl initialization failed"));
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, options.connect_timeout_s);
    set(CURLOPT_LOW_SPEED_LIMIT, 1000L);
    set(CURLOPT_LOW_SPEED_TIME, options.stall_timeout_s);
    set(CURLOPT_USERAGENT, "device-lab");
    set(CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(start_));
    set(CURLOPT_ERRORBUFFER, message_.data());
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_data);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
    set(CURLOPT_XFERINFODATA, this);
    restrict_protocols();
  }

  CURLcode perform() {
    const CURLcode code = curl_easy_perform(curl_.get());
    if (thrown_) std::rethrow_exception(thrown_);
    return code;
  }

  long http_status() const {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

  std::string reason(CURLcode code) const {
    return message_[0] != '\0' ? message_.data() : curl_easy_strerror(code);
  }

 private:
  template <typename Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl_.get(), option, value) != CURLE_OK) {
      throw Error(Errc::Internal, tr("libcurl rejected an option"));
    }
  }

  void restrict_protocols() {
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https,file");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE});
    set(CURLOPT_REDIR_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
  }

  static std::size_t on_data(char* data, std::size_t, std::size_t size, void* self_pointer) {
    auto& self = *static_cast<Transfer*>(self_pointer);
    try {
      if (self.part_.size() + static_cast<std::int64_t>(size) > self.options_.max_bytes) {
        throw Error(Errc::Network, trf("the server sends more than {}, so this is not the "
                                       "requested file; name another source with --url",
                                       format_bytes(self.options_.max_bytes)));
      }
      self.part_.append({data, size});
    } catch (...) {
      self.thrown_ = std::current_exception();
      return 0;  // any value other than `size` makes libcurl stop
    }
    return size;
  }

  static int on_progress(void* self_pointer, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
    auto& self = *static_cast<Transfer*>(self_pointer);
    try {
      if (self.progress_) self.progress_(self.part_.size(), total > 0 ? self.start_ + total : 0);
    } catch (...) {
      self.thrown_ = std::current_exception();
      return 1;
    }
    return 0;
  }

  PartFile& part_;
  const DownloadOptions& options_;
  const std::function<void(std::int64_t, std::int64_t)>& progress_;
  const std::int64_t start_;
  std::exception_ptr thrown_;
  std::array<char, CURL_ERROR_SIZE> message_{};
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
};

}  // namespace

void download(const std::string& url, PartFile& part, const DownloadOptions& options,
              const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const bool resumed = part.size() > 0;
  Transfer transfer(url, part, options, progress);
  const CURLcode code = transfer.perform();
  if (code == CURLE_OK) return;
  const long status = transfer.http_status();
  // Nothing is left to download: the part is complete, or longer than the file and therefore wrong.
  if (resumed && status == kRangeNotSatisfiable) return;
  if (resumed && (code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME)) {
    part.truncate();
    download(url, part, options, progress);
    return;
  }
  if (code == CURLE_HTTP_RETURNED_ERROR) {
    throw Error(Errc::Network, trf("{}: the server returned {}; {}", url, status, tr(kWayOut)));
  }
  if (part.size() == 0) {
    throw Error(Errc::Network, fmt::format("{}: {}; {}", url, transfer.reason(code), tr(kWayOut)));
  }
  throw Error(Errc::Network, trf("{}: {} ({} kept; the next fetch resumes from there); {}", url,
                                 transfer.reason(code), format_bytes(part.size()), tr(kWayOut)));
}

}  // namespace lab
