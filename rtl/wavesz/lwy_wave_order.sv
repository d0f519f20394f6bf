// SPDX-License-Identifier: BSD-3-Clause
// Wave order: the points of a table column by column of the wavefront. Column k has the points
// whose row and place in the row add up to k: HEAD (columns grow), BODY, TAIL (they shrink).
module lwy_wave_order #(
  parameter int unsigned RowBits = 9
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               start_i,        // a new table; not while busy
  input  logic [RowBits-1:0] last_row_i,     // rows less 1
  input  logic [31:0]        last_place_i,   // values of a row less 1
  input  logic               next_i,         // the point is done with
  output logic               busy_o,
  output logic [RowBits-1:0] row_o,          // of the point
  output logic               is_first_o,     // it is the first of its column
  output logic               is_left_o,      // it is the first of its row
  output logic               is_last_o,      // it is the last of the table
  output logic               is_odd_o,       // its column is
  output logic               has_above_o,    // its column does not begin at row 0
  // Between a point and its left neighbour are as many points as in the column before, or one more,
  // or one less: beside next_i, for the next column. In column 0 they are -1.
  output logic               is_farther_o,
  output logic               is_nearer_o
);
  // A column has rows first ... end.
  logic [RowBits-1:0] row_q, first_q, end_q, last_row_q;
  logic [RowBits-1:0] row, first, column_end;  // of the next point
  logic [31:0]        head_left_q;  // columns until the first row is left behind
  logic               busy_q, is_first_q, is_odd_q, ends_q, grows_q, is_tail_q, grows;
  assign grows      = end_q != last_row_q;
  assign first      = is_tail_q ? first_q + 1'b1 : first_q;  // of the next column
  assign row        = ends_q ? first : row_q + 1'b1;
  assign column_end = (ends_q && grows) ? end_q + 1'b1 : end_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else if (start_i) begin
      busy_q <= 1'b1;
    end else if (next_i && is_last_o) begin
      busy_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q       <= '0;
      first_q     <= '0;
      end_q       <= '0;
      last_row_q  <= last_row_i;
      head_left_q <= last_place_i;
      is_first_q  <= 1'b1;
      ends_q      <= 1'b1;
      is_odd_q    <= 1'b0;
      grows_q     <= 1'b1;
      is_tail_q   <= last_place_i == 32'd0;
    end else if (next_i) begin
      is_first_q <= ends_q;
      ends_q     <= row == column_end;
      row_q      <= row;
      end_q      <= column_end;
      if (ends_q) begin
        is_odd_q  <= !is_odd_q;
        first_q   <= first;
        grows_q   <= grows;
        if (!is_tail_q) head_left_q <= head_left_q - 32'd1;
        is_tail_q <= is_tail_q || head_left_q == 32'd1;
      end
    end
  end
  assign busy_o       = busy_q;
  assign row_o        = row_q;
  assign is_first_o   = is_first_q;
  assign is_left_o    = ends_q && grows_q;
  assign is_last_o    = is_tail_q && first_q == last_row_q;
  assign is_odd_o     = is_odd_q;
  assign has_above_o  = first_q != '0;
  assign is_farther_o = ends_q && grows_q && !is_tail_q;
  assign is_nearer_o  = ends_q && is_tail_q && !grows_q;
endmodule
