// SPDX-License-Identifier: Apache-2.0
/// @file commands.hpp
/// The commands of `sporos`, in the order in which `--help` shows them.
#pragma once

#include "command.hpp"

namespace sporos::tool {

void add_info(CLI::App& app, Choice& choice);
void add_validate(CLI::App& app, Choice& choice);
void add_convert(CLI::App& app, Choice& choice);
void add_prune(CLI::App& app, Choice& choice);
void add_spy(CLI::App& app, Choice& choice);
void add_multiply(CLI::App& app, Choice& choice);
void add_mttkrp(CLI::App& app, Choice& choice);
void add_cp(CLI::App& app, Choice& choice);
void add_explain(CLI::App& app, Choice& choice);

inline constexpr auto add_commands = {add_info,     add_validate, add_convert, add_prune,  add_spy,
                                      add_multiply, add_mttkrp,   add_cp,      add_explain};

}  // namespace sporos::tool
