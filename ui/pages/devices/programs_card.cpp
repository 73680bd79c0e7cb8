// The programs that use the cores, below a CPU device on the Devices page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/devices/devices_parts.h"

namespace lab::ui {
namespace {

std::string cores_used(double cores) {
  return fmt::format("{:.2f}", cores);
}

std::string name_text(const Program& program) {
  std::string name = program.name;
  if (program.kind == ProgramKind::Kernel) name = tr("kernel threads");
  if (program.kind == ProgramKind::Lab) name = trf("{}: this lab", name);
  return program.processes > 1 ? fmt::format("{} ({})", name, program.processes) : name;
}

std::string program_hint(const Program& program) {
  return program.processes > 1
             ? trf("{} processes with this name, added up. The process ID is that of the busiest.",
                   program.processes)
             : "";
}

void programs_row(const Panel& p, const std::array<std::string, 4>& texts,
                  const std::string& hint) {
  table_row(p.ui);
  for (const std::string& text : texts) cell(p.ui, text, hint);
}

// All programs without a row of their own.
void others_row(const Panel& p, const ProgramUse& use) {
  programs_row(p, {"", trf("all others ({})", use.others), cores_used(use.rest_cores), ""},
               tr("All other programs, also those that ended since the last reading and those "
                  "that the lab cannot see, for example outside its container."));
}

// Always of the same height, so that nothing moves when the first reading arrives.
void program_rows(const Panel& p, const std::string& path, const ProgramUse* use) {
  const std::vector<Column> columns{
      {.label = LAB_TEXT("Process ID"), .weight = 1},
      {.label = LAB_TEXT("Name"), .weight = 3},
      {.label = LAB_TEXT("Cores"),
       .weight = 1,
       .number = true,
       .hint =
           LAB_TEXT("How many hardware threads the program kept busy, on average over about two "
                    "seconds.")},
      {.label = LAB_TEXT("Memory"),
       .weight = 2,
       .number = true,
       .hint = LAB_TEXT("Main memory that the program occupies. What several processes share is "
                        "counted for each.")}};
  if (!begin_table(p.ui, path, columns)) return;
  std::size_t rows = 0;
  if (use != nullptr) {
    const auto more = [&](const Program& one) { return one.cores >= use->rest_cores; };
    const auto before = static_cast<std::size_t>(std::ranges::count_if(use->busiest, more));
    for (std::size_t i = 0; i < use->busiest.size(); ++i) {
      if (i == before) others_row(p, *use);
      const Program& one = use->busiest[i];
      programs_row(p,
                   {std::to_string(one.pid), name_text(one), cores_used(one.cores),
                    format_bytes(one.memory_bytes)},
                   program_hint(one));
    }
    if (before == use->busiest.size()) others_row(p, *use);
    rows = use->busiest.size() + 1;
  }
  for (; rows <= kBusiestPrograms; ++rows) programs_row(p, {}, "");
  end_table(p.ui);
}

void program_note(const Panel& p, const std::string& path, const std::string& text) {
  footnote(p.ui, text);
  record_item(p.ui, path, "note", text);
}

}  // namespace

void programs_card(const Panel& p) {
  const std::string path = "devices/programs";
  const Card card(p, path, tr("Programs"),
                  {.extra = spare_height(p),
                   .hint = tr("The programs that use the cores most; of idle ones, those with the "
                              "most memory. Processes with the same name count as one program."),
                   .note = tr("of the whole machine")});
  if (!card) return;
  p.view.names_programs = true;
  const ProgramUse* use = p.model.programs();
  if (use != nullptr && !use->unread.empty()) {
    muted(p.ui, trf("Not available: {}.", tr(use->unread)));
    return;
  }
  program_rows(p, path + "/table", use);
  if (const auto& job = p.model.job(); job && entry_of(job->page).timed) {
    program_note(p, path + "/waiting", trf("Paused while a job measures times: {}.", job->title));
  }
  if (use != nullptr && !use->hidden.empty()) program_note(p, path + "/hidden", tr(use->hidden));
}

}  // namespace lab::ui
