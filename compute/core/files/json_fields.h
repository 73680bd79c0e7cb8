#pragma once
// Validates and reads JSON from outside the program: files and other processes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab::files {

// Parses `text` as a JSON object. Throws Error(Corrupt) "WHAT is no JSON object" if it is not one
// or if it nests deeper than any object the lab writes.
nlohmann::ordered_json parse_object(std::string_view text, const std::string& what);

// Typed access to the fields of a JSON object. All functions throw Error(Corrupt) "WHERE: the field
// ... is ...; it must be ...".
class JsonFields {
 public:
  static constexpr std::size_t kLongestLine = 200, kMaxLines = 50;

  // `where` prefixes error messages: "x.json", "x.json: matmul[3]". `json` must outlive this
  // object.
  JsonFields(const nlohmann::json& json, std::string where);

  bool has(const char* field) const;          // of any type
  std::string text(const char* field) const;  // not empty
  // Displayable text: one line that printable() leaves unchanged, of at most kLongestLine bytes.
  std::string line(const char* field) const;
  std::string line_or_empty(const char* field) const;  // "" if the field is missing
  bool flag(const char* field) const;
  double positive(const char* field) const;
  double non_negative(const char* field) const;
  std::optional<double> number_or_null(const char* field) const;        // null, or not negative
  std::int64_t count(const char* field, std::int64_t least = 1) const;  // least..1e12
  // Returns the field itself; [] or {} if it is missing.
  const nlohmann::json& list(const char* field) const;
  const nlohmann::json& object(const char* field) const;
  std::vector<std::string> lines(const char* field) const;  // at most kMaxLines
  std::string word(const char* field, const std::vector<std::string>& choices) const;

  // Returns the element of `values` whose to_string equals the field.
  template <typename Value, std::size_t N>
  Value one_of(const char* field, const std::array<Value, N>& values) const {
    std::vector<std::string> names;
    names.reserve(N);
    for (const Value v : values) names.emplace_back(to_string(v));
    const std::string name = word(field, names);
    std::size_t i = 0;
    while (names[i] != name) ++i;
    return values[i];
  }

  [[noreturn]] void refuse(const std::string& reason) const;
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json* find(const char* field) const;  // null if missing
  double number(const char* field, const char* expected, bool allow_zero) const;
  [[noreturn]] void refuse(const char* field, const std::string& expected) const;

  const nlohmann::json& json_;
  const std::string where_;
};

}  // namespace lab::files
