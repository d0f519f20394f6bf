// SPDX-License-Identifier: BSD-3-Clause
// Blocks: the block codec of CereSZ and cuSZp2, a value of f32 a cycle. Heads and words leave on
// two streams, which the payload has one behind the other (docs/HARDWARE.md).
module lwy_blocks #(
  parameter bit Outlier = 1'b0,        // cuSZp2's outlier mode
  parameter bit Pow2 = 1'b0,           // steps are powers of two: no multiplier
  parameter int unsigned Stages = 7    // of the adder
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // A chunk: step, f32(1 / step) and the limit of the error. Taken when all values of the one
  // before are quantized.
  input  logic        chunk_valid_i,
  output logic        chunk_ready_o,
  input  logic [31:0] step_i,
  input  logic [31:0] inverse_i,
  input  logic [30:0] limit_i,
  // Its values.
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] x_i,
  input  logic        last_i,
  // A head for every block.
  output logic        head_valid_o,
  input  logic        head_ready_i,
  output logic [7:0]  head_o,
  output logic        head_last_o,
  // Signs and planes; behind them a beat of 0 to 3 bytes that ends the chunk.
  output logic        word_valid_o,
  input  logic        word_ready_i,
  output logic [31:0] word_o,
  output logic [2:0]  word_bytes_o,
  output logic        word_last_o,
  output logic        word_bad_o       // beside the last: a value had no code; forget the chunk
);
  localparam int unsigned Latency = Pow2 ? 5 : Stages + 11;

  logic        open_q, start, opens_q, is_idle, may_start, takes, late;
  logic [31:0] step_q, inverse_q;
  logic [30:0] limit_q;
  assign chunk_ready_o = !open_q && !opens_q && is_idle;
  assign start         = chunk_valid_i && chunk_ready_o;
  assign ready_o       = open_q && may_start;
  assign takes         = valid_i && ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      opens_q <= 1'b0;
      open_q  <= 1'b0;
    end else begin
      opens_q <= start;  // a cycle for what follows from the step
      open_q  <= opens_q || (open_q && !(takes && last_i));
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      step_q    <= step_i;
      inverse_q <= inverse_i;
      limit_q   <= limit_i;
    end
  end

  logic [15:0] code, code_out;
  logic        has_code, bad_out, last_late, last_out, valid_out, ready_out;
  lwy_quantize #(.Stages(Stages), .Pow2(Pow2)) u_quantize (
    .clk_i, .step_i(step_q), .inverse_i(inverse_q), .limit_i(limit_q), .x_i,
    .has_code_o(has_code), .code_o(code)
  );
  lwy_valid_pipe #(.N(Latency)) u_valid (.clk_i, .rst_ni, .valid_i(takes), .valid_o(late));
  lwy_pipe #(.Width(1), .N(Latency)) u_last (.clk_i, .data_i(last_i), .data_o(last_late));
  lwy_outbox #(.Width(18), .Depth(32)) u_codes (
    .clk_i, .rst_ni, .start_i(takes), .may_start_o(may_start), .is_idle_o(is_idle),
    .valid_i(late), .data_i({!has_code, last_late, code}), .valid_o(valid_out),
    .ready_i(ready_out), .data_o({bad_out, last_out, code_out})
  );

  logic        item_valid, item_ready, item_last, item_bad;
  logic [31:0] item;
  logic [2:0]  item_bytes;
  lwy_planes #(.Outlier(Outlier)) u_planes (
    .clk_i, .rst_ni, .valid_i(valid_out), .ready_o(ready_out), .code_i(code_out),
    .bad_i(bad_out), .last_i(last_out), .head_valid_o, .head_ready_i, .head_o, .head_last_o,
    .item_valid_o(item_valid), .item_ready_i(item_ready), .item_o(item),
    .item_bytes_o(item_bytes), .item_last_o(item_last), .item_bad_o(item_bad)
  );
  if (Outlier) begin : g_join
    lwy_join_bytes u_join (
      .clk_i, .rst_ni, .valid_i(item_valid), .ready_o(item_ready), .item_i(item),
      .bytes_i(item_bytes), .last_i(item_last), .bad_i(item_bad), .valid_o(word_valid_o),
      .ready_i(word_ready_i), .word_o, .bytes_o(word_bytes_o), .last_o(word_last_o),
      .bad_o(word_bad_o)
    );
  end else begin : g_words
    assign word_valid_o = item_valid;
    assign item_ready   = word_ready_i;
    assign word_o       = item;
    assign word_bytes_o = item_bytes;
    assign word_last_o  = item_last;
    assign word_bad_o   = item_bad;
  end
endmodule
