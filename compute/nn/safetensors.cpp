#include "compute/nn/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"

namespace lab::nn {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
// The format allows 100 MB; the largest models need a few MB.
constexpr std::uint64_t kMaxHeaderBytes = 16 << 20;
constexpr std::size_t kMaxTensors = 100'000;
constexpr std::size_t kMaxDepth = 4;  // {"name": {"shape": [...]}} needs three
constexpr std::size_t kMaxDimensions = 64;

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
  throw Error(Errc::Corrupt, trf("not a valid safetensors file: {}", what));
}

// Quotes a name from an untrusted file.
std::string shown(std::string_view name) {
  return "'" + printable(name) + "'";
}

std::uint64_t header_length(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    corrupt(trf("{} bytes; the header length takes 8", file.size()));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::uint64_t>(file[i]) << (8 * i);
  }
  if (length > kMaxHeaderBytes) {
    corrupt(trf("a header of {} bytes; at most {} are allowed", length, kMaxHeaderBytes));
  }
  if (length > file.size() - kLengthBytes) {
    corrupt(trf("a header of {} bytes in a file of {}", length, file.size()));
  }
  return length;
}

// The header's entry for one name, before it is checked.
struct HeaderEntry {
  // Items of a list; empty for an item that is not a non-negative integer.
  using Numbers = std::vector<std::optional<std::uint64_t>>;

  std::string name;
  bool object = false;
  std::optional<std::string> dtype;
  std::optional<Numbers> shape, offsets;
};

// Reads a header in one pass, in time that grows with its length only. The library's DOM parser
// would search all keys for each key, or all values at the end of each value. Duplicate keys, deep
// nesting and excess entries are rejected during parsing.
class HeaderReader final : public Json::json_sax_t {
 public:
  std::vector<HeaderEntry> take_entries() {
    if (bad_metadata_) corrupt(tr("__metadata__ must contain strings only"));
    return std::move(entries_);
  }

  bool null() override { return other_value(); }
  bool boolean(bool) override { return other_value(); }
  bool number_integer(number_integer_t) override { return other_value(); }
  bool number_float(number_float_t, const string_t&) override { return other_value(); }
  bool binary(binary_t&) override { return other_value(); }

  bool number_unsigned(number_unsigned_t number) override {
    if (list_ == nullptr || !in_list()) return other_value();
    add(number);
    return true;
  }

  bool string(string_t& text) override {
    if (metadata_ && depth() == 2) return true;
    if (metadata_ || depth() != 2 || field_ != "dtype") return other_value();
    entries_.back().dtype = std::move(text);
    return true;
  }

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      corrupt(trf("the header contains {} twice", shown(name)));
    }
    if (depth() == 1) begin_entry(name);
    if (depth() == 2) field_ = name;
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth() == 1 && !metadata_) entries_.back().object = true;
    if (depth() > 1) other_value();
    return open();
  }

  bool start_array(std::size_t) override {
    const bool of_entry = depth() == 2 && !metadata_ && entries_.back().object;
    if (of_entry && field_ == "shape") list_ = &entries_.back().shape.emplace();
    if (of_entry && field_ == "data_offsets") list_ = &entries_.back().offsets.emplace();
    if (list_ == nullptr || !of_entry) other_value();
    return open();
  }

  bool end_object() override { return close(); }
  bool end_array() override {
    if (in_list()) list_ = nullptr;
    return close();
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    corrupt(trf("the header is not JSON: {}", shown(error.what())));
  }

 private:
  std::size_t depth() const { return keys_.size(); }  // of the object or list being read
  bool in_list() const { return depth() == 3; }       // inside list_, if there is one

  bool open() {
    if (depth() == kMaxDepth) corrupt(tr("the header is nested too deeply"));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    keys_.pop_back();
    return true;
  }

  void begin_entry(const std::string& name) {
    metadata_ = name == "__metadata__";
    if (metadata_) return;
    if (entries_.size() == kMaxTensors) {
      corrupt(trf("more than {} tensors in the header", kMaxTensors));
    }
    entries_.emplace_back().name = name;
  }

  // Stores one item more than allowed, which marks the list as too long.
  void add(std::optional<std::uint64_t> number) {
    if (list_->size() <= kMaxDimensions) list_->push_back(number);
  }

  // Handles a value of an unexpected type; the missing field is reported later.
  bool other_value() {
    if (metadata_) bad_metadata_ = true;
    if (list_ != nullptr && in_list()) add({});
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // keys seen in each open object
  std::vector<HeaderEntry> entries_;
  std::string field_;                     // of the entry being read
  HeaderEntry::Numbers* list_ = nullptr;  // the list being read
  bool metadata_ = false;                 // inside __metadata__ instead of an entry
  bool bad_metadata_ = false;
};

std::vector<HeaderEntry> parse_header(std::span<const std::byte> text) {
  const char* begin = reinterpret_cast<const char*>(text.data());
  if (text.empty() || *begin != '{') corrupt(tr("the header does not begin with '{'"));
  HeaderReader reader;
  Json::sax_parse(begin, begin + text.size(), &reader);
  return reader.take_entries();
}

DType parse_file_dtype(const HeaderEntry& entry) {
  if (!entry.dtype) corrupt(trf("tensor {} has no dtype", shown(entry.name)));
  for (const Name& known : kDTypes) {
    if (*entry.dtype == known.file) return known.dtype;
  }
  corrupt(trf("tensor {} has dtype {}; supported are F32, BF16, I32, I64 and U8", shown(entry.name),
              shown(*entry.dtype)));
}

std::uint64_t whole_number(const HeaderEntry& entry, std::optional<std::uint64_t> value,
                           const char* what) {
  if (!value) {
    corrupt(trf("tensor {}: {} is not a non-negative integer", shown(entry.name), what));
  }
  return *value;
}

// Returns the tensor's size in bytes; rejects shapes beyond 2^62 bytes.
std::uint64_t parse_shape(const HeaderEntry& entry, TensorView& tensor) {
  if (!entry.shape) corrupt(trf("tensor {} has no shape", shown(entry.name)));
  if (entry.shape->size() > kMaxDimensions) {
    corrupt(trf("tensor {} has more than {} dimensions", shown(entry.name), kMaxDimensions));
  }
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;
  std::uint64_t bytes = static_cast<std::uint64_t>(size_of(tensor.dtype));
  bool empty = false;
  for (const std::optional<std::uint64_t>& item : *entry.shape) {
    const std::uint64_t size = whole_number(entry, item, tr("size"));
    if (size > kLimit || (size > 0 && bytes > kLimit / size)) {
      corrupt(trf("tensor {} has a shape of more than 2^62 bytes", shown(entry.name)));
    }
    empty = empty || size == 0;
    bytes *= std::max<std::uint64_t>(size, 1);
    tensor.shape.push_back(static_cast<std::int64_t>(size));
  }
  return empty ? 0 : bytes;
}

TensorView parse_entry(HeaderEntry& entry, std::span<const std::byte> data) {
  if (!entry.object) corrupt(trf("the entry {} is not an object", shown(entry.name)));
  TensorView tensor;
  tensor.dtype = parse_file_dtype(entry);
  const std::uint64_t bytes = parse_shape(entry, tensor);
  if (!entry.offsets || entry.offsets->size() != 2) {
    corrupt(trf("tensor {} needs data_offsets with two numbers", shown(entry.name)));
  }
  const std::uint64_t begin = whole_number(entry, (*entry.offsets)[0], tr("offset"));
  const std::uint64_t end = whole_number(entry, (*entry.offsets)[1], tr("offset"));
  if (begin > end || end > data.size()) {
    corrupt(trf("tensor {} has data_offsets {} to {} of {} bytes", shown(entry.name), begin, end,
                data.size()));
  }
  if (end - begin != bytes) {
    corrupt(trf("tensor {} of shape {} and dtype {} needs {} bytes but has {}", shown(entry.name),
                to_string(tensor.shape), to_string(tensor.dtype), bytes, end - begin));
  }
  tensor.name = std::move(entry.name);
  tensor.data = data.subspan(begin, bytes);
  return tensor;
}

// The arrays must cover the data contiguously, from the first byte to the last.
void check_coverage(const std::vector<TensorView>& tensors, std::span<const std::byte> data) {
  std::vector<const TensorView*> sorted;
  sorted.reserve(tensors.size());
  for (const TensorView& tensor : tensors) sorted.push_back(&tensor);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(a->data.data(), a->data.size()) < std::pair(b->data.data(), b->data.size());
  });
  const std::byte* at = data.data();
  for (const TensorView* tensor : sorted) {
    if (tensor->data.data() < at) corrupt(trf("tensor {} overlaps another", shown(tensor->name)));
    if (tensor->data.data() > at) {
      corrupt(trf("there is a gap before tensor {}", shown(tensor->name)));
    }
    at += tensor->data.size();
  }
  const auto rest = data.data() + data.size() - at;
  if (rest != 0) corrupt(trf("{} bytes after the last tensor belong to no tensor", rest));
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
  std::vector<HeaderEntry> header = parse_header(file.subspan(kLengthBytes, length));
  const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
  std::vector<TensorView> tensors;
  tensors.reserve(header.size());
  for (HeaderEntry& entry : header) tensors.push_back(parse_entry(entry, data));
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
  nlohmann::ordered_json header;
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
