// Results of statements about tensors, as text: the values as a matrix, then where they are stored.
#include "app/headless/printer.h"

namespace lab::app {
namespace {

class TensorText final : public Printer {
 public:
  explicit TensorText(Console& console) : console_(console) {}

  void show(const Payload& payload) override {
    const auto* result = std::get_if<TensorResult>(&payload);
    if (result == nullptr) {
      show_common(console_, payload);
      return;
    }
    console_.line(result->statement);
    if (!result->answer.empty()) console_.line("    " + result->answer);
    if (!result->tensor) return;
    for (const std::string& line : grid_lines(result->grid)) console_.line("    " + line);
    console_.line("    " + describe(*result));
  }

 private:
  Console& console_;
};

}  // namespace

std::unique_ptr<Printer> make_tensor_text(Console& console) {
  return std::make_unique<TensorText>(console);
}

}  // namespace lab::app
