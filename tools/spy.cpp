// SPDX-License-Identifier: Apache-2.0
/// @file spy.cpp
/// `sporos spy FILE -o out.png`: draws where the nonzeros are.
#include <CLI/CLI.hpp>
#include <Kokkos_Timer.hpp>
#include <memory>
#include <sporos/formats/named.hpp>
#include <sporos/formats/spy.hpp>
#include <string>

#include "assembled.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"

namespace sporos::tool {
namespace {

struct SpyCommandOptions {
  std::string path, picture;
  InputOptions input;
  SpyOptions look;
};

/// Only coordinates are drawn, so one value type serves for all: the one for which the assembly is compiled
/// anyway.
template <class Value, int Order>
Image draw(const Entries<Value, Order>& entries, const SpyOptions& look) {
  Entries<double, Order> places(entries.extents, 0);
  places.coordinates = entries.coordinates;
  places.values = make_array<double>("sporos::places", entries.size());
  Kokkos::deep_copy(places.values, 1.0);
  return spy_image(assembled<WideCoo<Order>>(places), look);
}

Outcome spy_file(const SpyCommandOptions& options) {
  const std::string target = picture_destination(options.picture);
  const Input input = read_input(options.path, options.input);
  if (options.look.slice_mode >= input.order())
    throw UsageError(text("--slice-mode is ", options.look.slice_mode, ", but the modes of ", input.path,
                          " are 0 to ", input.order() - 1));
  const Kokkos::Timer timer;
  const Image image =
      std::visit([&](const auto& entries) { return draw(entries, options.look); }, input.entries);
  image.save(target);
  const double seconds = timer.seconds();

  Outcome outcome;
  outcome.output_is_taken = options.picture == standard_stream;
  Report& report = outcome.report;
  report.fact("command", "", std::string("spy"));
  describe(report.section("input", input.path), input);
  Report& picture = report.section("output", options.picture);
  picture.fact("file", "", options.picture);
  picture.fact("pixels", Shape{{image.width(), image.height()}});
  picture.fact("draw_seconds", "drawn in", Seconds{seconds});
  return outcome;
}

}  // namespace

void add_spy(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<SpyCommandOptions>();
  CLI::App& command =
      add_command(app, choice, "spy", "A picture of where the nonzeros are: a matrix, or slices of a tensor",
                  [options] { return spy_file(*options); });
  command.add_option("FILE", options->path, "File to read, or - for standard input")->required();
  command.add_option("-o,--output", options->picture, "PNG file to write, or - for standard output")
      ->required()
      ->type_name("PNG");
  command.add_option("--pixels", options->look.pixels, "Longest side of the drawing; 1000 unless given")
      ->check(within(16, 16384))
      ->type_name("N");
  command
      .add_option("--slice-mode", options->look.slice_mode,
                  "Mode of a tensor, from 0, whose coordinates get panels; the shortest unless given")
      ->check(within(0, largest_order - 1))
      ->type_name("MODE");
  command.add_option("--slices", options->look.slices, "Panels at most; 16 unless given")
      ->check(within(1, 1024))
      ->type_name("N");
  add_input_options(command, options->input, true);
  command.footer("The darker a pixel, the more nonzeros fall onto it, on a logarithmic scale.");
}

}  // namespace sporos::tool
