// SPDX-License-Identifier: Apache-2.0
/// @file output.cpp
/// Selects the writer for a file name.
#include "output.hpp"

#include <unistd.h>

#include <Kokkos_Timer.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sporos/formats/value_cast.hpp>
#include <system_error>

#include "command.hpp"
#include "interrupt.hpp"

namespace sporos::tool {
namespace {

void check_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw IoError(path, "is a directory, expected the name of a file");
  const fs::path target = fs::exists(path, ignored) ? fs::canonical(path, ignored) : fs::path(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored))
    throw IoError(path, "cannot be written: there is no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw IoError(path, std::string("cannot be written: ") + std::strerror(errno));
  will_write(path);
}

template <class Value, int Order>
void write(const std::string& path, const Entries<Value, Order>& entries, const OutputStyle& style) {
  if constexpr (Order == 2) {
    if (io::has_suffix(path, ".mtx")) {
      MatrixMarketWriteOptions options;
      options.layout = style.layout;
      options.symmetry = style.symmetry;
      if (style.pattern) options.field = MatrixMarketField::pattern;
      return write_matrix_market(path, entries, options);
    }
    if (io::has_suffix(path, ".smtx")) {
      for (std::size_t q = 0; !style.pattern && q < entries.values.extent(0); ++q)
        if (!(entries.values(q) == Value(1)))
          throw UsageError(text(path, ": a .smtx file has no values, and ", value_text(entries.values(q)),
                                " is to be written: give a name that ends in .mtx"));
      SmtxWriteOptions options;
      options.drop_values = style.pattern;
      return write_smtx(path, entries, options);
    }
  }
  if constexpr (is_complex_v<Value>)
    throw UsageError(path + ": complex values are written to .mtx files only");
  else
    write_tns(path, entries);
}

}  // namespace

OutputStyle style_of(const Input& input) {
  OutputStyle style;
  style.pattern = input.is_pattern();
  if (input.file.matrix_market) {
    style.layout = input.file.matrix_market->layout;
    style.symmetry = input.file.matrix_market->symmetry;
  }
  return style;
}

void check_output(const std::string& path, int order) {
  const bool fits = io::has_suffix(path, ".tns") ||
                    (order == 2 && (io::has_suffix(path, ".mtx") || io::has_suffix(path, ".smtx")));
  if (!fits)
    throw UsageError(text(path, ": a ", order == 2 ? "matrix" : text("tensor of order ", order),
                          " needs a file name that ends in ", order == 2 ? ".mtx, .tns or .smtx" : ".tns",
                          ", optionally followed by .gz"));
  check_folder(path);
}

void check_picture(const std::string& path) {
  if (path.ends_with(".gz") || !io::has_suffix(path, ".png"))
    throw UsageError(path + ": a picture needs a file name that ends in .png");
  check_folder(path);
}

double write_output(const std::string& path, const AnyEntries& entries, const OutputStyle& style) {
  const Kokkos::Timer timer;
  std::visit([&](const auto& e) { write(path, e, style); }, entries);
  return timer.seconds();
}

}  // namespace sporos::tool
