#include "compute/core/events/tensor_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "compute/core/dtype.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"

namespace lab {
namespace {

constexpr int kMaxDimensions = 8;

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads a statement from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(trf("expected '{}'", c));
  }

  // Takes a name if one starts here.
  std::optional<std::string> take_name() {
    skip_space();
    if (at_ == text_.size() || !is_name_start(text_[at_])) return std::nullopt;
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string name(const char* otherwise) {
    auto found = take_name();
    if (!found) fail(otherwise);
    return *found;
  }

  template <typename Number>
  Number number(const char* otherwise) {
    skip_space();
    Number value{};
    const char* const begin = text_.data() + at_;
    const auto parsed = std::from_chars(begin, text_.data() + text_.size(), value);
    if (parsed.ec != std::errc()) fail(otherwise);
    at_ += static_cast<std::size_t>(parsed.ptr - begin);
    return value;
  }

  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }

  std::size_t position() const { return at_; }
  void go_back_to(std::size_t position) { at_ = position; }

  [[noreturn]] void fail(const std::string& problem) {
    skip_space();
    const std::string statement = printable(text_);
    const bool at_end = at_ == text_.size();
    throw Error(Errc::Usage, at_end ? trf("'{}', at the end: {}", statement, problem)
                                    : trf("'{}', at '{}': {}", statement,
                                          printable(text_.substr(at_, 20)), problem));
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

// --- typed values -----------------------------------------------------------------------------

class ValueReader {
 public:
  explicit ValueReader(Reader& in) : in_(in) {}

  // After the opening bracket, up to and including the closing one.
  TypedValues list() {
    rows(0);
    return std::move(found_);
  }

  // Numbers separated by commas, without brackets.
  TypedValues plain() {
    found_.shape = {0};
    do {
      value();
      ++found_.shape[0];
    } while (in_.take(','));
    return std::move(found_);
  }

 private:
  void value() {
    if (found_.values.size() == kMaxTypedValues) {
      in_.fail(trf("more than {} values", kMaxTypedValues));
    }
    found_.values.push_back(in_.number<double>(tr("expected a number")));
  }

  // Reads the items of a row after its opening bracket. The first row that ends or holds a number
  // fixes the number of dimensions.
  void rows(std::size_t depth) {
    if (depth == kMaxDimensions) in_.fail(trf("more than {} dimensions", kMaxDimensions));
    const bool first = depth == found_.shape.size();
    if (first) found_.shape.push_back(0);
    const std::size_t begin = in_.position();
    std::int64_t items = 0;
    if (!in_.take(']')) {
      do {
        item(depth);
        ++items;
      } while (in_.take(','));
      in_.expect(']');
    }
    if (dimensions_ == 0) dimensions_ = depth + 1;
    if (first) {
      found_.shape[depth] = items;
    } else if (found_.shape[depth] != items) {
      in_.go_back_to(begin);
      in_.fail(trf("a row of {}, but earlier rows have {}; make all rows equally long", items,
                   found_.shape[depth]));
    }
  }

  void item(std::size_t depth) {
    const std::size_t begin = in_.position();
    const bool is_row = in_.take('[');
    if (dimensions_ != 0 && is_row == (depth + 1 == dimensions_)) {
      in_.go_back_to(begin);
      in_.fail(is_row ? tr("expected a number instead of a row")
                      : tr("expected a row in brackets"));
    }
    if (is_row) {
      rows(depth + 1);
    } else {
      dimensions_ = depth + 1;
      value();
    }
  }

  Reader& in_;
  TypedValues found_;
  std::size_t dimensions_ = 0;  // 0: not known yet
};

// --- devices and arguments --------------------------------------------------------------------

DeviceChoice read_device(Reader& in) {
  const bool quoted = in.take('\'') || in.take('"');
  const std::size_t begin = in.position();
  const std::string kind = in.name(tr("expected a device, such as cpu:1 or gpu(0)"));
  const bool is_gpu = kind == "gpu" || kind == "cuda" || kind == "try_gpu";
  if (!is_gpu && kind != "cpu" && kind != "emu") {
    in.go_back_to(begin);
    in.fail(tr("expected a device, such as cpu:1 or gpu(0)"));
  }
  int index = 0;
  if (in.take(':')) {
    index = in.number<int>(tr("expected the device's number"));
  } else if (in.take('(')) {
    if (!in.next_is(')')) index = in.number<int>(tr("expected the device's number"));
    in.expect(')');
  }
  if (index < 0) in.fail(trf("device number {} is negative", index));
  if (quoted && !in.take('\'') && !in.take('"')) in.fail(tr("expected the closing quote"));
  if (kind == "emu") return {emulated_gpu(index)};
  return {is_gpu ? gpu(index) : cpu(index), kind == "try_gpu"};
}

std::optional<Fill> fill_named(const std::string& name) {
  if (name == "tensor") return Fill::Values;
  for (const Fill fill :
       {Fill::Zeros, Fill::Ones, Fill::Full, Fill::Arange, Fill::Rand, Fill::Randn}) {
    if (name == to_string(fill)) return fill;
  }
  return std::nullopt;
}

DType read_dtype(Reader& in) {
  const std::size_t begin = in.position();
  const std::string name = in.name(tr("expected a dtype: f32, bf16, i32, i64 or u8"));
  for (const DType dtype : {DType::F32, DType::BF16, DType::I32, DType::I64, DType::U8}) {
    if (name == to_string(dtype)) return dtype;
  }
  in.go_back_to(begin);
  in.fail(tr("expected a dtype (f32, bf16, i32, i64 or u8)"));
}

// Reads the arguments of fill(...), after the opening bracket.
class ArgumentReader {
 public:
  ArgumentReader(Reader& in, Fill fill) : in_(in) { out_.tensor.fill = fill; }

  CreateStatement read() {
    if (!in_.take(')')) {
      do {
        const std::size_t begin = in_.position();
        if (const auto key = in_.take_name()) {
          keyword(*key, begin);
        } else if (!given_.empty() || complete_) {
          in_.fail(tr("expected an argument such as device=cpu:0"));
        } else {
          positional();
        }
      } while (in_.take(','));
      in_.expect(')');
    }
    if (fill() == Fill::Values && !complete_) in_.fail(tr("expected values, such as [1, 2, 3]"));
    if (fill() == Fill::Full && !has_value_)
      in_.fail(tr("expected value=, as in full(2, value=7)"));
    return std::move(out_);
  }

 private:
  Fill fill() const { return out_.tensor.fill; }

  void keyword(const std::string& key, std::size_t begin) {
    const bool random = is_random(fill());
    const bool value = key == "value" && fill() == Fill::Full && !has_value_;
    if (!(key == "device" || key == "dtype" || (key == "seed" && random) || value) ||
        !given_.insert(key).second) {
      in_.go_back_to(begin);
      const char* known = random                 ? "device, dtype, seed"
                          : fill() == Fill::Full ? "device, dtype, value"
                                                 : "device, dtype";
      in_.fail(trf("unknown or repeated argument (known: {})", known));
    }
    in_.expect('=');
    if (key == "device") out_.device = read_device(in_);
    if (key == "dtype") out_.tensor.dtype = read_dtype(in_);
    if (key == "seed") {
      out_.tensor.seed = in_.number<std::uint64_t>(tr("expected a seed of at least 0"));
      out_.has_seed = true;
    }
    if (value) read_value();
  }

  void read_value() {
    out_.tensor.value = in_.number<double>(tr("expected a number"));
    has_value_ = true;
  }

  // Sizes: 2, 3 or (2, 3); full((2, 3), 7) has its value after them. Values: [1, 2, 3].
  void positional() {
    if (fill() == Fill::Values) {
      in_.expect('[');
      TypedValues typed = ValueReader(in_).list();
      out_.tensor.shape = std::move(typed.shape);
      out_.tensor.values = std::move(typed.values);
      complete_ = true;
    } else if (shape_closed_) {
      read_value();
      complete_ = true;
    } else if (out_.tensor.shape.empty() && in_.take('(')) {
      while (!in_.next_is(')')) {
        size();
        if (!in_.take(',')) break;
      }
      in_.expect(')');
      shape_closed_ = true;
      complete_ = fill() != Fill::Full;
    } else {
      size();
    }
  }

  void size() {
    if (out_.tensor.shape.size() == kMaxDimensions) {
      in_.fail(trf("more than {} dimensions", kMaxDimensions));
    }
    const std::size_t begin = in_.position();
    const auto size =
        in_.number<std::int64_t>(tr("expected a size or an argument such as device=cpu:0"));
    if (size < 0) {
      in_.go_back_to(begin);
      in_.fail(trf("size {} is negative; use 0 or more", size));
    }
    out_.tensor.shape.push_back(size);
  }

  Reader& in_;
  CreateStatement out_;
  std::set<std::string> given_;  // keywords
  bool shape_closed_ = false;    // by its bracket
  bool complete_ = false;        // only keywords may follow
  bool has_value_ = false;
};

// --- expressions ------------------------------------------------------------------------------

std::optional<TensorProperty> property_named(const std::string& name) {
  if (name == "device") return TensorProperty::DeviceName;
  if (name == "shape") return TensorProperty::Sizes;
  if (name == "dtype") return TensorProperty::ElementType;
  return std::nullopt;
}

// A method or a property of `from`, after the dot.
decltype(TensorStatement::action) read_member(Reader& in, const std::string& from) {
  const char* const known =
      tr("expected device, shape, dtype, to(...), copy_to(...), cpu() or cuda()");
  const std::size_t begin = in.position();
  const std::string method = in.name(known);
  if (const auto property = property_named(method)) return PropertyStatement{from, *property};
  MoveStatement move{from, {}, method == "copy_to"};
  const bool takes_device = method == "to" || method == "copy_to";
  if (!takes_device && method != "cpu" && method != "cuda") {
    in.go_back_to(begin);
    in.fail(known);
  }
  in.expect('(');
  if (takes_device) {
    move.to = read_device(in);
  } else {
    move.to.device = method == "cpu" ? cpu() : gpu();
    if (method == "cuda" && !in.next_is(')')) {
      move.to.device.index = in.number<int>(tr("expected the GPU's number"));
      if (move.to.device.index < 0) in.fail(tr("the GPU's number is negative"));
    }
  }
  in.expect(')');
  return move;
}

decltype(TensorStatement::action) read_expression(Reader& in) {
  const std::size_t begin = in.position();
  const std::string first = in.name(tr("expected a tensor or a function such as ones(2, 3)"));
  if (in.take('(')) {
    if (const auto fill = fill_named(first)) return ArgumentReader(in, *fill).read();
    in.go_back_to(begin);
    in.fail(tr("expected tensor, zeros, ones, full, arange, rand or randn"));
  }
  if (in.take('.')) return read_member(in, first);
  SumStatement sum{{first}};
  while (in.take('+')) {
    sum.terms.push_back(
        in.name(tr("expected a tensor: only tensors can be added, so create one of that number, "
                   "as in full((2, 3), 1)")));
  }
  if (in.next_is('*') || in.next_is('-') || in.next_is('/') || in.next_is('@')) {
    in.fail(tr("only sums of tensors are computed here, as in X + Y"));
  }
  return sum;
}

}  // namespace

TensorStatement parse_tensor_statement(std::string_view text) {
  TensorStatement statement;
  statement.text = trimmed(text);
  Reader in(statement.text);
  const auto first = in.take_name();
  if (first == "del") {
    statement.action = DeleteStatement{in.name(tr("expected the name of a tensor"))};
  } else {
    if (first && in.take('=')) {
      statement.name = *first;
    } else {
      in.go_back_to(0);
    }
    const std::size_t begin = in.position();
    statement.action = read_expression(in);
    if (!statement.name.empty() && std::holds_alternative<PropertyStatement>(statement.action)) {
      in.go_back_to(begin);
      in.fail(tr("expected a tensor: a device or a shape can be shown, but has no name"));
    }
  }
  if (!in.at_end()) in.fail(tr("expected the end of the statement"));
  return statement;
}

bool is_tensor_name(std::string_view name) {
  const auto part_of_name = [](char c) { return is_name_start(c) || is_digit(c); };
  return !name.empty() && is_name_start(name.front()) && std::ranges::all_of(name, part_of_name) &&
         name != "del";
}

TypedValues parse_typed_values(std::string_view text) {
  Reader in(trimmed(text));
  TypedValues typed = in.take('[') ? ValueReader(in).list() : ValueReader(in).plain();
  if (!in.at_end()) in.fail(tr("expected the end of the values"));
  return typed;
}

}  // namespace lab
