// SPDX-License-Identifier: Apache-2.0
/// @file output.cpp
/// Selects the writer for a file.
#include "output.hpp"

#include <unistd.h>

#include <Kokkos_Timer.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <sporos/formats/value_cast.hpp>
#include <system_error>

#include "interrupt.hpp"
#include "memory.hpp"

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

template <class Value>
void write_pattern(const Destination& out, const Entries<Value, 2>& entries, bool drop_values) {
  for (std::size_t q = 0; !drop_values && q < entries.values.extent(0); ++q)
    if (!(entries.values(q) == Value(1)))
      throw UsageError(text(out.name, ": a .smtx file has no values, and ", value_text(entries.values(q)),
                            " is to be written: give a name that ends in .mtx"));
  SmtxWriteOptions options;
  options.gzip_level = out.gzip_level;
  options.drop_values = drop_values;
  write_smtx(out.path, entries, options);
}

/// The only value written for a pattern is the one that says that it is a pattern.
template <class Value, int Order>
void write_levels(const Destination& out, const Entries<Value, Order>& entries, const OutputStyle& style) {
  BinsparseWriteOptions options;
  options.levels = style.levels;
  if (!options.levels && style.layout == MatrixMarketLayout::array) {
    options.levels = BinsparseLevels{std::vector<BinsparseLevel>(Order), std::vector<int>(Order)};
    std::iota(options.levels->modes.begin(), options.levels->modes.end(), 0);
  }
  options.symmetry = style.symmetry;
  options.level = out.gzip_level;
  options.attributes = style.attributes;
  if (!style.pattern) return write_binsparse(out.path, entries, options);
  Entries<bool, Order> pattern;
  pattern.extents = entries.extents;
  pattern.coordinates = entries.coordinates;
  pattern.values = make_array<bool>("sporos::pattern", entries.size());
  Kokkos::deep_copy(pattern.values, true);
  write_binsparse(out.path, pattern, options);
}

template <class Value, int Order>
void write(const Destination& out, const Entries<Value, Order>& entries, const OutputStyle& style) {
  if constexpr (Order == 2) {
    if (out.kind == FileKind::matrix_market) {
      MatrixMarketWriteOptions options;
      options.gzip_level = out.gzip_level;
      options.layout = style.layout;
      options.symmetry = style.symmetry;
      if (style.pattern) options.field = MatrixMarketField::pattern;
      return write_matrix_market(out.path, entries, options);
    }
    if (out.kind == FileKind::smtx) return write_pattern(out, entries, style.pattern);
  }
  if (out.kind == FileKind::binsparse) return write_levels(out, entries, style);
  if (out.kind == FileKind::npz) {
    NpzWriteOptions options;
    options.level = out.gzip_level;
    options.format = style.npz_format;
    options.block = {style.npz_block, style.npz_block};
    return write_npz(out.path, entries, options);
  }
  if (out.kind == FileKind::npy) {
    double bytes = sizeof(Value);
    for (const std::int64_t extent : entries.extents) bytes *= static_cast<double>(extent);
    expect_memory(bytes, text(out.name, ": a dense array of ", to_string(entries.extents)));
    return write_npy(out.path, entries);
  }
  if constexpr (is_complex_v<Value>) {
    throw UsageError(out.name + ": complex values are written to .mtx, .npy, .npz and .h5 files only");
  } else {
    TnsWriteOptions options;
    options.gzip_level = out.gzip_level;
    write_tns(out.path, entries, options);
  }
}

/// The kind of file that a name or --to requests.
std::optional<FileKind> kind_of_output(const std::string& path, const std::string& kind, int order) {
  if (!kind.empty()) return file_kind_named(kind);
  if (path == standard_stream) return order == 2 ? FileKind::matrix_market : FileKind::tns;
  if (path.ends_with(".npz")) return FileKind::npz;  // compresses by itself
  if (io::has_hdf5_name(path)) return FileKind::binsparse;
  for (const FileKind known : {FileKind::matrix_market, FileKind::tns, FileKind::smtx, FileKind::npy})
    for (const auto& [named, name] : file_kind_names)
      if (named == known && io::has_suffix(path, text('.', name))) return known;
  return std::nullopt;
}

}  // namespace

OutputStyle style_of(const Input& input) {
  OutputStyle style;
  style.pattern = input.is_pattern();
  if (input.file.matrix_market) {
    style.layout = input.file.matrix_market->layout;
    style.symmetry = input.file.matrix_market->symmetry;
  }
  if (input.file.binsparse) {
    style.symmetry = input.file.binsparse->symmetry;
    style.levels = input.file.binsparse->levels;
    style.attributes = input.file.binsparse->attributes;
  }
  if (input.file.kind == FileKind::npy && input.order() == 2) style.layout = MatrixMarketLayout::array;
  return style;
}

Destination destination(const std::string& path, const OutputOptions& options, int order) {
  const std::string& kind = options.kind;
  const auto known = kind_of_output(path, kind, order);
  const std::string what = order == 2 ? "a matrix" : text("a tensor of order ", order);
  const bool any_order = known == FileKind::tns || known == FileKind::npy || known == FileKind::npz ||
                         known == FileKind::binsparse;
  const bool fits = known && (any_order || order == 2) && known != FileKind::edges;
  if (!fits && !kind.empty())
    throw UsageError(text("--to ", kind, ": ", what, " is written as ",
                          order == 2 ? "mtx, tns, smtx, npy, npz or h5" : "tns, npy, npz or h5"));
  if (!fits)
    throw UsageError(text(path, ": ", what, " needs a file name that ends in ",
                          order == 2 ? ".mtx, .tns, .smtx, .npy, .npz or .h5" : ".tns, .npy, .npz or .h5",
                          ", optionally followed by .gz, or --to"));
  if (known == FileKind::binsparse && !io::has_hdf5) io::refuse_hdf5(path);
  if (path == standard_stream)
    return {std::string(io::OutputFile::standard_output), path, *known, options.gzip_level};
  check_folder(path);
  return {path, path, *known, options.gzip_level};
}

std::string picture_destination(const std::string& path) {
  if (path == standard_stream) return std::string(io::OutputFile::standard_output);
  if (path.ends_with(".gz") || !io::has_suffix(path, ".png"))
    throw UsageError(path + ": a picture needs a file name that ends in .png");
  check_folder(path);
  return path;
}

double write_output(const Destination& out, const AnyEntries& entries, const OutputStyle& style) {
  const Kokkos::Timer timer;
  std::visit([&](const auto& e) { write(out, e, style); }, entries);
  return timer.seconds();
}

double write_dense_output(const Destination& out, const AnyEntries& entries) {
  return write_output(out, entries, {.layout = MatrixMarketLayout::array});
}

Report& report_output(Outcome& outcome, const Destination& out, double write_seconds) {
  outcome.output_is_taken = out.is_standard_output();
  Report& written = outcome.report.section("output", out.name);
  written.fact("file", "", out.name);
  written.fact("write_seconds", "written in", Seconds{write_seconds});
  return written;
}

}  // namespace sporos::tool
