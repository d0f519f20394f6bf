// SPDX-License-Identifier: BSD-3-Clause
// Difference: each value less the one so many places before it, modulo 2^16; values outside the
// array are 0. One of these for each axis is Lorenzo's rule on integers.
module lwy_difference #(
  parameter int unsigned Most = 512,  // the longest distance, a power of two
  localparam int unsigned PlaceBits = $clog2(Most)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      start_i,     // a new array; nothing is inside
  input  logic                      on_i,        // else nothing is subtracted
  input  logic [PlaceBits-1:0]      distance_i,  // less 1
  input  logic [31:0]               extent_i,    // less 1: of the axis
  input  logic                      moves_i,
  input  logic                      valid_i,
  input  logic [15:0]               value_i,
  output logic                      valid_o,
  output logic [15:0]               difference_o
);
  // Where the value is in its plane, and which plane it is, if planes have `distance` values.
  logic [PlaceBits-1:0] place_q;
  logic [31:0]          index_q;
  logic                 takes, is_first_q, has_one_q;
  assign takes = moves_i && valid_i;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      place_q <= '0;
      index_q <= 32'd0;
    end else if (takes) begin
      if (place_q == distance_i) begin
        place_q <= '0;
        index_q <= (index_q == extent_i) ? 32'd0 : index_q + 32'd1;
      end else begin
        place_q <= place_q + 1'b1;
      end
    end
  end

  // The memory is written a cycle after it is read. With a distance of 1 the value is still in the
  // register.
  logic [15:0]          memory[Most];
  logic [15:0]          value_q, read_q, earlier;
  logic [PlaceBits-1:0] place1_q;
  logic                 valid1_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid1_q <= 1'b0;
    else if (moves_i) valid1_q <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (moves_i) begin
      if (valid_i) read_q <= memory[place_q];
      if (valid1_q) memory[place1_q] <= value_q;
    end
  end
  logic [15:0] last_q;
  always_ff @(posedge clk_i) begin
    if (moves_i && valid_i) begin
      value_q    <= value_i;
      place1_q   <= place_q;
      is_first_q <= !on_i || index_q == 32'd0;
      has_one_q  <= distance_i == '0;
    end
    if (moves_i && valid1_q) last_q <= value_q;
  end
  always_comb begin
    if (is_first_q) earlier = 16'd0;
    else if (has_one_q) earlier = last_q;
    else earlier = read_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else if (moves_i) valid_o <= valid1_q;
  end
  always_ff @(posedge clk_i) if (moves_i && valid1_q) difference_o <= value_q - earlier;
endmodule
