#!/usr/bin/env bash
# A slow disk on one machine: a file system in a file, throttled by the control groups of version 1 or 2. As root.
#
#   storage.sh up FOLDER MEGABYTES BYTES_PER_SECOND     an empty file system at FOLDER
#   storage.sh down FOLDER
set -euo pipefail
case ${1:-} in
up)
  mkdir -p "$2"
  truncate -s "${3}M" "$2.image"
  mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 "$2.image"
  device=$(losetup --find --show "$2.image")
  mount "$device" "$2"
  number=$(lsblk -no MAJ:MIN "$device" 2>/dev/null | tr -d ' ' || printf '%d:%d' $(stat -c '0x%t 0x%T' "$device"))
  if [ -e /sys/fs/cgroup/blkio/blkio.throttle.write_bps_device ]; then
    echo "$number $4" >/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device
  else
    echo "$number wbps=$4" >/sys/fs/cgroup/io.max
  fi
  ;;
down)
  device=$(findmnt -no SOURCE "$2" || true)
  umount "$2" 2>/dev/null || true
  [ -z "$device" ] || losetup -d "$device" 2>/dev/null || true
  rm -f "$2.image"
  rmdir "$2" 2>/dev/null || true
  ;;
*) sed -n '2,5s/^# \?//p' "$0" >&2; exit 2 ;;
esac
