// SPDX-License-Identifier: BSD-3-Clause
// Quantize: the code of a value in the arithmetic of f32 alone, checked against the bound. The step
// has eight significant bits, or is a power of two: then there is neither a multiplier nor an adder
// of f32. Latency Stages + 11, of a power of two 5.
module lwy_quantize #(
  parameter int unsigned Stages = 7,  // of an adder
  parameter bit Pow2 = 1'b0
) (
  input  logic        clk_i,
  input  logic [31:0] step_i,     // f32
  input  logic [31:0] inverse_i,  // f32(1 / step)
  input  logic [30:0] limit_i,    // of the error, as the bits of an f32
  input  logic [31:0] x_i,
  output logic        has_code_o,
  output logic [15:0] code_o
);
  logic        has_code, negative, has_code_late, is_within;
  logic [14:0] magnitude;
  logic [15:0] signed_code, code_late;
  assign signed_code = negative ? -{1'b0, magnitude} : {1'b0, magnitude};

  if (Pow2) begin : g_pow2
    logic signed [9:0] step_exp;
    logic [24:0]       fraction;
    assign step_exp = {2'b00, step_i[30:23]} - 10'd127;
    lwy_pow2_code u_code (
      .clk_i, .step_exp_i(step_exp), .difference_i(x_i), .fraction_o(fraction),
      .has_code_o(has_code), .negative_o(negative), .magnitude_o(magnitude)
    );
    lwy_pow2_check u_check (
      .clk_i, .step_exp_i(step_i[30:23]), .limit_i, .fraction_i(fraction), .is_within_o(is_within)
    );
    assign {has_code_late, code_late} = {has_code, signed_code};
    logic unused;
    assign unused = ^{step_i[31], step_i[22:0], inverse_i};
  end else begin : g_short
    localparam int unsigned CodeStages = 7;
    localparam int unsigned ValueStages = 3;
    logic [31:0] x_late, y, error;
    lwy_short_code u_code (
      .clk_i, .inverse_i, .x_i, .has_code_o(has_code), .negative_o(negative),
      .magnitude_o(magnitude)
    );
    lwy_short_value u_value (
      .clk_i, .step_i, .negative_i(negative), .magnitude_i({1'b0, magnitude}), .value_o(y)
    );
    lwy_pipe #(.Width(32), .N(CodeStages + ValueStages)) u_x (
      .clk_i, .data_i(x_i), .data_o(x_late)
    );
    lwy_fadd #(.Stages(Stages)) u_error (
      .clk_i, .a_i(x_late), .b_i({!y[31], y[30:0]}), .sum_o(error)
    );
    assign is_within = error[30:0] <= limit_i;
    lwy_pipe #(.Width(17), .N(ValueStages + Stages)) u_code_late (
      .clk_i, .data_i({has_code, signed_code}), .data_o({has_code_late, code_late})
    );
    logic unused;
    assign unused = error[31];
  end

  lwy_pipe #(.Width(17)) u_check (
    .clk_i, .data_i({has_code_late && is_within, code_late}), .data_o({has_code_o, code_o})
  );
endmodule
