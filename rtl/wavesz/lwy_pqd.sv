// SPDX-License-Identifier: BSD-3-Clause
// PQD: prediction, quantization and decompression of one point of waveSZ [Tian et al., PPoPP 2020],
// a point a cycle. With neighbours as they are decoded and every operation rounded to f32:
//
//   p = left + (above - corner)    q = round((x - p) / 2^k)    y = p + q 2^k    |x - y| <= limit
//
// Latency 5 Stages + 6; left_i and x_i come Stages cycles after above_i and corner_i.
module lwy_pqd #(
  parameter int unsigned Stages = 7  // of an adder
) (
  input  logic              clk_i,
  input  logic signed [9:0] step_exp_i,  // k
  input  logic [30:0]       limit_i,     // as the bits of an f32
  input  logic [31:0]       above_i,
  input  logic [31:0]       corner_i,
  input  logic [31:0]       left_i,
  input  logic [31:0]       x_i,
  input  logic              keep_i,      // beside x_i: it is kept exactly, whatever comes out
  output logic              coded_o,     // else it is kept exactly
  output logic [15:0]       code_o,      // 0 if there is none
  output logic [31:0]       y_o          // what a decoder will have
);
  localparam int unsigned CodeStages = 5;  // from the difference to q 2^k

  logic [31:0] p, p_late;
  lwy_predict #(.Stages(Stages)) u_predict (
    .clk_i, .above_i, .corner_i, .left_i, .p_o(p)
  );

  // The code.
  logic [31:0] x1, difference;
  logic        has_code, negative;
  logic [14:0] magnitude;
  logic [24:0] fraction;
  lwy_pipe #(.Width(32), .N(Stages)) u_x1 (.clk_i, .data_i(x_i), .data_o(x1));
  lwy_fadd #(.Stages(Stages)) u_difference (
    .clk_i, .a_i(x1), .b_i({!p[31], p[30:0]}), .sum_o(difference)
  );
  lwy_pow2_code u_code (
    .clk_i, .step_exp_i, .difference_i(difference), .fraction_o(fraction),
    .has_code_o(has_code), .negative_o(negative), .magnitude_o(magnitude)
  );

  // What the decoder will make of it.
  logic [31:0] jump, y;
  lwy_pow2_value u_value (
    .clk_i, .step_exp_i, .negative_i(negative), .magnitude_i(magnitude), .value_o(jump)
  );
  lwy_pipe #(.Width(32), .N(Stages + CodeStages)) u_p_late (.clk_i, .data_i(p), .data_o(p_late));
  lwy_fadd #(.Stages(Stages)) u_y (.clk_i, .a_i(p_late), .b_i(jump), .sum_o(y));

  // How far off.
  logic [31:0] x2, x3, error, y_late;
  logic [15:0] signed_code, code_late;
  logic        has_code_late, keep_late;
  lwy_pipe #(.Width(32), .N(2 * Stages + CodeStages)) u_x2 (.clk_i, .data_i(x1), .data_o(x2));
  lwy_fadd #(.Stages(Stages)) u_error (
    .clk_i, .a_i(x2), .b_i({!y[31], y[30:0]}), .sum_o(error)
  );
  assign signed_code = negative ? -{1'b0, magnitude} : {1'b0, magnitude};
  lwy_pipe #(.Width(17), .N(2 * Stages + 1)) u_code_late (
    .clk_i, .data_i({has_code, signed_code}), .data_o({has_code_late, code_late})
  );
  lwy_pipe #(.Width(32), .N(Stages)) u_y_late (.clk_i, .data_i(y), .data_o(y_late));
  lwy_pipe #(.Width(32), .N(Stages)) u_x3 (.clk_i, .data_i(x2), .data_o(x3));
  lwy_pipe #(.Width(1), .N(4 * Stages + CodeStages)) u_keep (
    .clk_i, .data_i(keep_i), .data_o(keep_late)
  );
  logic coded;
  assign coded = has_code_late && !keep_late && error[30:0] <= limit_i;
  lwy_pipe #(.Width(49)) u_choice (
    .clk_i,
    .data_i({coded, coded ? code_late : 16'd0, coded ? y_late : x3}),
    .data_o({coded_o, code_o, y_o})
  );

  logic unused;
  assign unused = ^{error[31], fraction};
endmodule
