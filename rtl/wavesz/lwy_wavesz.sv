// SPDX-License-Identifier: BSD-3-Clause
// waveSZ: one pipeline, a point a cycle. Tables of f32 come in the order of the wavefront, border
// included, and leave as codes, values kept exactly and what a decoder will have
// (docs/HARDWARE.md).
module lwy_wavesz #(
  parameter int unsigned Rows = 512,   // of a table, at most
  parameter int unsigned Stages = 7,   // of an adder: 7, or 5 for fewer rows without stalls
  localparam int unsigned RowBits = $clog2(Rows)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // A table. Taken when nothing of the one before is left inside.
  input  logic               table_valid_i,
  output logic               table_ready_o,
  input  logic [RowBits-1:0] last_row_i,    // rows less 1
  input  logic [31:0]        last_place_i,  // values of a row less 1
  input  logic signed [9:0]  step_exp_i,    // the step is 2^k, -100 < k < 100
  input  logic [30:0]        limit_i,       // of the error, as the bits of an f32
  // Its values.
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [31:0]        x_i,
  // Points.
  output logic               valid_o,
  input  logic               ready_i,
  output logic               coded_o,       // else y_o is the value, kept exactly
  output logic [15:0]        code_o,
  output logic [31:0]        y_o,
  output logic               last_o         // of the table
);
  localparam int unsigned Latency = 5 * Stages + 6;

  logic              start, busy, is_idle, may_start, point, done, takes;
  logic signed [9:0] step_exp_q;
  logic [30:0]       limit_q;
  assign table_ready_o = !busy && is_idle;
  assign start         = table_valid_i && table_ready_o;
  always_ff @(posedge clk_i) begin
    if (start) begin
      step_exp_q <= step_exp_i;
      limit_q    <= limit_i;
    end
  end

  logic [31:0] x_q, left, above, corner, y;
  logic [15:0] code;
  logic        keep, last, last_late, coded;
  lwy_wave_table #(.Rows(Rows), .Latency(Latency)) u_table (
    .clk_i, .rst_ni, .start_i(start), .last_row_i, .last_place_i, .busy_o(busy),
    .may_start_i(may_start), .valid_i, .ready_o, .point_o(point), .keep_o(keep), .last_o(last),
    .left_o(left), .above_o(above), .corner_o(corner), .y_i(y), .done_o(done)
  );
  assign takes = valid_i && ready_o;
  always_ff @(posedge clk_i) x_q <= x_i;

  logic [31:0] left_late, x_late;
  logic        keep_late;
  lwy_pipe #(.Width(65), .N(Stages)) u_late (
    .clk_i, .data_i({left, x_q, keep}), .data_o({left_late, x_late, keep_late})
  );
  lwy_pqd #(.Stages(Stages)) u_pqd (
    .clk_i, .step_exp_i(step_exp_q), .limit_i(limit_q), .above_i(above), .corner_i(corner),
    .left_i(left_late), .x_i(x_late), .keep_i(keep_late), .coded_o(coded), .code_o(code), .y_o(y)
  );
  lwy_pipe #(.Width(1), .N(Latency)) u_last (.clk_i, .data_i(last), .data_o(last_late));
  lwy_outbox #(.Width(50), .Depth(64)) u_outbox (
    .clk_i, .rst_ni, .start_i(takes), .may_start_o(may_start), .is_idle_o(is_idle),
    .valid_i(done), .data_i({coded, code, y, last_late}),
    .valid_o, .ready_i, .data_o({coded_o, code_o, y_o, last_o})
  );

  logic unused;
  assign unused = point;
endmodule
