// SPDX-License-Identifier: BSD-3-Clause
// Blocks decoder: heads and words of lwy_blocks back to values, one a cycle. What no coder makes
// (impossible heads, words that are missing) gives zeros, and bad_o beside the last value.
module lwy_blocks_decoder #(
  parameter bit Outlier = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // A chunk: its step and number of values. Taken when the one before is done with.
  input  logic        chunk_valid_i,
  output logic        chunk_ready_o,
  input  logic [31:0] step_i,
  input  logic [31:0] values_i,      // at least 1
  input  logic        head_valid_i,
  output logic        head_ready_o,
  input  logic [7:0]  head_i,
  input  logic        word_valid_i,
  output logic        word_ready_o,
  input  logic [31:0] word_i,
  input  logic [2:0]  word_bytes_i,
  input  logic        word_last_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] y_o,
  output logic        last_o,
  output logic        bad_o
);
  localparam int unsigned Latency = 5;

  logic        start, open_q, is_idle, is_dropped;
  logic [31:0] step_q;
  logic [31:0] to_load_q, to_emit_q;  // values of blocks not yet loaded, and not yet on their way
  assign chunk_ready_o = !open_q;
  assign start         = chunk_valid_i && chunk_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b0;
    else open_q <= start || (open_q && !is_dropped);
  end
  always_ff @(posedge clk_i) if (start) step_q <= step_i;

  // The words of a block, item by item: the first magnitude, signs, planes.
  logic [31:0] item;
  logic        item_valid, item_short, takes, is_done;
  logic [2:0]  bytes_wanted;
  lwy_split_bytes u_split (
    .clk_i, .rst_ni, .valid_i(word_valid_i), .ready_o(word_ready_o), .word_i,
    .bytes_i(word_bytes_i), .last_i(word_last_i), .bytes_wanted_i(bytes_wanted),
    .valid_o(item_valid), .short_o(item_short), .take_i(takes && item_valid), .item_o(item),
    .drop_i(is_done), .dropped_o(is_dropped)
  );
  assign is_done = open_q && to_emit_q == 32'd0 && is_idle;

  // A head.
  logic       is_apart, is_long, is_possible, gets_head;
  logic [4:0] planes;
  assign is_apart    = Outlier && head_i[7];
  assign is_long     = head_i[5];
  assign planes      = head_i[4:0];
  assign is_possible = planes <= 5'd16 && (is_apart ? !head_i[6] : head_i[7:5] == 3'd0);

  // Loading.
  logic [31:0] load_q[17];  // planes; 16: signs
  logic [15:0] apart_q;
  logic [4:0]  next_q, planes_q;
  logic        loading_q, full_q, has_apart_q, is_apart_q, is_long_q, bad_q, unloads;
  assign head_ready_o = open_q && !loading_q && !full_q && to_load_q != 32'd0;
  assign gets_head    = head_valid_i && head_ready_o;
  assign bytes_wanted = !is_apart_q ? 3'd4 : is_long_q ? 3'd2 : 3'd1;
  assign takes        = loading_q && (item_valid || item_short);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loading_q <= 1'b0;
      full_q    <= 1'b0;
    end else begin
      if (gets_head) begin
        loading_q <= is_possible && (is_apart || planes != 5'd0);
        full_q    <= !(is_possible && (is_apart || planes != 5'd0));
      end else if (takes && !is_apart_q && next_q == planes_q) begin
        loading_q <= 1'b0;
        full_q    <= 1'b1;
      end else if (unloads) begin
        full_q <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      bad_q     <= 1'b0;
      to_load_q <= values_i;
    end
    if (gets_head) begin
      if (!is_possible) bad_q <= 1'b1;
      to_load_q   <= (to_load_q < 32'd32) ? 32'd0 : to_load_q - 32'd32;
      next_q      <= 5'd31;  // the signs, then plane 0
      planes_q    <= planes - 5'd1;
      has_apart_q <= is_possible && is_apart;
      is_apart_q  <= is_possible && is_apart;
      is_long_q   <= is_long;
      for (int k = 0; k < 17; k++) load_q[k] <= 32'd0;
    end else if (takes) begin
      if (item_short) bad_q <= 1'b1;
      is_apart_q <= 1'b0;
      if (is_apart_q) begin
        apart_q <= item_short ? 16'd0 : {is_long_q ? item[15:8] : 8'd0, item[7:0]};
      end else begin
        next_q <= next_q + 5'd1;
        // The first code stands in the high bit of the first byte.
        for (int k = 0; k < 17; k++)
          if (next_q == ((k == 16) ? 5'd31 : 5'(k)))
            load_q[k] <= item_short ? 32'd0 : {item[7:0], item[15:8], item[23:16], item[31:24]};
      end
    end
  end

  // Emitting: a code a cycle.
  logic [31:0] emit_q[17];
  logic [15:0] first_q, magnitude;
  logic [5:0]  left_q;
  logic        is_first_q, has_first_q, may_start, emits;
  assign emits   = left_q != 6'd0 && may_start;
  assign unloads = full_q && (left_q == 6'd0 || (left_q == 6'd1 && emits));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q    <= 6'd0;
      to_emit_q <= 32'd0;
    end else begin
      // Values that are not yet loaded count until their block is.
      if (start) to_emit_q <= values_i;
      else if (emits) to_emit_q <= to_emit_q - 32'd1;
      if (unloads) left_q <= (block_values < 32'd32) ? block_values[5:0] : 6'd32;
      else if (emits) left_q <= left_q - 6'd1;
    end
  end
  logic [31:0] block_values;
  assign block_values = to_emit_q - 32'(emits);
  always_ff @(posedge clk_i) begin
    if (unloads) begin
      for (int k = 0; k < 17; k++) emit_q[k] <= load_q[k];
      first_q     <= apart_q;
      has_first_q <= has_apart_q;
      is_first_q  <= 1'b1;
    end else if (emits) begin
      for (int k = 0; k < 17; k++) emit_q[k] <= emit_q[k] << 1;
      is_first_q <= 1'b0;
    end
  end
  always_comb begin
    for (int k = 0; k < 16; k++) magnitude[k] = emit_q[k][31];
    if (is_first_q && has_first_q) magnitude = first_q;
  end

  // Sums, magnitudes, values.
  logic [15:0] sum_q, earlier, difference, magnitude1;
  logic        negative1, late, last_late, bad_late;
  assign earlier     = is_first_q ? 16'd0 : sum_q;
  assign difference = magnitude ^ {16{emit_q[16][31]}};
  always_ff @(posedge clk_i) if (emits) sum_q <= earlier + difference + 16'(emit_q[16][31]);
  lwy_pipe #(.Width(17)) u_magnitude (
    .clk_i, .data_i({sum_q[15], sum_q[15] ? -sum_q : sum_q}), .data_o({negative1, magnitude1})
  );
  logic [31:0] y;
  lwy_short_value u_value (
    .clk_i, .step_i(step_q), .negative_i(negative1), .magnitude_i(magnitude1), .value_o(y)
  );
  lwy_valid_pipe #(.N(Latency)) u_late (.clk_i, .rst_ni, .valid_i(emits), .valid_o(late));
  lwy_pipe #(.Width(2), .N(Latency)) u_last (
    .clk_i, .data_i({to_emit_q == 32'd1, bad_q}), .data_o({last_late, bad_late})
  );
  lwy_outbox #(.Width(34), .Depth(16)) u_outbox (
    .clk_i, .rst_ni, .start_i(emits), .may_start_o(may_start), .is_idle_o(is_idle),
    .valid_i(late), .data_i({last_late, bad_late, y}), .valid_o, .ready_i,
    .data_o({last_o, bad_o, y_o})
  );
endmodule
