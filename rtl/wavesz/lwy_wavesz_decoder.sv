// SPDX-License-Identifier: BSD-3-Clause
// waveSZ decoder: what lwy_wavesz made back to values, in the same wavefront, a point a cycle.
module lwy_wavesz_decoder #(
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
  // Its points, in the order of the wavefront.
  input  logic               valid_i,
  output logic               ready_o,
  input  logic               coded_i,
  input  logic [15:0]        code_i,
  input  logic [31:0]        exact_i,       // the value, if it has no code
  // Values.
  output logic               valid_o,
  input  logic               ready_i,
  output logic [31:0]        y_o,
  output logic               last_o         // of the table
);
  localparam int unsigned Latency = 3 * Stages + 1;

  logic              start, busy, is_idle, may_start, point, done, takes;
  logic signed [9:0] step_exp_q;
  assign table_ready_o = !busy && is_idle;
  assign start         = table_valid_i && table_ready_o;
  always_ff @(posedge clk_i) if (start) step_exp_q <= step_exp_i;

  logic [31:0] left, above, corner, y;
  logic        keep, last;
  lwy_wave_table #(.Rows(Rows), .Latency(Latency)) u_table (
    .clk_i, .rst_ni, .start_i(start), .last_row_i, .last_place_i, .busy_o(busy),
    .may_start_i(may_start), .valid_i, .ready_o, .point_o(point), .keep_o(keep), .last_o(last),
    .left_o(left), .above_o(above), .corner_o(corner), .y_i(y), .done_o(done)
  );
  assign takes = valid_i && ready_o;

  // The prediction, as in lwy_pqd.
  logic [31:0] left_late, p;
  lwy_pipe #(.Width(32), .N(Stages)) u_left (.clk_i, .data_i(left), .data_o(left_late));
  lwy_predict #(.Stages(Stages)) u_predict (
    .clk_i, .above_i(above), .corner_i(corner), .left_i(left_late), .p_o(p)
  );

  // q 2^k comes beside it.
  logic [15:0] code_late;
  logic [14:0] magnitude;
  logic        negative;
  logic [31:0] jump, sum;
  lwy_pipe #(.Width(16), .N(2 * Stages - 1)) u_code (
    .clk_i, .data_i(code_i), .data_o(code_late)
  );
  lwy_pipe #(.Width(16)) u_magnitude (
    .clk_i,
    .data_i({code_late[15], code_late[15] ? -code_late[14:0] : code_late[14:0]}),
    .data_o({negative, magnitude})
  );
  lwy_pow2_value u_value (
    .clk_i, .step_exp_i(step_exp_q), .negative_i(negative), .magnitude_i(magnitude), .value_o(jump)
  );
  lwy_fadd #(.Stages(Stages)) u_sum (.clk_i, .a_i(p), .b_i(jump), .sum_o(sum));

  logic        coded_late, last_late;
  logic [31:0] exact_late;
  lwy_pipe #(.Width(33), .N(3 * Stages + 1)) u_exact (
    .clk_i, .data_i({coded_i, exact_i}), .data_o({coded_late, exact_late})
  );
  lwy_pipe #(.Width(32)) u_y (.clk_i, .data_i(coded_late ? sum : exact_late), .data_o(y));
  lwy_pipe #(.Width(1), .N(Latency)) u_last (.clk_i, .data_i(last), .data_o(last_late));
  lwy_outbox #(.Width(33), .Depth(32)) u_outbox (
    .clk_i, .rst_ni, .start_i(takes), .may_start_o(may_start), .is_idle_o(is_idle),
    .valid_i(done), .data_i({y, last_late}), .valid_o, .ready_i, .data_o({y_o, last_o})
  );

  logic unused;
  assign unused = point ^ keep;
endmodule
