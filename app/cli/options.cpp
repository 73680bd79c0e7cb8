#include "app/cli/options.h"

#include <fmt/format.h>

#include "app/cli/field_options.h"
#include "app/cli/option_text.h"
#include "compute/core/language.h"
#include "ui/page.h"

namespace lab::app {

void add_window_options(CLI::App& app, WindowOptions& out) {
  add_cpu_devices(app, [&out](int n) { out.cpu_devices = n; });
  add_emulated_gpus(app, out.emulated_gpus);
  add_value(app, "--scale", "X", tr("Size of text and controls, 1 to 2 (remembered)"),
            [&out](const std::string& text) {
              out.scale = static_cast<float>(real_number(text, {1, 2}));
            });
  add_value(app, "--theme", "dark|light", tr("Colours (remembered)"),
            [&out](const std::string& text) {
              choice_index(text, {"dark", "light"});
              out.theme = text;
            });
  std::vector<std::string> pages;
  pages.reserve(ui::kPageEntries.size());
  for (const ui::PageEntry& page : ui::kPageEntries) pages.emplace_back(page.key);
  add_value(app, "--page", "NAME", trf("First page: {}", fmt::join(pages, ", ")),
            [&out, pages](const std::string& text) {
              choice_index(text, pages);
              out.page = text;
            });
  add_value(app, "--reference", "FILE.json", tr("Results of another machine, drawn in the plots"),
            [&out](const std::string& text) { out.reference = text; });
  add_value(app, "--size", "WxH", tr("Window size in pixels"), [&out](const std::string& text) {
    const auto [width, height] = window_size(text);
    out.width = width;
    out.height = height;
  });
  add_value(app, "--screenshot", "FILE.png", tr("Save the window as an image, then exit"),
            [&out](const std::string& text) { out.screenshot = text; });
  add_value(app, "--frames", "N", tr("Frames to draw before --screenshot and --describe-ui"),
            [&out](const std::string& text) {
              out.frames = static_cast<int>(whole_number(text, 1, 1000000));
            });
  add_value(app, "--script", "FILE", tr("Play clicks and keys from JSON Lines, then exit"),
            [&out](const std::string& text) { out.script = text; });
  add_value(app, "--describe-ui", "FILE", tr("Write the visible widgets as JSON, then exit"),
            [&out](const std::string& text) { out.describe = text; });
  app.add_flag("--wake-gpus", out.wake_gpus, tr("Start CUDA even if that wakes a sleeping GPU"));
  app.add_flag("--frame-stats", out.frame_stats)->group("");
}

void add_language(CLI::App& app, const char* help, std::optional<Language>& out) {
  add_value(app, "--language", "en|zh|ja|vi", help, [&out](const std::string& text) {
    std::vector<std::string> names;
    for (const ValueName& one : enum_names<Language>()) names.emplace_back(one.name);
    out = static_cast<Language>(choice_index(text, names));
  });
}

void add_devices_options(CLI::App& app, DevicesOptions& out) {
  add_cpu_devices(app, out.cpu_devices);
  add_emulated_gpus(app, out.emulated_gpus);
  add_json(app, out.json);
  add_value(app, "--watch", "SECONDS", tr("Reading interval in seconds, until Ctrl-C"),
            [&out](const std::string& text) {
              out.watch_s = real_number(text, {0.1, 86400});
            });
}

void add_data_commands(CLI::App& app, DataOptions& out) {
  const auto add_dir = [&out](CLI::App& command) {
    add_value(command, "--dir", "DIR", tr("Folder of the four files"),
              [&out](const std::string& text) { out.dir = text; });
  };
  CLI::App* fetch = app.add_subcommand("fetch", tr("Download and verify Fashion-MNIST"));
  add_dir(*fetch);
  add_value(*fetch, "--url", "BASE", tr("URL of the folder to download from"),
            [&out](const std::string& text) { out.url = text; });
  CLI::App* verify = app.add_subcommand("verify", tr("Verify the downloaded files"));
  add_dir(*verify);
}

void add_tour_options(CLI::App& app, TourOptions& out) {
  add_cpu_devices(app, out.cpu_devices);
  add_emulated_gpus(app, out.emulated_gpus);
  add_json(app, out.json);
  add_value(app, "--seconds", "X", tr("Approximate duration in seconds; default: 20"),
            [&out](const std::string& text) {
              out.seconds = real_number(text, {0.1, 3600});
            });
}

void check_devices(const std::vector<Device>& devices, int cpu_devices) {
  for (const Device d : devices) {
    if (d.kind == DeviceKind::Cpu && d.index >= cpu_devices) {
      throw Error(
          Errc::Usage,
          cpu_devices == 1
              ? trf("{} does not exist: the cores form 1 CPU device; add --cpu-devices {}",
                    to_string(d), d.index + 1)
              : trf("{} does not exist: the cores form {} CPU devices; add --cpu-devices {}",
                    to_string(d), cpu_devices, d.index + 1));
    }
  }
}

}  // namespace lab::app
