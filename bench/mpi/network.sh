#!/usr/bin/env bash
# A slow network on one machine: namespaces on a bridge, every link shaped both ways. As root.
#
#   network.sh up N RATE      lw0 ... lw(N-1) with the addresses 10.77.0.1 ..., links of RATE (tc's words: 100mbit)
#   network.sh down N
#   network.sh agent HOST COMMAND ...    in place of ssh: runs the command where HOST is
#
# MPI processes started through the agent have host names of their own, so that they do not find each other's shared memory.
set -euo pipefail
case ${1:-} in
up)
  ip link add lwbr type bridge
  ip link set lwbr up
  ip addr add 10.77.0.254/24 dev lwbr
  for ((i = 0; i < $2; i++)); do
    ip netns add lw$i
    ip link add lwv$i type veth peer name lwe$i
    ip link set lwv$i master lwbr up
    ip link set lwe$i netns lw$i
    ip -n lw$i link set lo up
    ip -n lw$i addr add 10.77.0.$((i + 1))/24 dev lwe$i
    ip -n lw$i link set lwe$i up
    tc qdisc add dev lwv$i root tbf rate "$3" burst 32kb latency 50ms
    ip netns exec lw$i tc qdisc add dev lwe$i root tbf rate "$3" burst 32kb latency 50ms
  done
  ;;
down)
  for ((i = 0; i < $2; i++)); do
    ip netns del lw$i 2>/dev/null || true
    ip link del lwv$i 2>/dev/null || true
  done
  ip link del lwbr 2>/dev/null || true
  ;;
agent)
  shift
  while [[ $1 == -* ]]; do shift; done
  host=$1
  shift
  namespace=lw$((${host##*.} - 1))
  exec ip netns exec "$namespace" unshare -u /bin/sh -c "hostname $namespace; $*"
  ;;
*) sed -n '2,9s/^# \?//p' "$0" >&2; exit 2 ;;
esac
