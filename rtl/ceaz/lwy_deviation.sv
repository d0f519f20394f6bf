// SPDX-License-Identifier: BSD-3-Clause
// Deviation: the standard deviation of counted codes in units of 2^-16, rounded down as the
// library does (leeway/encode/parts/book.cc): sqrt(n sum(s^2 c) - sum(s c)^2) / n, one bit a cycle.
//
// It does not matter where codes begin and which way they go, so sums of sums do for products: with
// a = c_0 + ... + c_s, sum(a) is the sum of distances from the last code, and 2 sum(sum(a)) -
// sum(a) that of their squares.
module lwy_deviation (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,      // forgets what was counted
  input  logic        valid_i,      // the count of a code, in their order
  input  logic        last_i,
  input  logic [19:0] count_i,      // together less than 2^20
  output logic        done_o,       // one cycle, 140 behind the last count
  output logic [24:0] deviation_o   // until the next is done
);
  logic [19:0] n_q;
  logic [29:0] sum_q;
  logic [39:0] sums_q;
  logic        valid1_q, valid2_q;
  always_ff @(posedge clk_i) begin
    valid1_q <= valid_i && !last_i;
    valid2_q <= valid1_q;
    if (start_i) begin
      n_q    <= 20'd0;
      sum_q  <= 30'd0;
      sums_q <= 40'd0;
    end else begin
      if (valid_i) n_q <= n_q + count_i;
      if (valid1_q) sum_q <= sum_q + {10'd0, n_q};
      if (valid2_q) sums_q <= sums_q + {10'd0, sum_q};
    end
  end

  // One after the other: n squares, sum^2, the root, the quotient.
  typedef enum logic [2:0] {Idle, Wait, First, Second, Less, Root, Divide} state_e;
  state_e      state_q;
  logic [5:0]  step_q;
  logic [39:0] factor_q;                 // added where a bit of the other factor is 1
  logic [29:0] bits_q;                   // the other factor, the next bit highest
  logic [61:0] work_q;                   // products; then bits to come, and the remainder
  logic [57:0] product_q;
  logic [30:0] root_q;
  logic [44:0] dividend_q;
  logic [19:0] rest_q;
  logic [30:0] remainder_q;
  logic [32:0] with_two, trial;
  logic [20:0] with_one;
  logic        fits, divides;
  assign with_two = {remainder_q, work_q[61:60]};
  assign trial    = {root_q, 2'b01};
  assign fits     = with_two >= trial;
  assign with_one = {rest_q, dividend_q[44]};
  assign divides  = with_one >= {1'b0, n_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      done_o  <= 1'b0;
    end else begin
      done_o <= state_q == Divide && step_q == 6'd0;
      case (state_q)
        Idle:   if (valid_i && last_i) state_q <= Wait;
        Wait:   if (step_q == 6'd0) state_q <= First;
        First:  if (step_q == 6'd0) state_q <= Second;
        Second: if (step_q == 6'd0) state_q <= Less;
        Less:   state_q <= Root;
        Root:   if (step_q == 6'd0) state_q <= Divide;
        default: if (step_q == 6'd0) state_q <= Idle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    step_q <= step_q - 6'd1;
    case (state_q)
      Idle: step_q <= 6'd3;
      Wait: if (step_q == 6'd0) begin
        step_q   <= 6'd19;
        factor_q <= {sums_q[38:0], 1'b0} - {10'd0, sum_q};
        bits_q   <= {n_q, 10'd0};
        work_q   <= 62'd0;
      end
      First, Second: begin
        bits_q <= bits_q << 1;
        work_q <= {work_q[60:0], 1'b0} + {22'd0, bits_q[29] ? factor_q : 40'd0};
        if (state_q == First && step_q == 6'd0) begin
          step_q    <= 6'd29;
          product_q <= 58'({work_q[60:0], 1'b0} + {22'd0, bits_q[29] ? factor_q : 40'd0});
          work_q    <= 62'd0;
          factor_q  <= {10'd0, sum_q};
          bits_q    <= sum_q;
        end
      end
      Less: begin
        step_q      <= 6'd30;
        work_q      <= {product_q - work_q[57:0], 4'd0};
        remainder_q <= 31'd0;
        root_q      <= 31'd0;
      end
      Root: begin
        work_q      <= work_q << 2;
        remainder_q <= 31'(fits ? with_two - trial : with_two);
        root_q      <= {root_q[29:0], fits};
        if (step_q == 6'd0) begin
          step_q     <= 6'd44;
          dividend_q <= {root_q[29:0], fits, 14'd0};
          rest_q     <= 20'd0;
        end
      end
      default: begin
        dividend_q  <= dividend_q << 1;
        rest_q      <= 20'(divides ? with_one - {1'b0, n_q} : with_one);
        deviation_o <= {deviation_o[23:0], divides && n_q != 20'd0};
      end
    endcase
  end
endmodule
