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
  logic [46:0] waiting_q, all;
  logic [5:0]  used_q, sum;
  logic        ends_q, enters, fills, leaves_last;
  logic [3:0]  bytes_left;
  assign ready_o     = (!valid_o || ready_i) && !ends_q;
  assign busy_o      = valid_o || ends_q;
  assign enters      = valid_i && ready_o;
  assign leaves_last = ends_q && (!valid_o || ready_i);
  assign all         = waiting_q | {31'd0, bits_i} << used_q[4:0];
  assign sum         = used_q + {1'b0, count_i};
  assign fills       = sum[5];
  assign bytes_left  = {1'b0, used_q[5:3]} + 4'(used_q[2:0] != 3'd0);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= '0;
      used_q    <= 6'd0;
      ends_q    <= 1'b0;
      valid_o   <= 1'b0;
    end else begin
      if (!valid_o || ready_i) valid_o <= ends_q || (enters && fills);
      if (enters) begin
        waiting_q <= fills ? {32'd0, all[46:32]} : all;
        used_q    <= {1'b0, sum[4:0]};
        ends_q    <= last_i;
      end else if (leaves_last) begin
        waiting_q <= '0;
        used_q    <= 6'd0;
        ends_q    <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (leaves_last) begin
      word_o  <= waiting_q[31:0];
      bytes_o <= bytes_left[2:0];
      last_o  <= 1'b1;
    end else if (enters) begin
      word_o  <= all[31:0];
      bytes_o <= 3'd4;
      last_o  <= 1'b0;
    end
  end

  logic unused;
  assign unused = bytes_left[3];
endmodule
