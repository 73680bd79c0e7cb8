#include "compute/data/fetch.h"

#include <system_error>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/data/download.h"
#include "compute/data/fashion_mnist.h"
#include "compute/data/gzip.h"
#include "compute/data/idx.h"
#include "compute/data/sha256.h"

namespace lab {
namespace fs = std::filesystem;
namespace {

constexpr const char* kOk = "ok";

// Returns "ok" or the fault in the file's content.
std::string state_of(const fs::path& path, const FashionFile& file) {
  try {
    std::vector<std::uint8_t> bytes = read_idx_bytes(path);
    // One byte more than expected suffices to detect excess data.
    if (is_gzip(bytes)) bytes = gunzip(bytes, file.bytes + 1, path.string());
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (size != file.bytes) {
      return size > file.bytes ? trf("wrong: it holds at least {} bytes, not {}", size, file.bytes)
                               : trf("wrong: it holds {} bytes, not {}", size, file.bytes);
    }
    const std::string hash = sha256_hex(bytes);
    if (hash == file.sha256_hex) return kOk;
    return trf("wrong: its content has sha256 {}, not {}", hash, file.sha256_hex);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string join_url(const std::string& base, const std::string& name) {
  return base + (base.empty() || base.back() == '/' ? "" : "/") + name;
}

void create_dir(const fs::path& dir) {
  std::error_code failed;
  fs::create_directories(dir, failed);
  if (failed) {
    throw Error(Errc::Io, trf("{} cannot be created: {}; choose another directory with "
                              "--dir",
                              dir.string(), failed.message()));
  }
}

void fetch_file(const fs::path& dir, const std::string& base_url, const FashionFile& file,
                const std::function<void(const FetchProgress&)>& progress) {
  const std::string name = std::string(file.name) + ".gz";
  const std::string url = join_url(base_url, name);
  const auto report = [&](std::int64_t bytes, std::int64_t total) {
    if (progress) progress({name, bytes, total});
  };
  PartFile part(dir / (name + ".part"));
  // A part left by an earlier fetch may come from another source: if it is wrong, start over once.
  for (bool resumed = part.size() > 0;; resumed = false) {
    download(url, part, {.max_bytes = file.bytes + 4096}, report);
    const std::string state = state_of(part.path(), file);
    if (state == kOk) break;
    part.truncate();
    if (!resumed) {
      throw Error(Errc::Corrupt, trf("{} is not Fashion-MNIST's {} and was not kept ({}); "
                                     "name another source with --url",
                                     url, file.name, state));
    }
  }
  part.finish(dir / name);
  report(part.size(), part.size());
}

}  // namespace

std::string default_base_url() {
  return "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/";
}

void fetch_fashion_mnist(const fs::path& dir, const std::string& base_url,
                         const std::function<void(const FetchProgress&)>& progress) {
  create_dir(dir);
  for (const FashionFile& file : kFashionFiles) {
    const auto there = find_data_file(dir, file.name);
    if (there && state_of(*there, file) == kOk) {
      std::error_code unreadable;
      const auto size = static_cast<std::int64_t>(fs::file_size(*there, unreadable));
      if (progress) progress({there->filename().string(), size, size});
      continue;
    }
    fetch_file(dir, base_url, file, progress);
  }
}

VerifyReport verify_fashion_mnist(const fs::path& dir) {
  VerifyReport report;
  report.all_ok = true;
  for (const FashionFile& file : kFashionFiles) {
    const auto path = find_data_file(dir, file.name);
    const std::string state =
        path ? state_of(*path, file) : tr("missing; run `device-lab data fetch`");
    report.all_ok = report.all_ok && state == kOk;
    report.files.emplace_back(path ? path->filename().string() : file.name, state);
  }
  return report;
}

}  // namespace lab
