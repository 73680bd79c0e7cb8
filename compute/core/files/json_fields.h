#pragma once
// Reads JSON that came from outside: files and other processes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab::files {

// Throws Error(Corrupt) "WHAT is no JSON object", also where it nests deeper than any of ours does.
nlohmann::ordered_json parse_object(std::string_view text, const std::string& what);

// The fields of an object. Every complaint names the file, the place in it, the field, what it is
// and what it must be.
// All functions throw Error(Corrupt) "WHERE: the field ... is ...; it must be ...".
class JsonFields {
 public:
  static constexpr std::size_t kLongestLine = 200, kMostLines = 50;

  // `where` stands before complaints: "x.json", "x.json: matmul[3]". `json` must outlive this.
  JsonFields(const nlohmann::json& json, std::string where);

  bool has(const char* field) const;          // whatever it is
  std::string text(const char* field) const;  // not empty
  // A text to be shown: one that printable() leaves as it is, of kLongestLine bytes at most.
  std::string line(const char* field) const;
  std::string line_or_empty(const char* field) const;  // "" where the field is missing
  bool flag(const char* field) const;
  double positive(const char* field) const;
  double not_negative(const char* field) const;
  std::optional<double> number_or_null(const char* field) const;        // not negative
  std::int64_t count(const char* field, std::int64_t least = 1) const;  // up to 1e12
  std::optional<std::int64_t> count_or_null(const char* field) const;
  // The field itself; [] and {} where it is missing.
  const nlohmann::json& list(const char* field) const;
  const nlohmann::json& object(const char* field) const;
  std::vector<std::string> lines(const char* field) const;  // kMostLines at most
  std::string word(const char* field, const std::vector<std::string>& choices) const;

  // The one of `values` whose to_string the field is.
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
  const nlohmann::json* find(const char* field) const;  // null: missing
  double number(const char* field, const char* expected, bool zero_too) const;
  [[noreturn]] void refuse(const char* field, const std::string& expected) const;

  const nlohmann::json& json_;
  const std::string where_;
};

}  // namespace lab::files
