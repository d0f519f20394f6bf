// SPDX-License-Identifier: BSD-3-Clause
// Ratio: the step of the next chunk, from what the last one took: 2^(B - T) times its step, where B
// bits a value came out and T are wanted [Zhang et al., ICS 2022, equation 1]. Steps are powers of
// 2^(1/64), rounded to eight significant bits; the bound of a chunk is (1 + 2^-8) / 2 times its
// step. The sum of all B - T, divided by 8, is added each time, so that what a bad beginning has
// cost comes back.
module lwy_ratio (
  input  logic               clk_i,
  input  logic               rst_ni,
  // In units of 1/64: log2 of the first step and of the least and the largest, and bits a value.
  input  logic               load_i,
  input  logic signed [14:0] log_first_i,
  input  logic signed [14:0] log_least_i,   // above -100
  input  logic signed [14:0] log_most_i,    // below 100
  input  logic        [10:0] target_i,
  // A chunk has left.
  input  logic               end_i,         // while not busy
  input  logic               bad_i,         // as if it had taken 8 bits more than wanted
  input  logic        [31:0] bytes_i,
  input  logic        [23:0] values_i,
  output logic               busy_o,        // 42 cycles
  output logic        [31:0] step_o,        // f32
  output logic        [31:0] inverse_o,     // f32(1 / step)
  output logic        [30:0] limit_o        // of the error: just below the bound
);
  // Bits a value, times 64: 41 bits by 24, the highest of the quotient first; it has 11, or is cut.
  logic [40:0] dividend_q;
  logic [23:0] rest_q, divisor_q;
  logic [24:0] with_one;
  logic [10:0] quotient_q;
  logic [5:0]  step_q;
  logic        divides, is_large_q, bad_q, ends_q;
  assign with_one = {rest_q, dividend_q[40]};
  assign divides  = with_one >= {1'b0, divisor_q};
  assign busy_o   = step_q != 6'd0 || ends_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= 6'd0;
      ends_q <= 1'b0;
    end else begin
      ends_q <= step_q == 6'd1;
      if (end_i) step_q <= 6'd41;
      else if (step_q != 6'd0) step_q <= step_q - 6'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (end_i) begin
      dividend_q <= {bytes_i, 9'd0};
      divisor_q  <= values_i;
      rest_q     <= 24'd0;
      quotient_q <= 11'd0;
      is_large_q <= 1'b0;
      bad_q      <= bad_i;
    end else if (step_q != 6'd0) begin
      dividend_q <= dividend_q << 1;
      rest_q     <= 24'(divides ? with_one - {1'b0, divisor_q} : with_one);
      quotient_q <= {quotient_q[9:0], divides};
      is_large_q <= is_large_q || quotient_q[10];
    end
  end

  // At most 8 bits up or down at once, and 16 together.
  localparam logic signed [14:0] Most = 15'sd512, MostSum = 15'sd1024;
  logic signed [14:0] log_q, sum_q, change, cut, sum, next;
  always_comb begin
    change = $signed({4'd0, quotient_q}) - $signed({4'd0, target_i});
    cut = (change < -Most) ? -Most : (change > Most || is_large_q || bad_q) ? Most : change;
    sum = sum_q + cut;
    if (sum < -MostSum) sum = -MostSum;
    if (sum > MostSum) sum = MostSum;
    next = log_q + cut + (sum >>> 3);
    if (next < log_least_i) next = log_least_i;
    if (next > log_most_i) next = log_most_i;
  end
  always_ff @(posedge clk_i) begin
    if (load_i) {log_q, sum_q} <= {log_first_i, 15'd0};
    else if (ends_q) {log_q, sum_q} <= {next, sum};
  end

  // 2^(i / 64) as m / 128, and 1 / m: the bits of 2^7 / m or 2^8 / m behind the point.
  function automatic logic [7:0] mantissa_of(logic [5:0] i);
    case (i)
      6'd1: mantissa_of = 8'd129;
      6'd2: mantissa_of = 8'd131;
      6'd3: mantissa_of = 8'd132;
      6'd4: mantissa_of = 8'd134;
      6'd5: mantissa_of = 8'd135;
      6'd6: mantissa_of = 8'd137;
      6'd7: mantissa_of = 8'd138;
      6'd8: mantissa_of = 8'd140;
      6'd9: mantissa_of = 8'd141;
      6'd10: mantissa_of = 8'd143;
      6'd11: mantissa_of = 8'd144;
      6'd12: mantissa_of = 8'd146;
      6'd13: mantissa_of = 8'd147;
      6'd14: mantissa_of = 8'd149;
      6'd15: mantissa_of = 8'd151;
      6'd16: mantissa_of = 8'd152;
      6'd17: mantissa_of = 8'd154;
      6'd18: mantissa_of = 8'd156;
      6'd19: mantissa_of = 8'd157;
      6'd20: mantissa_of = 8'd159;
      6'd21: mantissa_of = 8'd161;
      6'd22: mantissa_of = 8'd162;
      6'd23: mantissa_of = 8'd164;
      6'd24: mantissa_of = 8'd166;
      6'd25: mantissa_of = 8'd168;
      6'd26: mantissa_of = 8'd170;
      6'd27: mantissa_of = 8'd171;
      6'd28: mantissa_of = 8'd173;
      6'd29: mantissa_of = 8'd175;
      6'd30: mantissa_of = 8'd177;
      6'd31: mantissa_of = 8'd179;
      6'd32: mantissa_of = 8'd181;
      6'd33: mantissa_of = 8'd183;
      6'd34: mantissa_of = 8'd185;
      6'd35: mantissa_of = 8'd187;
      6'd36: mantissa_of = 8'd189;
      6'd37: mantissa_of = 8'd191;
      6'd38: mantissa_of = 8'd193;
      6'd39: mantissa_of = 8'd195;
      6'd40: mantissa_of = 8'd197;
      6'd41: mantissa_of = 8'd200;
      6'd42: mantissa_of = 8'd202;
      6'd43: mantissa_of = 8'd204;
      6'd44: mantissa_of = 8'd206;
      6'd45: mantissa_of = 8'd208;
      6'd46: mantissa_of = 8'd211;
      6'd47: mantissa_of = 8'd213;
      6'd48: mantissa_of = 8'd215;
      6'd49: mantissa_of = 8'd218;
      6'd50: mantissa_of = 8'd220;
      6'd51: mantissa_of = 8'd222;
      6'd52: mantissa_of = 8'd225;
      6'd53: mantissa_of = 8'd227;
      6'd54: mantissa_of = 8'd230;
      6'd55: mantissa_of = 8'd232;
      6'd56: mantissa_of = 8'd235;
      6'd57: mantissa_of = 8'd237;
      6'd58: mantissa_of = 8'd240;
      6'd59: mantissa_of = 8'd243;
      6'd60: mantissa_of = 8'd245;
      6'd61: mantissa_of = 8'd248;
      6'd62: mantissa_of = 8'd251;
      6'd63: mantissa_of = 8'd253;
      default: mantissa_of = 8'd128;
    endcase
  endfunction
  function automatic logic [22:0] inverse_of(logic [5:0] i);
    case (i)
      6'd1: inverse_of = 23'h7e03f8;
      6'd2: inverse_of = 23'h7a232d;
      6'd3: inverse_of = 23'h783e10;
      6'd4: inverse_of = 23'h74898d;
      6'd5: inverse_of = 23'h72b9d6;
      6'd6: inverse_of = 23'h6f2eb7;
      6'd7: inverse_of = 23'h6d7304;
      6'd8: inverse_of = 23'h6a0ea1;
      6'd9: inverse_of = 23'h6865ac;
      6'd10: inverse_of = 23'h652598;
      6'd11: inverse_of = 23'h638e39;
      6'd12: inverse_of = 23'h607038;
      6'd13: inverse_of = 23'h5ee95c;
      6'd14: inverse_of = 23'h5beb62;
      6'd15: inverse_of = 23'h5901b2;
      6'd16: inverse_of = 23'h579436;
      6'd17: inverse_of = 23'h54c77b;
      6'd18: inverse_of = 23'h520d21;
      6'd19: inverse_of = 23'h50b6a0;
      6'd20: inverse_of = 23'h4e168a;
      6'd21: inverse_of = 23'h4b8728;
      6'd22: inverse_of = 23'h4a4588;
      6'd23: inverse_of = 23'h47ce0c;
      6'd24: inverse_of = 23'h4565c8;
      6'd25: inverse_of = 23'h430c31;
      6'd26: inverse_of = 23'h40c0c1;
      6'd27: inverse_of = 23'h3fa030;
      6'd28: inverse_of = 23'h3d6910;
      6'd29: inverse_of = 23'h3b3ee7;
      6'd30: inverse_of = 23'h392144;
      6'd31: inverse_of = 23'h370fbb;
      6'd32: inverse_of = 23'h3509e7;
      6'd33: inverse_of = 23'h330f63;
      6'd34: inverse_of = 23'h311fd4;
      6'd35: inverse_of = 23'h2f3ade;
      6'd36: inverse_of = 23'h2d602b;
      6'd37: inverse_of = 23'h2b8f6a;
      6'd38: inverse_of = 23'h29c84a;
      6'd39: inverse_of = 23'h280a81;
      6'd40: inverse_of = 23'h2655c4;
      6'd41: inverse_of = 23'h23d70a;
      6'd42: inverse_of = 23'h2237c3;
      6'd43: inverse_of = 23'h20a0a1;
      6'd44: inverse_of = 23'h1f1166;
      6'd45: inverse_of = 23'h1d89d9;
      6'd46: inverse_of = 23'h1b4c70;
      6'd47: inverse_of = 23'h19d723;
      6'd48: inverse_of = 23'h1868c8;
      6'd49: inverse_of = 23'h164fda;
      6'd50: inverse_of = 23'h14f209;
      6'd51: inverse_of = 23'h139a86;
      6'd52: inverse_of = 23'h11a2b4;
      6'd53: inverse_of = 23'h105a38;
      6'd54: inverse_of = 23'h0e7835;
      6'd55: inverse_of = 23'h0d3dcb;
      6'd56: inverse_of = 23'h0b7034;
      6'd57: inverse_of = 23'h0a42f8;
      6'd58: inverse_of = 23'h088889;
      6'd59: inverse_of = 23'h06d905;
      6'd60: inverse_of = 23'h05bf37;
      6'd61: inverse_of = 23'h042108;
      6'd62: inverse_of = 23'h028cc0;
      6'd63: inverse_of = 23'h01848e;
      default: inverse_of = 23'h000000;
    endcase
  endfunction
  logic [7:0]  mantissa, exponent;
  logic [22:0] inverse;
  logic [15:0] bound;
  assign mantissa = mantissa_of(log_q[5:0]);
  assign inverse  = inverse_of(log_q[5:0]);
  assign exponent = 8'd127 + 8'(log_q[13:6]);
  assign step_o   = {1'b0, exponent, mantissa[6:0], 16'd0};
  assign inverse_o = {1'b0, (mantissa == 8'd128) ? 8'd254 - exponent : 8'd253 - exponent, inverse};
  // The bound is m 257 / 2^16 beside the step's m / 128: 16 bits. The limit is the float below it.
  assign bound   = {mantissa, 8'd0} + {8'd0, mantissa};
  assign limit_o = {exponent - 8'd1, bound[14:0], 8'd0} - 31'd1;

  logic unused;
  assign unused = ^{log_q[14], bound[15], mantissa[7]};
endmodule
