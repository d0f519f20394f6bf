// SPDX-License-Identifier: BSD-3-Clause
// Book tree: depths of a Huffman tree from sorted leaves, with two queues: the leaves, and inner
// nodes in the order in which they are made. Four cycles an inner node, then three to find its
// depth, and one a leaf. Depths are cut at 12.
module lwy_book_tree (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        put_i,        // a leaf
  input  logic [10:0] put_place_i,
  input  logic [10:0] put_token_i,
  input  logic [19:0] put_count_i,
  input  logic        start_i,      // all leaves are here
  input  logic [10:0] tokens_i,
  output logic        done_o,       // one cycle, with the last depth or later
  output logic        depth_valid_o,
  output logic [10:0] depth_place_o,  // from 0 on
  output logic [3:0]  depth_o,
  // The token at a place, a cycle later; not while there is work.
  input  logic [10:0] place_i,
  output logic [10:0] token_o
);
  typedef enum logic [3:0] {
    Idle, ReadA, PickA, ReadB, PickB, Parent, Above, Below, Leaves, Drain
  } state_e;
  state_e state_q;

  logic [30:0] leaves[2048];        // tokens and counts
  logic [20:0] weights[2048];       // of inner nodes
  logic [10:0] leaf_parents[2048];
  logic [10:0] inner_parents[2048];
  logic [3:0]  depths[2048];        // of inner nodes
  logic [30:0] leaf;
  logic [20:0] weight, leaf_weight, lightest, weight_q;
  logic [10:0] leaf_q, inner_q, made_q, leaf_parent, inner_parent, leaf_address, depth_address;
  logic [3:0]  depth;
  logic        picks, takes_leaf;
  assign leaf_weight = {1'b0, leaf[19:0]};
  assign picks       = state_q == PickA || state_q == PickB;
  assign takes_leaf  = leaf_q != tokens_i && (inner_q == made_q || leaf_weight <= weight);
  assign lightest    = takes_leaf ? leaf_weight : weight;
  assign leaf_address  = (state_q == Idle) ? place_i : leaf_q;
  assign depth_address = (state_q == Above) ? inner_parent : leaf_parent;
  assign token_o       = leaf[30:20];
  always_ff @(posedge clk_i) begin
    leaf <= leaves[leaf_address];
    if (put_i) leaves[put_place_i] <= {put_token_i, put_count_i};
  end
  always_ff @(posedge clk_i) begin
    weight <= weights[inner_q];
    if (state_q == PickB) weights[made_q] <= weight_q + lightest;
  end
  always_ff @(posedge clk_i) begin
    leaf_parent <= leaf_parents[leaf_q];
    if (picks && takes_leaf) leaf_parents[leaf_q] <= made_q;
  end
  always_ff @(posedge clk_i) begin
    inner_parent <= inner_parents[inner_q];
    if (picks && !takes_leaf) inner_parents[inner_q] <= made_q;
  end
  logic       ends_tree;  // the root is made
  logic [3:0] deeper;
  assign ends_tree = state_q == PickB && made_q == tokens_i - 11'd2;
  assign deeper    = (depth == 4'd12) ? 4'd12 : depth + 4'd1;
  always_ff @(posedge clk_i) begin
    depth <= depths[depth_address];
    if (ends_tree) depths[made_q] <= 4'd0;
    else if (state_q == Below) depths[inner_q] <= deeper;
  end

  logic [1:0]  is_leaf_q;  // on its way through the two memories
  logic [10:0] place1_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      is_leaf_q <= 2'b00;
      done_o    <= 1'b0;
    end else begin
      is_leaf_q <= {is_leaf_q[0], state_q == Leaves};
      done_o    <= state_q == Drain && is_leaf_q == 2'b00;
      case (state_q)
        Idle:   if (start_i) state_q <= ReadA;
        ReadA:  state_q <= PickA;
        PickA:  state_q <= ReadB;
        ReadB:  state_q <= PickB;
        PickB:  state_q <= ends_tree ? Parent : ReadA;
        Parent: state_q <= (made_q == 11'd0) ? Leaves : Above;
        Above:  state_q <= Below;
        Below:  state_q <= Parent;
        Leaves: if (leaf_q == tokens_i - 11'd1) state_q <= Drain;
        default: if (is_leaf_q == 2'b00) state_q <= Idle;
      endcase
    end
  end
  // In Parent, made_q is how many inner nodes have no depth yet; inner_q is the last of them, whose
  // parent is being read.
  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle: begin
        leaf_q  <= 11'd0;
        inner_q <= 11'd0;
        made_q  <= 11'd0;
      end
      PickA: begin
        weight_q <= lightest;
        if (takes_leaf) leaf_q <= leaf_q + 11'd1;
        else inner_q <= inner_q + 11'd1;
      end
      PickB: begin
        if (takes_leaf) leaf_q <= leaf_q + 11'd1;
        else inner_q <= inner_q + 11'd1;
        if (ends_tree) begin
          inner_q <= made_q - 11'd1;
          leaf_q  <= 11'd0;
        end else begin
          made_q <= made_q + 11'd1;
        end
      end
      Below: begin
        made_q  <= made_q - 11'd1;
        inner_q <= inner_q - 11'd1;
      end
      Leaves: leaf_q <= leaf_q + 11'd1;
      default: ;
    endcase
    place1_q      <= leaf_q;
    depth_place_o <= place1_q;
  end
  assign depth_valid_o = is_leaf_q[1];
  assign depth_o       = deeper;
endmodule
