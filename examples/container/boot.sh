#!/bin/sh
# What the image does, without an engine: a root of its own, the server in it as process 1 of a user who is nobody special.
#
#   boot.sh ROOT BINARY serve --require-auth …
#
# ROOT is filled with the binary, `sh` and a few programs, and the libraries that they ask for; a static binary asks for
# none. There is no bash, no git, no Python: whatever needs one says so. Only root can do this.
set -eu
root=$1
binary=$2
shift 2

mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/tmp" "$root/etc" "$root/home/user" "$root/usr/local/bin"
chmod 1777 "$root/tmp"
chown 1000:1000 "$root/home/user"
echo 'user:x:1000:1000::/home/user:/bin/sh' > "$root/etc/passwd"

# Copies a program to a place in the root, and every library that it names by the path it names it by.
take() {
  cp -L "$1" "$root$2"
  for library in $(ldd "$1" 2>/dev/null | grep -o '/[^ )]*'); do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
}
take "$binary" /usr/local/bin/agent-sandbox-server
for program in sh cat ls id sleep true; do
  if [ -x "/bin/$program" ]; then take "/bin/$program" "/bin/$program"; else take "/usr/bin/$program" "/bin/$program"; fi
done

export ROOT="$root" HOME=/home/user
exec unshare --mount --pid --fork --kill-child sh -c '
  mount --rbind /dev "$ROOT/dev"
  mount -t proc proc "$ROOT/proc"
  enter=$(command -v chroot)
  root=$ROOT
  unset ROOT
  export PATH=/usr/local/bin:/bin
  exec "$enter" --userspec=1000:1000 --groups=1000 "$root" /usr/local/bin/agent-sandbox-server "$@"
' boot "$@"
