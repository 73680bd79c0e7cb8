// Arguments of the command tensor.
#include "app/cli/field_options.h"
#include "compute/core/events/tensor_code.h"
#include "compute/core/language.h"

namespace lab::app {

void add_tensor_options(CLI::App& app, JobOptions& out, RunTensorCode& request) {
  add_cpu_devices(app, out.cpu_devices);
  add_emulated_gpus(app, out.emulated_gpus);
  add_json(app, out.json);
  app.add_option_function<std::vector<std::string>>(
         "STATEMENT",
         [&request](const std::vector<std::string>& statements) {
           for (const std::string& text : statements) {
             request.statements.push_back(parse_tensor_statement(text));
           }
         },
         "X = ones(2, 3), X = tensor([1, 2, 3], device=gpu(0)), Y = X.to(cpu:1),\n"
         "Y = X.copy_to(cpu:1), Z = X + Y, Z, del Z")
      ->type_name("");
}

void check_statements(const RunTensorCode& request, int cpu_devices) {
  if (request.statements.empty()) {
    throw Error(Errc::Usage,
                tr("device-lab tensor: missing statement; add one, such as 'X = ones(2, 3)'"));
  }
  for (const TensorStatement& statement : request.statements) {
    if (const auto device = device_of(statement)) check_devices({*device}, cpu_devices);
  }
}

}  // namespace lab::app
