// A setting is declared once: command-line options, JSON, saved settings and form controls of the
// request below, which exists only in this test, follow from its members and their declarations.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/cli/field_options.h"
#include "compute/core/fields/field_json.h"
#include "tests/support/errors.h"
#include "tests/support/text.h"
#include "tests/ui/pages/scenes.h"
#include "ui/model/forms/form_settings.h"
#include "ui/pages/field_control.h"

namespace lab::test {

enum class Roast { Light, Dark };

struct BrewCoffee {
  std::string beans = "any";
  std::string method = "filter";
  Roast roast = Roast::Dark;
  std::int64_t grams = 60;
  int cups = 4;
  double strength = 0.5;
  std::optional<double> sugar;
  std::int64_t water_bytes = 1 << 20;
  std::uint64_t seed = 0;
  bool milk = false;
  bool heat = true;
  std::vector<Device> machines;
};

inline constexpr ValueName kMethods[] = {
    {"filter", "Filter"}, {"press", "Press"}, {"pot", "Pot"}, {"espresso", "Espresso"}};

}  // namespace lab::test

namespace lab {

template <>
struct EnumNames<test::Roast> {
  static constexpr ValueName kAll[] = {{"light", "Light roast"}, {"dark", "Dark roast"}};
};

template <>
struct FieldsOf<test::BrewCoffee> {
  using R = test::BrewCoffee;
  template <typename Visit>
  static void each(const Visit& visit) {
    using F = RequestField;
    visit(F{.key = "beans", .option = "--beans", .placeholder = "NAME", .label = "Beans"},
          &R::beans);
    visit(F{.key = "method",
            .option = "--method",
            .placeholder = "NAME",
            .choices = test::kMethods,
            .label = "Method",
            .more = true},
          &R::method);
    visit(F{.key = "roast", .option = "--roast", .label = "Roast", .more = true}, &R::roast);
    visit(F{.key = "grams",
            .option = "--grams",
            .placeholder = "N",
            .help = "Ground coffee",
            .range = {1, 1000},
            .label = "Coffee",
            .unit = "g",
            .more = true},
          &R::grams);
    visit(F{.key = "cups",
            .option = "--cups",
            .placeholder = "N",
            .range = {1, 12},
            .label = "Cups",
            .more = true},
          &R::cups);
    visit(F{.key = "strength",
            .option = "--strength",
            .placeholder = "X",
            .range = {0, 1, Ends::NotMax},
            .label = "Strength"},
          &R::strength);
    visit(F{.key = "sugar",
            .option = "--sugar",
            .placeholder = "X",
            .range = {0, 9, Ends::NotMin},
            .label = "Sugar"},
          &R::sugar);
    visit(F{.key = "water_bytes",
            .option = "--water-mib",
            .placeholder = "X",
            .range = {0.5, 4},
            .scale = 1 << 20,
            .name = "amount of water"},
          &R::water_bytes);
    visit(F{.key = "seed", .option = "--seed", .placeholder = "N", .label = "Seed"}, &R::seed);
    visit(F{.key = "milk", .option = "--milk", .label = "Milk", .more = true}, &R::milk);
    visit(F{.key = "heat", .option = "--no-heat", .label = "Heat"}, &R::heat);
    visit(F{.key = "machines", .option = "--machines", .placeholder = "LIST"}, &R::machines);
  }
};

}  // namespace lab

namespace lab::test {
namespace {

BrewCoffee unusual_brew() {
  return {.beans = "b\xff",
          .method = "pot",
          .roast = Roast::Light,
          .grams = 70,
          .cups = 7,
          .strength = 0.1 + 0.2,
          .sugar = 2.5,
          .water_bytes = 3 << 19,
          .seed = 9,
          .milk = true,
          .heat = false,
          .machines = {cpu(1)}};
}

BrewCoffee parse_brew(std::vector<std::string> words) {
  BrewCoffee brew;
  CLI::App app;
  app::FieldOptions<BrewCoffee>(app, brew).add_all();
  std::reverse(words.begin(), words.end());
  app.parse(std::move(words));
  return brew;
}

std::string brew_problem(const std::vector<std::string>& words) {
  return message_of([&] { parse_brew(words); }, Errc::Usage);
}

TEST(RequestFields, DefineTheOptions) {
  const BrewCoffee brew = parse_brew(
      {"--beans", "x", "--method",   "pot",       "--roast",    "light", "--grams",     "70",
       "--cups",  "7", "--strength", "0.25",      "--sugar",    "2.5",   "--water-mib", "1.5",
       "--seed",  "9", "--milk",     "--no-heat", "--machines", "cpu:1"});
  EXPECT_EQ(brew.beans, "x");
  EXPECT_EQ(brew.method, "pot");
  EXPECT_EQ(brew.roast, Roast::Light);
  EXPECT_EQ(brew.grams, 70);
  EXPECT_EQ(brew.cups, 7);
  EXPECT_EQ(brew.strength, 0.25);
  EXPECT_EQ(brew.sugar, 2.5);
  EXPECT_EQ(brew.water_bytes, 3 << 19);
  EXPECT_EQ(brew.seed, 9u);
  EXPECT_TRUE(brew.milk);
  EXPECT_FALSE(brew.heat);
  EXPECT_EQ(brew.machines, std::vector<Device>{cpu(1)});
}

TEST(RequestFields, DefineTheHelpText) {
  BrewCoffee brew;
  CLI::App app;
  app::FieldOptions<BrewCoffee>(app, brew).add_all();
  const std::string help = app.help();
  EXPECT_TRUE(contains(help, "--grams N")) << help;
  EXPECT_TRUE(contains(help, "Ground coffee")) << help;
  EXPECT_TRUE(contains(help, "--roast light|dark")) << help;
  EXPECT_TRUE(contains(help, "filter, press, pot or espresso")) << help;
}

TEST(RequestFields, CheckRangesFromEverySource) {
  EXPECT_EQ(brew_problem({"--grams", "0"}), "--grams: '0' is not a whole number from 1 to 1000");
  EXPECT_EQ(brew_problem({"--strength", "1"}), "--strength: '1' is not a number from 0 to below 1");
  EXPECT_EQ(brew_problem({"--water-mib", "5"}), "--water-mib: '5' is not a number from 0.5 to 4");
  EXPECT_EQ(brew_problem({"--roast", "drak"}), "--roast: 'drak' is unknown; did you mean 'dark'?");
  EXPECT_TRUE(contains(brew_problem({"--method", "pott"}), "did you mean 'pot'?"));
  BrewCoffee brew;
  EXPECT_EQ(fault_in_ranges(brew), "");
  brew.grams = 1001;
  EXPECT_EQ(fault_in_ranges(brew), "coffee is 1001 g; it must be from 1 to 1000");
  brew = {};
  brew.sugar = 0;
  EXPECT_EQ(fault_in_ranges(brew), "sugar is 0; it must be above 0 to 9");
  brew = {};
  brew.water_bytes = 1;
  EXPECT_EQ(fault_in_ranges(brew), "amount of water is 1; it must be from 524288 to 4194304");
}

TEST(RequestFields, RoundTripThroughJson) {
  const BrewCoffee brew = unusual_brew();
  const FieldJson json = request_to_json(brew);
  const auto back = request_from_json<BrewCoffee>(FieldJson::parse(json.dump()), "a brew");
  EXPECT_EQ(request_to_json(back), json);
  EXPECT_EQ(back.beans, brew.beans);
  EXPECT_EQ(back.strength, brew.strength);
  EXPECT_EQ(back.roast, Roast::Light);
  EXPECT_EQ(back.machines, brew.machines);
  EXPECT_EQ(message_of(
                [] {
                  request_from_json<BrewCoffee>({{"roast", "green"}}, "a brew");
                },
                Errc::Corrupt),
            "the roast of a brew is \"green\", which is not a valid value");
}

TEST(RequestFields, AreSavedWithTheForm) {
  const BrewCoffee brew = unusual_brew();
  ui::SavedSettings saved;
  ui::Save(saved).fields("brew", brew);
  EXPECT_EQ(saved.at("brew.grams"), "70");
  EXPECT_EQ(saved.at("brew.method"), "2");
  EXPECT_FALSE(saved.contains("brew.water_bytes")) << "it has no control";
  BrewCoffee loaded;
  ui::Load(saved).fields("brew", loaded);
  EXPECT_EQ(loaded.beans, brew.beans);
  EXPECT_EQ(loaded.method, "pot");
  EXPECT_EQ(loaded.roast, Roast::Light);
  EXPECT_EQ(loaded.strength, brew.strength);
  EXPECT_EQ(loaded.sugar, brew.sugar);
  EXPECT_EQ(loaded.seed, 9u);
  EXPECT_TRUE(loaded.milk);
  EXPECT_FALSE(loaded.heat);
  for (auto& [key, text] : saved) text = "-7";
  saved.erase("brew.beans");
  BrewCoffee kept = brew;
  ui::Load(saved).fields("brew", kept);
  EXPECT_EQ(request_to_json(kept), request_to_json(brew)) << "invalid values are ignored";
}

TEST(RequestFields, HaveControls) {
  NullBackend backend(1);
  const ui::Model model(machine_of(1));
  ui::ViewState view;
  Commands out;
  BrewCoffee brew;
  const auto draw = [&] {
    const ui::Panel p{backend.ui, model, view, out, 1280, false};
    ui::Fields fields(p);
    ui::more_controls(p, fields, "brew", brew);
  };
  backend.frame(draw);
  EXPECT_EQ(backend.find("brew/grams")->label, "Coffee");
  EXPECT_EQ(backend.ui.widgets.find("brew/strength"), nullptr) << "placed by its page";
  backend.click("brew/roast/Light roast", draw);
  EXPECT_EQ(brew.roast, Roast::Light);
  backend.click("brew/milk", draw);
  EXPECT_TRUE(brew.milk);
  backend.click("brew/method", draw);
  backend.click("brew/method/Press", draw);
  EXPECT_EQ(brew.method, "press");
}

}  // namespace
}  // namespace lab::test
