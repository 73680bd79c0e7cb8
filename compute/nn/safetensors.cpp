#include "compute/nn/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "compute/types/error.h"

namespace lab::nn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr int kMaxDepth = 4;  // {"name": {"shape": [...]}} needs three

struct Name {
  const char* file;
  DType dtype;
};
constexpr Name kDTypes[] = {{"F32", DType::F32},
                            {"BF16", DType::BF16},
                            {"I32", DType::I32},
                            {"I64", DType::I64},
                            {"U8", DType::U8}};

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(Errc::Corrupt, "not a valid safetensors file: " + what);
}

// At most 60 characters of a name out of an untrusted file, control characters replaced.
std::string shown(std::string_view name) {
  std::string text(name.substr(0, 60));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return "'" + text + (name.size() > 60 ? "...'" : "'");
}

std::uint64_t header_length(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    corrupt(fmt::format("{} bytes; the header's length alone takes 8", file.size()));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::uint64_t>(file[i]) << (8 * i);
  }
  if (length > kMaxHeaderBytes) {
    corrupt(fmt::format("a header of {} bytes; at most {} are allowed", length, kMaxHeaderBytes));
  }
  if (length > file.size() - kLengthBytes) {
    corrupt(fmt::format("a header of {} bytes in a file of {}", length, file.size()));
  }
  return length;
}

// nlohmann keeps the last of equal keys and nests without end; both are refused while parsing.
Json parse_header(std::span<const std::byte> text) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth) corrupt("the header nests too deeply");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      corrupt("the header names " + shown(value.get<std::string>()) + " twice");
    }
    return true;
  };
  const char* begin = reinterpret_cast<const char*>(text.data());
  if (text.empty() || *begin != '{') corrupt("the header does not begin with '{'");
  try {
    return Json::parse(begin, begin + text.size(), check);
  } catch (const Json::exception& error) {
    corrupt(std::string("the header is not JSON: ") + shown(error.what()));
  }
}

DType parse_file_dtype(const std::string& name, const Json& entry) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string())
    corrupt("tensor " + shown(name) + " has no dtype");
  const std::string text = found->get<std::string>();
  for (const Name& known : kDTypes) {
    if (text == known.file) return known.dtype;
  }
  corrupt(fmt::format("tensor {} has dtype {}; F32, BF16, I32, I64 and U8 can be read", shown(name),
                      shown(text)));
}

std::uint64_t unsigned_number(const std::string& name, const Json& value, const char* what) {
  if (!value.is_number_unsigned()) {
    corrupt(fmt::format("tensor {}: a {} that is not a whole number from 0", shown(name), what));
  }
  return value.get<std::uint64_t>();
}

// Bytes of the tensor; refuses sizes whose product leaves 2^62.
std::uint64_t parse_shape(const std::string& name, const Json& entry, TensorView& tensor) {
  const auto found = entry.find("shape");
  if (found == entry.end() || !found->is_array())
    corrupt("tensor " + shown(name) + " has no shape");
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;
  std::uint64_t bytes = static_cast<std::uint64_t>(size_of(tensor.dtype));
  bool empty = false;
  for (const Json& item : *found) {
    const std::uint64_t size = unsigned_number(name, item, "size");
    if (size > kLimit || (size > 0 && bytes > kLimit / size)) {
      corrupt("tensor " + shown(name) + " has a shape beyond all memory");
    }
    empty = empty || size == 0;
    bytes *= std::max<std::uint64_t>(size, 1);
    tensor.shape.push_back(static_cast<std::int64_t>(size));
  }
  return empty ? 0 : bytes;
}

TensorView parse_entry(const std::string& name, const Json& entry,
                       std::span<const std::byte> data) {
  if (!entry.is_object()) corrupt("the entry " + shown(name) + " is not an object");
  TensorView tensor;
  tensor.name = name;
  tensor.dtype = parse_file_dtype(name, entry);
  const std::uint64_t bytes = parse_shape(name, entry, tensor);
  const auto offsets = entry.find("data_offsets");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2) {
    corrupt("tensor " + shown(name) + " has no data_offsets of two numbers");
  }
  const std::uint64_t begin = unsigned_number(name, (*offsets)[0], "offset");
  const std::uint64_t end = unsigned_number(name, (*offsets)[1], "offset");
  if (begin > end || end > data.size()) {
    corrupt(fmt::format("tensor {} lies at {} to {} of {} bytes of data", shown(name), begin, end,
                        data.size()));
  }
  if (end - begin != bytes) {
    corrupt(fmt::format("tensor {} of shape {} and dtype {} needs {} bytes but has {}", shown(name),
                        to_string(tensor.shape), to_string(tensor.dtype), bytes, end - begin));
  }
  tensor.data = data.subspan(begin, bytes);
  return tensor;
}

// The arrays must follow each other from the first byte of data to the last.
void check_coverage(const std::vector<TensorView>& tensors, std::span<const std::byte> data) {
  std::vector<const TensorView*> sorted;
  sorted.reserve(tensors.size());
  for (const TensorView& tensor : tensors) sorted.push_back(&tensor);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(a->data.data(), a->data.size()) < std::pair(b->data.data(), b->data.size());
  });
  const std::byte* at = data.data();
  for (const TensorView* tensor : sorted) {
    if (tensor->data.data() < at) corrupt("tensor " + shown(tensor->name) + " overlaps another");
    if (tensor->data.data() > at)
      corrupt("there is a hole in front of tensor " + shown(tensor->name));
    at += tensor->data.size();
  }
  const auto rest = data.data() + data.size() - at;
  if (rest != 0) corrupt(fmt::format("{} bytes behind the last tensor belong to none", rest));
}

void check_metadata(const Json& metadata) {
  const bool strings =
      metadata.is_object() && std::all_of(metadata.begin(), metadata.end(),
                                          [](const Json& value) { return value.is_string(); });
  if (!strings) corrupt("__metadata__ must hold strings only");
}

const char* file_dtype(DType dtype) {
  for (const Name& known : kDTypes) {
    if (known.dtype == dtype) return known.file;
  }
  return "F32";
}

}  // namespace

std::vector<TensorView> parse_safetensors(std::span<const std::byte> file) {
  const std::uint64_t length = header_length(file);
  const Json header = parse_header(file.subspan(kLengthBytes, length));
  const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
  std::vector<TensorView> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      check_metadata(entry);
    } else {
      tensors.push_back(parse_entry(name, entry, data));
    }
  }
  check_coverage(tensors, data);
  return tensors;
}

std::vector<std::byte> format_safetensors(std::span<const TensorView> tensors) {
  std::vector<const TensorView*> by_width;
  by_width.reserve(tensors.size());
  for (const TensorView& tensor : tensors) by_width.push_back(&tensor);
  std::stable_sort(by_width.begin(), by_width.end(), [](const auto* a, const auto* b) {
    return size_of(a->dtype) > size_of(b->dtype);
  });
  std::vector<std::size_t> offset(tensors.size());
  std::size_t total = 0;
  for (const TensorView* tensor : by_width) {
    offset[static_cast<std::size_t>(tensor - tensors.data())] = total;
    total += tensor->data.size();
  }
  Json header;
  header["__metadata__"] = {{"format", "pt"}};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& tensor = tensors[i];
    header[tensor.name] = {{"dtype", file_dtype(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset[i], offset[i] + tensor.data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');

  std::vector<std::byte> file(kLengthBytes + text.size() + total);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    file[i] = static_cast<std::byte>(text.size() >> (8 * i) & 0xff);
  }
  std::memcpy(file.data() + kLengthBytes, text.data(), text.size());
  std::byte* data = file.data() + kLengthBytes + text.size();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].data.empty()) continue;
    std::memcpy(data + offset[i], tensors[i].data.data(), tensors[i].data.size());
  }
  return file;
}

}  // namespace lab::nn
