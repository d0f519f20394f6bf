// SPDX-License-Identifier: BSD-3-Clause
// Predict: left + (above - corner), each operation rounded to f32. Latency 2 Stages; left_i comes
// Stages cycles after the other two.
module lwy_predict #(
  parameter int unsigned Stages = 7  // of an adder
) (
  input  logic        clk_i,
  input  logic [31:0] above_i,
  input  logic [31:0] corner_i,
  input  logic [31:0] left_i,
  output logic [31:0] p_o
);
  // The library adds 0 to what lies above, which makes +0 of -0.
  logic [31:0] above, corner, slope;
  assign above  = (above_i[30:0] == 31'd0) ? 32'd0 : above_i;
  assign corner = (corner_i[30:0] == 31'd0) ? 32'd0 : corner_i;
  lwy_fadd #(.Stages(Stages)) u_slope (
    .clk_i, .a_i(above), .b_i({!corner[31], corner[30:0]}), .sum_o(slope)
  );
  lwy_fadd #(.Stages(Stages)) u_p (.clk_i, .a_i(left_i), .b_i(slope), .sum_o(p_o));
endmodule
