// SPDX-License-Identifier: BSD-3-Clause
// Token: what a code is to a book (leeway/encode/adaptive.md): 12 and its place in the book's
// interval, or a class by the bits of its zigzag number, which then stands apart. Latency 1.
module lwy_token (
  input  logic        clk_i,
  input  logic        moves_i,
  input  logic [11:0] base_i,     // where the book's codewords begin
  input  logic [9:0]  low_i,      // of the interval, and 512
  input  logic [10:0] size_i,     // codes in the interval
  input  logic [15:0] code_i,
  output logic [11:0] address_o,  // of the codeword
  output logic [10:0] count_o,    // what is counted: a class from 0 on, or 12 and the code and 512
  output logic        apart_o,
  output logic [15:0] zigzag_o,
  output logic [4:0]  bits_o      // of the zigzag number, if it stands apart
);
  logic [15:0] symbol, place, zigzag;
  logic        is_inside;
  logic [2:0]  group;
  always_comb begin
    symbol = code_i + 16'd512;
    place = symbol - {6'd0, low_i};
    is_inside = place < {5'd0, size_i};
    zigzag = {code_i[14:0], 1'b0} ^ {16{code_i[15]}};
    group = 3'd0;  // 10 to 16 bits
    for (int k = 10; k < 16; k++) if (zigzag[k]) group = 3'(k - 9);
  end
  always_ff @(posedge clk_i) begin
    if (moves_i) begin
      address_o <= base_i + (is_inside ? place[11:0] + 12'd12 : {9'd0, group});
      count_o   <= (symbol[15:10] == 6'd0) ? {1'b0, symbol[9:0]} + 11'd12 : {8'd0, group};
      apart_o   <= !is_inside;
      zigzag_o  <= zigzag;
      bits_o    <= {2'b00, group} + 5'd10;
    end
  end
endmodule
