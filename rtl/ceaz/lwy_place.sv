// SPDX-License-Identifier: BSD-3-Clause
// Place: where in its array a value is, along up to three axes of at least two values each.
module lwy_place #(
  parameter int unsigned RowBits = 10,
  parameter int unsigned PlaneBits = 14
) (
  input  logic                 clk_i,
  input  logic                 start_i,      // a new array
  input  logic [23:0]          row_i,        // less 1: values of a row
  input  logic [23:0]          rows_i,       // less 1: of a plane
  input  logic                 next_i,
  output logic [RowBits-1:0]   in_row_o,
  output logic [PlaneBits-1:0] in_plane_o,
  output logic                 is_first_x_o,  // of its row
  output logic                 is_first_y_o,  // in the first row of its plane
  output logic                 is_first_z_o   // in the first plane
);
  logic [23:0] x_q, y_q, row_q, rows_q;
  logic        ends_row, ends_plane;
  assign ends_row   = x_q == row_q;
  assign ends_plane = ends_row && y_q == rows_q;
  assign in_row_o   = x_q[RowBits-1:0];
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q        <= row_i;
      rows_q       <= rows_i;
      x_q          <= 24'd0;
      y_q          <= 24'd0;
      in_plane_o   <= '0;
      is_first_x_o <= 1'b1;
      is_first_y_o <= 1'b1;
      is_first_z_o <= 1'b1;
    end else if (next_i) begin
      x_q          <= ends_row ? 24'd0 : x_q + 24'd1;
      in_plane_o   <= ends_plane ? '0 : in_plane_o + 1'b1;
      is_first_x_o <= ends_row;
      if (ends_row) begin
        y_q          <= ends_plane ? 24'd0 : y_q + 24'd1;
        is_first_y_o <= ends_plane;
      end
      if (ends_plane) is_first_z_o <= 1'b0;
    end
  end
endmodule
