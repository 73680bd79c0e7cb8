#pragma once
// Sets environment variables in tests.
#include <cstdlib>
#include <optional>
#include <string>

namespace lab::test {

// Sets the variable, or unsets it if `value` is null; the destructor restores the previous state.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;  // NOLINT(concurrency-mt-unsafe)
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr)
      setenv(name_, value, 1);  // NOLINT(concurrency-mt-unsafe)
    else
      unsetenv(name_);  // NOLINT(concurrency-mt-unsafe)
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace lab::test
