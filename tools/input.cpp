// SPDX-License-Identifier: Apache-2.0
/// @file input.cpp
/// Selects the reader for a file.
#include "input.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <memory>
#include <sporos/formats/io/file_source.hpp>

#include "command.hpp"

namespace sporos::tool {
namespace {

/// The file at a path, or standard input. Devices are refused: they have no end, or nothing to read.
std::unique_ptr<io::FileSource> source_at(const std::string& path) {
  if (path == standard_stream) {
    const std::string name = "standard input";
    return std::make_unique<io::PipeSource>(std::make_unique<io::FileStream>(STDIN_FILENO, name), name);
  }
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)))
    throw UsageError(path + ": is not a regular file: give - for standard input");
  return io::file_at(path);
}

/// Two numbers on a line may be a vector's coordinate and value, or an edge; a file that gives extents is a
/// vector.
void refuse_edges(const std::string& name, const FileInfo& file) {
  if (file.kind == FileKind::tns && file.order == 1 && file.extents.empty())
    throw UsageError(name +
                     ": holds two numbers on each line, a vector or a list of edges: give --from edges, or "
                     "--vector (to info, validate, convert or spy)");
}

AnyEntries read_by_field(io::FileSource& file, MatrixMarketField field, const ReadOptions& options) {
  switch (field) {
    case MatrixMarketField::integer:
      return read_entries<std::int64_t, 2>(file, options);
    case MatrixMarketField::complex:
      return read_entries<Complex, 2>(file, options);
    default:
      return read_entries<double, 2>(file, options);
  }
}

AnyEntries read_by_order(io::FileSource& file, int order, const ReadOptions& options) {
  switch (order) {
    case 1:
      return read_entries<double, 1>(file, options);
    case 3:
      return read_entries<double, 3>(file, options);
    case 4:
      return read_entries<double, 4>(file, options);
    case 5:
      return read_entries<double, 5>(file, options);
    case 6:
      return read_entries<double, 6>(file, options);
    default:
      throw UsageError(
          text(file.name(), ": holds a tensor of order ", order, ", expected order 1 to ", largest_order));
  }
}

/// The number of entries above the diagonal in a symmetric file, whose entries are followed by their mirror
/// images.
std::int64_t count_above_diagonal(const AnyEntries& any) {
  return std::visit(
      []<class Value, int Order>(const Entries<Value, Order>& entries) -> std::int64_t {
        std::int64_t above = 0;
        if constexpr (Order == 2)
          for (std::int64_t q = 0; q < entries.size(); ++q) {
            const auto [i, j] = entries.coordinate(q);
            above += i < j;
            q += i != j;
          }
        return above;
      },
      any);
}

}  // namespace

std::int64_t size_of(const AnyEntries& entries) {
  return std::visit([](const auto& e) { return e.size(); }, entries);
}

std::vector<std::int64_t> extents_of(const AnyEntries& entries) {
  return std::visit(
      [](const auto& e) { return std::vector<std::int64_t>(e.extents.begin(), e.extents.end()); }, entries);
}

bool Input::is_pattern() const { return file.field == MatrixMarketField::pattern; }

bool Input::is_array() const {
  if (file.matrix_market) return file.matrix_market->layout == MatrixMarketLayout::array;
  if (!file.binsparse) return file.kind == FileKind::npy;
  const auto& levels = file.binsparse->levels.levels;
  return std::none_of(levels.begin(), levels.end(), [](const BinsparseLevel& level) { return level.sparse; });
}

std::string_view Input::field() const { return io::to_string(file.field); }

std::string_view Input::symmetry() const { return to_string(file.symmetry()); }

Input read_input(const std::string& path, const InputOptions& options) {
  const auto file = source_at(path);
  Input input;
  input.path = file->name();
  const Kokkos::Timer timer;
  ReadOptions reading;
  reading.strict = options.strict;
  reading.kind = file_kind_named(options.kind);
  reading.first_node = options.first_node;
  reading.bipartite = options.bipartite;
  input.file = inspect(*file, reading);
  if (!options.vector) refuse_edges(input.path, input.file);
  input.entries = input.order() == 2 ? read_by_field(*file, input.file.field, reading)
                                     : read_by_order(*file, input.order(), reading);
  if (input.symmetry() != "general") input.above_diagonal = count_above_diagonal(input.entries);
  input.seconds = timer.seconds();
  return input;
}

Input read_matrix(const std::string& path, const InputOptions& options) {
  Input input = read_input(path, options);
  if (input.order() != 2)
    throw UsageError(text(input.path, ": holds a tensor of order ", input.order(), ", expected a matrix"));
  return input;
}

void describe(Report& report, const Input& input) {
  std::string kind(to_string(input.file.kind));
  if (const auto& header = input.file.matrix_market)
    kind += text(", ", to_string(header->layout), ' ', io::to_string(header->field), ' ',
                 to_string(header->symmetry));
  if (const auto& header = input.file.binsparse) kind += text(", ", header->format, ' ', header->type.str());
  report.fact("file", "", input.path);
  report.fact("kind", kind + (input.file.compressed ? ", gzip" : ""));
  const bool sized = input.file.bytes > 0;  // a pipe is not
  report.fact("file_bytes", sized ? "size of file" : "",
              sized ? Cell(Bytes{input.file.bytes}) : Cell(Absent{}));
  report.fact("field", "", std::string(input.field()));
  report.fact("symmetry", "", std::string(input.symmetry()));
  report.fact("order", "", Count{input.order()});
  report.fact("extents", Shape{input.extents()});
  report.fact("entries", Count{input.size()});
  const auto& stored = input.file.stored;
  const bool one_triangle = stored && *stored != input.size();
  report.fact("entries_in_file", one_triangle ? "in the file" : "",
              stored ? Cell(Count{*stored}) : Cell(Absent{}));
  const auto& above = input.above_diagonal;
  report.fact("entries_above_diagonal", above.value_or(0) > 0 ? "above the diagonal" : "",
              above ? Cell(Count{*above}) : Cell(Absent{}));
  if (input.file.binsparse)
    for (const auto& [name, letters] : input.file.binsparse->attributes)
      report.fact("attribute_" + name, "attribute " + name, letters);
  report.fact("read_seconds", "read in", Seconds{input.seconds});
}

}  // namespace sporos::tool
