// SPDX-License-Identifier: Apache-2.0
/// @file commands.hpp
/// The commands of `sporos`, in the order in which `--help` shows them.
#pragma once

#include "command.hpp"

namespace sporos::tool {

void add_info(CLI::App& app, Choice& choice);
void add_validate(CLI::App& app, Choice& choice);
void add_compare(CLI::App& app, Choice& choice);
void add_convert(CLI::App& app, Choice& choice);
void add_transpose(CLI::App& app, Choice& choice);
void add_generate(CLI::App& app, Choice& choice);
void add_prune(CLI::App& app, Choice& choice);
void add_reorder(CLI::App& app, Choice& choice);
void add_spy(CLI::App& app, Choice& choice);
void add_spmv(CLI::App& app, Choice& choice);
void add_multiply(CLI::App& app, Choice& choice);
void add_mttkrp(CLI::App& app, Choice& choice);
void add_cp(CLI::App& app, Choice& choice);
void add_bench(CLI::App& app, Choice& choice);
void add_explain(CLI::App& app, Choice& choice);
void add_config(CLI::App& app, Choice& choice);

inline constexpr auto add_commands = {
    add_info, add_validate, add_compare,  add_convert, add_transpose, add_generate, add_prune,   add_reorder,
    add_spy,  add_spmv,     add_multiply, add_mttkrp,  add_cp,        add_bench,    add_explain, add_config};

}  // namespace sporos::tool
