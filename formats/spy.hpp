// SPDX-License-Identifier: Apache-2.0
/// @file spy.hpp
/// Draws where the nonzeros of a tensor are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "../core/uint128.hpp"
#include "chunks.hpp"
#include "entries_of.hpp"
#include "io/image.hpp"
#include "spy_look.hpp"
#include "walk.hpp"

namespace sporos {

/// What a spy picture shows of a tensor.
struct SpyOptions {
  int pixels = 1000;    ///< longest side of the drawing, or of all panels together
  int slice_mode = -1;  ///< mode with a panel for each coordinate; -1: the shortest, from order 3 on
  int slices = 16;      ///< largest number of panels; with more coordinates, each panel sums a range
  bool caption = true;  ///< extents and number of nonzeros below the drawing
  bool axes = true;     ///< coordinates, from 0, left of and below the panels
  bool legend = true;   ///< how many nonzeros a colour stands for
};

namespace detail {

/// Counts of nonzeros in the cells of a grid of panels.
struct SpyCounts {
  int panels = 1, rows = 1, columns = 1;
  std::vector<std::uint64_t> cells;

  SpyCounts(int panel_count, int row_count, int column_count)
      : panels(panel_count),
        rows(row_count),
        columns(column_count),
        cells(static_cast<std::size_t>(panel_count) * static_cast<std::size_t>(row_count) *
              static_cast<std::size_t>(column_count)) {}

  std::uint64_t& at(int panel, int row, int column) {
    return cells[(static_cast<std::size_t>(panel) * static_cast<std::size_t>(rows) +
                  static_cast<std::size_t>(row)) *
                     static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(column)];
  }
};

/// How the modes are laid out: panels, cells and pixels.
struct SpyLayout {
  int row_mode = -1, column_mode = -1, slice_mode = -1;  ///< -1: no such mode
  std::int64_t row_extent = 1, column_extent = 1, slice_extent = 1;
  int panels = 1, panel_rows = 1, panel_columns = 1;
  int rows = 1, columns = 1;            ///< cells of a panel
  int cell_height = 1, cell_width = 1;  ///< pixels of a cell
  int label = 0;                        ///< height of the line above each panel

  template <std::size_t Order>
  SpyLayout(const std::array<std::int64_t, Order>& extents, const SpyOptions& options) {
    constexpr int order = static_cast<int>(Order);
    const auto extent = [&](int mode) {
      return mode < 0 ? 1 : std::max<std::int64_t>(extents[static_cast<std::size_t>(mode)], 1);
    };
    slice_mode = options.slice_mode;
    if (slice_mode < 0 && order > 2) {
      slice_mode = order - 1;
      for (int mode = order - 1; mode >= 0; --mode)
        if (extent(mode) < extent(slice_mode)) slice_mode = mode;
    }
    for (int mode = 0; mode < order; ++mode) {
      if (mode == slice_mode) continue;
      if (row_mode < 0 && order > 1)
        row_mode = mode;
      else if (column_mode < 0)
        column_mode = mode;
    }
    row_extent = extent(row_mode);
    column_extent = extent(column_mode);
    slice_extent = extent(slice_mode);
    panels = static_cast<int>(std::min<std::int64_t>(slice_extent, options.slices));
    arrange(options.pixels);
  }

 private:
  void arrange(int pixels) {
    if (slice_mode >= 0) label = Image::text_height(1) + 5;
    const auto height = static_cast<double>(row_extent);
    const auto width = static_cast<double>(column_extent);
    double scale = 0;  // pixels per coordinate, in the arrangement of panels that maximises this
    for (int across = 1; across <= panels; ++across) {
      const int down = (panels + across - 1) / across;
      const double fits = pixels / std::max(across * width, down * height);
      if (fits < scale) continue;  // the widest among equals
      scale = fits;
      panel_columns = across;
      panel_rows = down;
    }
    if (scale >= 1) {
      rows = static_cast<int>(row_extent);
      columns = static_cast<int>(column_extent);
      cell_height = cell_width = std::min(static_cast<int>(scale), SpyStyle::largest_cell);
    } else {
      rows = std::max(1, static_cast<int>(std::lround(height * scale)));
      columns = std::max(1, static_cast<int>(std::lround(width * scale)));
    }
    cell_height = std::max(cell_height, (SpyStyle::thinnest + rows - 1) / rows);
    cell_width = std::max(cell_width, (SpyStyle::thinnest + columns - 1) / columns);
  }
};

template <AnyTensor T>
SpyCounts spy_counts(const T& t, const SpyLayout& layout) {
  using F = typename T::format_type;
  using Value = typename T::value_type;
  SpyCounts counts(layout.panels, layout.rows, layout.columns);
  const Walk walk(t);
  const typename T::space_type space;
  const std::int64_t chunks = chunks_for(space, t.nnz(), 4);
  for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    const auto [begin, end] = chunk_bounds(t.nnz(), chunk, chunks);
    walk.visit(begin, end, [&](const Extents<T::order>& coordinate, const Value& value) {
      if (Structure<F>::padded && value == Value{}) return;
      const auto cell = [&](int mode, std::int64_t extent, int cells) {
        return mode < 0 ? 0 : spy_cell(coordinate[static_cast<std::size_t>(mode)], extent, cells);
      };
      auto& count = counts.at(cell(layout.slice_mode, layout.slice_extent, layout.panels),
                              cell(layout.row_mode, layout.row_extent, layout.rows),
                              cell(layout.column_mode, layout.column_extent, layout.columns));
      std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed);
    });
  });
  return counts;
}

/// "mode 2 = 5", "mode 2 = 8-15": the coordinates that a panel shows.
inline std::string spy_label(const SpyLayout& layout, int panel) {
  const auto first_of = [&](int at) {  // the least coordinate i with spy_cell(i) = at
    return layout.slice_extent <= layout.panels
               ? std::int64_t{at}
               : static_cast<std::int64_t>(
                     (static_cast<uint128>(at) * static_cast<uint128>(layout.slice_extent) +
                      static_cast<unsigned>(layout.panels - 1)) /
                     static_cast<unsigned>(layout.panels));
  };
  const std::int64_t first = first_of(panel);
  const std::int64_t last = first_of(panel + 1) - 1;
  std::string out = text("mode ", layout.slice_mode, " = ", first);
  return last > first ? out + text('-', last) : out;
}

}  // namespace detail

/// Draws where the nonzeros of a tensor are. A matrix is one panel, with rows downwards. A tensor of higher
/// order is a grid of panels, one for each coordinate of `slice_mode` or for each of some ranges of them; a
/// panel shows the first two of the other modes and sums over the rest. The more nonzeros a pixel stands for,
/// the darker it is, on a logarithmic scale; small tensors are drawn with several pixels per coordinate.
/// Ticks with coordinates from 0 are to the left of the panels and below them, a legend of the colours below
/// the caption. Stored zeros of dense formats are left out.
///
/// @throws ShapeError for a slice mode that the tensor does not have, or sizes that leave no room to draw
/// Cost: one pass over the values, in parallel.
template <AnyTensor T>
Image spy_image(const T& t, const SpyOptions& options = {}) {
  if constexpr (!HostSpace<typename T::space_type>) {
    return spy_image(t.template move_to<Host>(), options);
  } else {
    using Style = detail::SpyStyle;
    if (options.slice_mode >= T::order)
      throw ShapeError(text("spy is asked for slices along mode ", options.slice_mode,
                            " of a tensor of order ", T::order, ": modes are counted from 0"));
    if (options.pixels < 1 || options.pixels > 16384 || options.slices < 1)
      throw ShapeError(text("spy is asked for ", options.pixels, " pixels and ", options.slices,
                            " slices: give 1 to 16384 pixels and at least one slice"));
    const detail::SpyLayout layout(t.extents(), options);
    auto counts = detail::spy_counts(t, layout);
    std::uint64_t most = 0;
    std::uint64_t nonzeros = 0;
    for (const auto count : counts.cells) {
      most = std::max(most, count);
      nonzeros += count;
    }
    const int panel_width = layout.columns * layout.cell_width;
    const int panel_height = layout.rows * layout.cell_height;
    const std::string caption = options.caption
                                    ? text(to_string(t.extents()), ", ", static_cast<std::int64_t>(nonzeros),
                                           " nonzero", nonzeros == 1 ? "" : "s")
                                    : std::string();
    const int drawn_width = layout.panel_columns * (panel_width + Style::gap) - Style::gap;
    const int drawn_height = layout.panel_rows * (panel_height + layout.label + Style::gap) - Style::gap;
    const int scale = drawn_width >= 2 * Image::text_width(caption, 1) ? 2 : 1;
    const int tick_scale = std::max(panel_width, panel_height) >= Style::large_panel ? 2 : 1;
    const detail::SpyAxis down(options.axes && layout.row_mode >= 0 ? layout.row_extent : 0, layout.rows,
                               layout.cell_height, true, tick_scale);
    const detail::SpyAxis across(options.axes ? layout.column_extent : 0, layout.columns, layout.cell_width,
                                 false, tick_scale);
    const detail::SpyLegend legend(options.legend ? most : 0,
                                   layout.cell_width == 1 && layout.cell_height == 1 ? "pixel" : "cell");
    const int below = drawn_height + across.thickness() + 2 * Style::margin;  // where the caption begins
    const int caption_height = options.caption ? Image::text_height(scale) + Style::margin - 4 : 0;
    const int width =
        std::max({drawn_width + down.thickness(), Image::text_width(caption, scale), legend.width()}) +
        2 * Style::margin;
    Image image(width, below + caption_height + legend.height(), Style::paper);

    const int left = (width - drawn_width + down.thickness()) / 2;
    const int space =
        std::min(layout.cell_width, layout.cell_height) >= 6 ? 1 : 0;  // a line between large cells
    for (int panel = 0; panel < layout.panels; ++panel) {
      const int x = left + panel % layout.panel_columns * (panel_width + Style::gap);
      const int y = Style::margin + layout.label +
                    panel / layout.panel_columns * (panel_height + layout.label + Style::gap);
      if (layout.label > 0) {
        auto label = detail::spy_label(layout, panel);
        if (Image::text_width(label, 1) > panel_width + Style::gap - 4)
          label = label.substr(label.find('=') + 2);
        image.write(x, y - layout.label, label, 1, Style::ink);
      }
      image.fill(x, y, panel_width, panel_height, Style::field);
      image.frame(x, y, panel_width, panel_height, Style::border);
      if (panel % layout.panel_columns == 0) down.draw(image, x, y);
      if (panel + layout.panel_columns >= layout.panels) across.draw(image, x, y + panel_height);
      for (int row = 0; row < layout.rows; ++row)
        for (int column = 0; column < layout.columns; ++column)
          if (const auto count = counts.at(panel, row, column))
            image.fill(x + column * layout.cell_width, y + row * layout.cell_height,
                       layout.cell_width - space, layout.cell_height - space,
                       Style::shade(Style::share(count, most)));
    }
    image.write((width - Image::text_width(caption, scale)) / 2, below - 2, caption, scale, Style::ink);
    legend.draw(image, (width - legend.width()) / 2, below + caption_height - 2);
    return image;
  }
}

/// Writes the picture of spy_image to a PNG file, completely or not at all.
///
///     spy(A, "west0497.png");
///
/// @throws IoError if the file cannot be written
template <AnyTensor T>
void spy(const T& t, const std::string& path, const SpyOptions& options = {}) {
  spy_image(t, options).save(path);
}

}  // namespace sporos
