// SPDX-License-Identifier: BSD-3-Clause
// Short value: n times a step of eight significant bits as f32, which is exact. Latency 3.
module lwy_short_value (
  input  logic        clk_i,
  input  logic [31:0] step_i,       // f32, of which the low 16 bits are 0
  input  logic        negative_i,
  input  logic [15:0] magnitude_i,
  output logic [31:0] value_o
);
  // The exponent of bit 23 of the product.
  logic [8:0] bias_q;
  always_ff @(posedge clk_i) bias_q <= {1'b0, step_i[30:23]} + 9'd16;

  logic [23:0] product, product1;
  logic        negative1, negative2;
  assign product = {8'd0, magnitude_i} * {16'd0, 1'b1, step_i[22:16]};
  lwy_pipe #(.Width(25)) u_product (
    .clk_i, .data_i({negative_i, product}), .data_o({negative1, product1})
  );

  // The leading one, by halves: by 16 and 8, then the rest.
  logic [23:0] by16, by8, by8_late, by4, by2, by1;
  logic [4:3]  zeros;
  logic [4:0]  zeros_late;
  logic [8:0]  exponent;
  always_comb begin
    zeros[4] = product1[23:8] == 16'd0;
    by16 = zeros[4] ? product1 << 16 : product1;
    zeros[3] = by16[23:16] == 8'd0;
    by8 = zeros[3] ? by16 << 8 : by16;
  end
  lwy_pipe #(.Width(27)) u_coarse (
    .clk_i, .data_i({negative1, zeros, by8}), .data_o({negative2, zeros_late[4:3], by8_late})
  );
  always_comb begin
    zeros_late[2] = by8_late[23:20] == 4'd0;
    by4 = zeros_late[2] ? by8_late << 4 : by8_late;
    zeros_late[1] = by4[23:22] == 2'd0;
    by2 = zeros_late[1] ? by4 << 2 : by4;
    zeros_late[0] = !by2[23];
    by1 = zeros_late[0] ? by2 << 1 : by2;
    exponent = bias_q - {4'd0, zeros_late};
  end
  lwy_pipe #(.Width(32)) u_value (
    .clk_i,
    .data_i(by1[23] ? {negative2, exponent[7:0], by1[22:0]} : 32'd0),
    .data_o(value_o)
  );

  logic unused;
  assign unused = ^{exponent[8], step_i[31], step_i[15:0]};
endmodule
