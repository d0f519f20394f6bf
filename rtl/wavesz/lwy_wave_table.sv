// SPDX-License-Identifier: BSD-3-Clause
// Wave table: says when a point of the wavefront may start, and what its neighbours are decoded to.
// Whoever computes the point hands its value back Latency cycles after point_o.
//
// Decoded values of the last two columns wait in two memories, one for even columns, one for odd
// ones. The word of row r gives the left neighbour; the words of row r - 1, read for the point
// before, give those above. A point may start while no more points are on their way than stand
// between it and its left neighbour: then that has arrived, however often anybody had to wait.
module lwy_wave_table #(
  parameter int unsigned Rows = 512,  // of a table, at most
  parameter int unsigned Latency = 41,
  localparam int unsigned RowBits = $clog2(Rows)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               start_i,       // a new table; not while busy
  input  logic [RowBits-1:0] last_row_i,    // rows less 1
  input  logic [31:0]        last_place_i,  // values of a row less 1
  output logic               busy_o,
  input  logic               may_start_i,   // there is room for what comes out
  input  logic               valid_i,       // what the point needs from outside is there
  output logic               ready_o,
  // The cycle after it was taken:
  output logic               point_o,
  output logic               keep_o,        // on the border: kept exactly
  output logic               last_o,        // of the table
  output logic [31:0]        left_o,
  output logic [31:0]        above_o,
  output logic [31:0]        corner_o,
  // Latency cycles later:
  input  logic [31:0]        y_i,
  output logic               done_o
);
  localparam int unsigned CountBits = (RowBits > 7) ? RowBits + 1 : 8;

  logic [RowBits-1:0] row;
  logic               busy, is_first, is_left, is_last, is_odd, has_above, is_farther, is_nearer;
  logic               takes;
  lwy_wave_order #(.RowBits(RowBits)) u_order (
    .clk_i, .rst_ni, .start_i, .last_row_i, .last_place_i, .next_i(takes), .busy_o(busy),
    .row_o(row), .is_first_o(is_first), .is_left_o(is_left), .is_last_o(is_last),
    .is_odd_o(is_odd), .has_above_o(has_above), .is_farther_o(is_farther), .is_nearer_o(is_nearer)
  );
  assign busy_o = busy;

  // Points that stand between the next one and its left neighbour, less those on their way. The
  // first of a row has no such neighbour. In TAIL a column begins with a look at the row above its
  // first.
  logic [CountBits-1:0] slack_q, more, less;
  logic                 may, looks, looked_q;
  assign may     = busy && may_start_i && (is_left || !slack_q[CountBits-1]);
  assign looks   = may && is_first && has_above && !looked_q;
  assign ready_o = may && !looks;
  assign takes   = ready_o && valid_i;
  assign more    = CountBits'(done_o) + CountBits'(takes && is_farther);
  assign less    = CountBits'(takes) + CountBits'(takes && is_nearer);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slack_q  <= '1;
      looked_q <= 1'b0;
    end else begin
      slack_q  <= start_i ? '1 : slack_q + more - less;
      looked_q <= looks || (looked_q && !takes);
    end
  end

  // The last two columns.
  logic [31:0]        even[Rows];
  logic [31:0]        odd[Rows];
  logic [31:0]        even_q, odd_q, last_column, column_before;
  logic [RowBits-1:0] address, row_q, row_late;
  logic               point_q, is_odd_q, is_odd_late, reads, read_q;
  assign reads   = takes || looks;
  assign address = looks ? row - 1'b1 : row;
  always_ff @(posedge clk_i) begin
    if (reads) even_q <= even[address];
    if (done_o && !is_odd_late) even[row_late] <= y_i;
  end
  always_ff @(posedge clk_i) begin
    if (reads) odd_q <= odd[address];
    if (done_o && is_odd_late) odd[row_late] <= y_i;
  end

  // What was read last stays as what lies above the next point.
  assign last_column   = is_odd_q ? even_q : odd_q;
  assign column_before = is_odd_q ? odd_q : even_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      point_q <= 1'b0;
      read_q  <= 1'b0;
    end else begin
      point_q <= takes;
      read_q  <= reads;
    end
  end
  always_ff @(posedge clk_i) begin
    row_q    <= row;
    is_odd_q <= is_odd;
    keep_o   <= is_left || row == '0;
    last_o   <= is_last;
    if (read_q) {above_o, corner_o} <= {last_column, column_before};
  end
  assign point_o = point_q;
  assign left_o  = last_column;

  // Where the value goes.
  lwy_pipe #(.Width(RowBits + 1), .N(Latency)) u_place (
    .clk_i, .data_i({row_q, is_odd_q}), .data_o({row_late, is_odd_late})
  );
  lwy_valid_pipe #(.N(Latency)) u_done (.clk_i, .rst_ni, .valid_i(point_q), .valid_o(done_o));
endmodule
