#!/bin/sh
# In namespaces of its own: make a root that holds what is named and nothing else, go in for good.
#   wall.sh ROOT [link PATH] [bind PATH] [mask PATH] ... run UID PROGRAM ARGUMENTS
set -eu
root=$1
shift
mount -t tmpfs -o mode=755,size=1m,nosuid,nodev course "$root"
mkdir "$root/tmp"
mount -t tmpfs -o mode=1777,size=16m,nosuid,nodev course "$root/tmp"
while [ "$1" != run ]; do
  inside=$root$2
  mkdir -p "$(dirname "$inside")"
  case $1 in
    link) cp -P "$2" "$inside" ;;
    mask) mount -t tmpfs -o mode=755,size=1m,nosuid,nodev course "$inside" ;;
    bind)
      if [ -d "$2" ]; then mkdir -p "$inside"; else [ -e "$inside" ] || : >"$inside"; fi
      mount --bind "$2" "$inside"
      [ -c "$2" ] || mount -o remount,bind,ro,nosuid,nodev "$inside"
      ;;
  esac
  shift 2
done
mount -o remount,bind,ro,nosuid,nodev "$root"
cd "$root"
uid=$2
shift 2
# No capability is left to undo any of this; nobody's limits count where root grades.
[ "$uid" = 0 ] || set -- --reuid "$uid" --regid "$uid" --clear-groups "$@"
# This shell stays: it is the first process in here, and with it all others end.
chroot "$root" setpriv --no-new-privs --bounding-set=-all --inh-caps=-all "$@" || exit 1
