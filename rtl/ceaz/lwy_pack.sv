// SPDX-License-Identifier: BSD-3-Clause
// Pack: bits into words from the low bit up. Behind the last bits of a stream the last byte is
// filled with zeros, and what is left leaves as a beat of 1 to 4 bytes marked last_o; if nothing is
// left, as one of no bytes.
module lwy_pack (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [15:0] bits_i,    // zeros above `count`
  input  logic [4:0]  count_i,   // up to 16
  input  logic        last_i,    // of a stream
  output logic        busy_o,    // a whole word, or the end of a stream, has not left
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] word_o,
  output logic [2:0]  bytes_o,
  output logic        last_o
);
  // Bits fill a half of a word, halves fill the word. At the end of a stream nothing enters, and
  // what is in the half under way counts as its last bits.
  logic [30:0] all;
  logic [15:0] half_q;
  logic [14:0] waiting_q;
  logic [4:0]  sum;
  logic [3:0]  used_q;
  logic        has_half_q, ends_q, enters, fills, leaves_last;
  assign ready_o     = (!valid_o || ready_i) && !ends_q;
  assign busy_o      = valid_o || ends_q;
  assign enters      = valid_i && ready_o;
  assign leaves_last = ends_q && (!valid_o || ready_i);
  assign all         = {16'd0, waiting_q} | ({15'd0, bits_i & {16{!ends_q}}} << used_q);
  assign sum         = {1'b0, used_q} + count_i;
  assign fills       = sum[4];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q  <= 15'd0;
      used_q     <= 4'd0;
      has_half_q <= 1'b0;
      ends_q     <= 1'b0;
      valid_o    <= 1'b0;
    end else begin
      if (!valid_o || ready_i) valid_o <= ends_q || (enters && fills && has_half_q);
      if (enters) begin
        waiting_q  <= fills ? all[30:16] : all[14:0];
        used_q     <= sum[3:0];
        has_half_q <= has_half_q ^ fills;
        ends_q     <= last_i;
      end else if (leaves_last) begin
        waiting_q  <= 15'd0;
        used_q     <= 4'd0;
        has_half_q <= 1'b0;
        ends_q     <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (enters && fills) half_q <= all[15:0];
    if (leaves_last || enters) begin
      word_o  <= has_half_q ? {all[15:0], half_q} : {16'd0, all[15:0]};
      bytes_o <= ends_q ? {1'b0, has_half_q, 1'b0} + 3'(used_q != 4'd0) + 3'(used_q > 4'd8) : 3'd4;
      last_o  <= ends_q;
    end
  end
endmodule
