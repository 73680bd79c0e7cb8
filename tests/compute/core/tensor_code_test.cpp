#include "compute/core/events/tensor_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

using test::message_of;

template <typename Action>
Action action_of(std::string_view text) {
  return std::get<Action>(parse_tensor_statement(text).action);
}

TEST(TensorCode, ReadsTheChaptersStatements) {
  const TensorStatement x = parse_tensor_statement("  X = ones(2, 3, device=gpu(1)) ");
  EXPECT_EQ(x.text, "X = ones(2, 3, device=gpu(1))");
  EXPECT_EQ(x.name, "X");
  const auto ones = std::get<CreateStatement>(x.action);
  EXPECT_EQ(ones.tensor.fill, Fill::Ones);
  EXPECT_EQ(ones.tensor.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(ones.device.device, gpu(1));
  EXPECT_FALSE(ones.device.or_cpu);

  EXPECT_EQ(action_of<SumStatement>("Y + Z").terms, (std::vector<std::string>{"Y", "Z"}));
  EXPECT_EQ(action_of<SumStatement>("X").terms, std::vector<std::string>{"X"});
  EXPECT_EQ(action_of<DeleteStatement>("del X").name, "X");
  EXPECT_EQ(action_of<PropertyStatement>("X.device").property, TensorProperty::DeviceName);
  EXPECT_EQ(action_of<PropertyStatement>("X.shape").property, TensorProperty::Sizes);
  EXPECT_EQ(action_of<PropertyStatement>("X.dtype").of, "X");
  const auto moved = action_of<MoveStatement>("Z = X.to(cpu:1)");
  EXPECT_EQ(moved.from, "X");
  EXPECT_EQ(moved.to.device, cpu(1));
  EXPECT_FALSE(moved.always_copy);
  EXPECT_TRUE(action_of<MoveStatement>("X.copy_to(cpu)").always_copy);
  EXPECT_EQ(action_of<MoveStatement>("X.cuda(1)").to.device, gpu(1));
  EXPECT_EQ(action_of<MoveStatement>("X.cuda()").to.device, gpu(0));
  EXPECT_EQ(action_of<MoveStatement>("X.cpu()").to.device, cpu(0));
}

TEST(TensorCode, ReadsEveryNameOfADevice) {
  for (const char* name : {"gpu:1", "gpu(1)", "cuda:1", "cuda(1)", "'cuda:1'", "\"gpu:1\""}) {
    const auto moved = action_of<MoveStatement>("X.to(" + std::string(name) + ")");
    EXPECT_EQ(moved.to.device, gpu(1)) << name;
    EXPECT_FALSE(moved.to.or_cpu) << name;
  }
  for (const char* name : {"cpu", "cpu()", "cpu:0", "'cpu'"}) {
    EXPECT_EQ(action_of<MoveStatement>("X.to(" + std::string(name) + ")").to.device, cpu()) << name;
  }
  const DeviceChoice tried = action_of<MoveStatement>("X.to(try_gpu(10))").to;
  EXPECT_EQ(tried.device, gpu(10));
  EXPECT_TRUE(tried.or_cpu);
}

TEST(TensorCode, ReadsArguments) {
  const auto random = action_of<CreateStatement>("rand((2, 3), dtype=bf16, seed=7)").tensor;
  EXPECT_EQ(random.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(random.dtype, DType::BF16);
  EXPECT_EQ(random.seed, 7U);
  EXPECT_EQ(action_of<CreateStatement>("full(2, value=-1.5e3)").tensor.value, -1500);
  const auto full = action_of<CreateStatement>("full((2, 3,), 7, dtype=i32)").tensor;
  EXPECT_EQ(full.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(full.value, 7);
  EXPECT_TRUE(action_of<CreateStatement>("zeros()").tensor.shape.empty());
}

TEST(TensorCode, ReadsTypedValues) {
  const auto matrix = action_of<CreateStatement>("tensor([[1, 2, 3], [4, 5, -6e-1]])").tensor;
  EXPECT_EQ(matrix.fill, Fill::Values);
  EXPECT_EQ(matrix.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(matrix.values, (std::vector<double>{1, 2, 3, 4, 5, -0.6}));
  EXPECT_EQ(parse_typed_values("1, 2,3").shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(parse_typed_values("[]").shape, std::vector<std::int64_t>{0});
  EXPECT_EQ(parse_typed_values("[[[1]],[[2]]]").shape, (std::vector<std::int64_t>{2, 1, 1}));
  EXPECT_EQ(parse_typed_values("[[],[]]").shape, (std::vector<std::int64_t>{2, 0}));
}

TEST(TensorCode, ReportsPositionOfSyntaxErrors) {
  struct Case {
    const char *text, *expected;
  };
  const Case cases[] = {
      {"", "at the end"},
      {"X =", "at the end"},
      {"X = ones(2, 3", "at the end: expected ')'"},
      {"X = ones(2, 3))", "at ')'"},
      {"foo(2)", "at 'foo(2)': expected tensor, zeros, ones, full, arange, rand or randn"},
      {"ones(2, device=tpu)", "at 'tpu)'"},
      {"ones(2, device=cpu:-1)", "-1 is negative"},
      {"ones(-2)", "at '-2)': size -2 is negative; use 0 or more"},
      {"ones(2, colour=3)", "at 'colour=3)': unknown or repeated argument (known: device, dtype)"},
      {"ones(2, seed=3)", "known: device, dtype)"},
      {"ones(2, device=cpu, device=cpu)", "repeated argument"},
      {"ones((2, 3), 4)", "expected an argument"},
      {"full(2, 3)", "expected value="},
      {"full((2, 3), 4, 5)", "expected an argument"},
      {"full((2, 3), 4, value=5)", "repeated argument"},
      {"ones(device=cpu, 2)", "expected an argument"},
      {"rand(2, dtype=f64)", "at 'f64)'"},
      {"rand(2, seed=-1)", "seed"},
      {"ones(1,1,1,1,1,1,1,1,1)", "more than 8 dimensions"},
      {"X.frob()", "at 'frob()'"},
      {"X.to()", "expected a device"},
      {"X.to('cpu)", "closing quote"},
      {"del", "name of a tensor"},
      {"X + 1", "at '1': expected a tensor: only tensors can be added"},
      {"X * 2", "at '* 2': only sums of tensors are computed here, as in X + Y"},
      {"d = X.device", "at 'X.device': expected a tensor: a device or a shape can be shown"},
      {"X.size", "at 'size': expected device, shape, dtype, to(...), copy_to(...)"},
      {"X == Y", "at '= Y'"},
      {"tensor()", "expected values"},
      {"tensor([1, 2)", "expected ']'"},
      {"tensor([[1, 2], [3]])", "a row of 1, but earlier rows have 2"},
      {"tensor([[], 1])", "at '1])': expected a row in brackets"},
      {"tensor([[], 1, 2])", "expected a row in brackets"},
      {"tensor([[], [[]]])", "at '[]]])': expected a number instead of a row"},
      {"tensor([1, [2]])", "expected a number instead of a row"},
      {"tensor([[1], 2])", "expected a row in brackets"},
      {"tensor([1e999])", "a number"},
      {"X = ones(2)\x1b[31m", "?[31m"},
  };
  for (const Case& c : cases) {
    const std::string message = message_of([&] { parse_tensor_statement(c.text); }, Errc::Usage);
    EXPECT_NE(message.find(c.expected), std::string::npos) << c.text << ": " << message;
  }
  std::string many = "[";
  for (std::size_t i = 0; i <= kMaxTypedValues; ++i) many += "1,";
  EXPECT_NE(message_of([&] { parse_typed_values(many); }, Errc::Usage).find("4096"),
            std::string::npos);
  message_of([&] { parse_typed_values(std::string(100'000, '[')); }, Errc::Usage);
}

// Random texts are read or rejected with Error(Usage); nothing else happens.
TEST(TensorCode, SurvivesRandomText) {
  const char* const parts[] = {"X", "=",    "ones", "(",  ")",    "[",     "]",      ",",
                               "2", "-1",   ".to",  "+",  "del ", " ",     "device", "try_gpu",
                               "'", "cpu:", ":",    "1e", "\xff", "tensor"};
  std::mt19937 random(5);  // NOLINT(cert-msc51-cpp)
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 8; n > 0; --n) text += parts[random() % std::size(parts)];
    try {
      parse_tensor_statement(text);
      ++read;
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), Errc::Usage) << text << ": " << e.what();
    }
  }
  EXPECT_GT(read, 100);
}

TEST(TensorCode, NamesAGpuOnlyIfAStatementDoes) {
  const auto command = [](std::string_view text) {
    return RunTensorCode{{parse_tensor_statement(text)}};
  };
  EXPECT_TRUE(names_gpu(command("ones(2, device=gpu:0)")));
  EXPECT_TRUE(names_gpu(command("X.to(try_gpu())")));
  EXPECT_FALSE(names_gpu(command("ones(2)")));
  EXPECT_FALSE(names_gpu(command("X + Y")));
}

TEST(GridLines, AlignColumnsAndMarkGaps) {
  ValueGrid grid{.rows = 9, .columns = 9, .shown_rows = {0, 8}, .shown_columns = {0, 1, 8}};
  grid.values = {1, 2.5, 3, -10, std::nan(""), 12345.6};
  EXPECT_EQ(grid_lines(grid),
            (std::vector<std::string>{"        1        2.5  ...          3", "...",
                                      "      -10        NaN  ...  1.235e+04"}));
  grid = {.rows = 1, .columns = 2, .shown_rows = {0}, .shown_columns = {0, 1}};
  grid.values = {20000, -3};
  grid.integral = true;
  EXPECT_EQ(grid_lines(grid), std::vector<std::string>{"20000     -3"});
  EXPECT_TRUE(grid_lines({}).empty());
}

}  // namespace
}  // namespace lab
