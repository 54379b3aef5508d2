"""Try what was built in a bare system: no Python, no compiler, no network, nothing but X.

    python3 packaging/release/try_linux.py make ROOT      # as root; debootstrap, Xvfb and the door to graphics drivers
    python3 packaging/release/try_linux.py run ROOT DIST --pictures FOLDER

A person of that system installs the package, makes a vault, stores and finds, opens the window; then the same from the
AppImage, unpacked by itself as where there is no FUSE, and mounted where ROOT was made with `--fuse`. Prints what was
seen and the seconds until the first window. Must not do: leave anything of the run in ROOT but the package's files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

SUITE = "bookworm"
X_PACKAGES = ("xvfb", "x11-utils", "libegl1")
FUSE_PACKAGES = ("libfuse2", "fuse")
# In the bare system, as root. $1: the package, $2: the AppImage, $3: whether it can be mounted.
_SESSION = r"""
set -eu
mount -t proc proc /proc
mount -t tmpfs tmpfs /tmp
chmod 1777 /tmp
for program in python3 cc gcc g++ clang; do
    if command -v $program > /dev/null; then echo "$program is here"; exit 1; fi
done
id person > /dev/null 2>&1 || useradd --create-home person
as_person() { setpriv --reuid person --regid person --clear-groups env -i HOME=/home/person PATH=/usr/bin:/bin "$@"; }
rm -rf /home/person/.local /home/person/.cache /tried
mkdir -p /tried
umask 077
echo "seven quiet herons above the bay" > /home/person/secret
chown person: /home/person/secret
umask 022

try_commands() {
    rm -rf /home/person/.local
    as_person "$@" --version
    as_person "$@" --passphrase-file /home/person/secret init > /dev/null
    as_person "$@" --passphrase-file /home/person/secret remember "The boat's mooring is paid until March."
    as_person "$@" --passphrase-file /home/person/secret recall "when is the mooring due?" | tee /tmp/answer
    grep -q "paid until March" /tmp/answer
    as_person "$@" --passphrase-file /home/person/secret doctor
}

try_window() {  # NAME COMMAND...
    name=$1; shift
    mkdir -p /tmp/screen
    Xvfb :9 -screen 0 1440x900x24 -fbdir /tmp/screen -nolisten tcp -noreset > /tmp/xvfb.log 2>&1 & server=$!
    until DISPLAY=:9 xwininfo -root > /dev/null 2>&1; do sleep 0.1; done
    before=$(date +%s%N)
    setpriv --reuid person --regid person --clear-groups env -i HOME=/home/person PATH=/usr/bin:/bin DISPLAY=:9 "$@" \
        > /tmp/window.log 2>&1 & window=$!
    found=
    for turn in $(seq 600); do
        for one in $(DISPLAY=:9 xwininfo -root -tree | sed -n 's/^ *\(0x[0-9a-f]*\) ".*Loci.*".*/\1/p'); do
            if DISPLAY=:9 xwininfo -id $one | grep -q IsViewable; then found=$one; fi
        done
        if [ -n "$found" ]; then break; fi
        kill -0 $window || { cat /tmp/window.log; exit 1; }
        sleep 0.02
    done
    after=$(date +%s%N)
    if [ -z "$found" ]; then echo "$name: no window"; cat /tmp/window.log; exit 1; fi
    echo "$name: first window after $(( (after - before) / 1000000 )) ms"
    sleep 4
    cp /tmp/screen/Xvfb_screen0 "/tried/$name.xwd"
    cat /tmp/window.log
    kill $window; wait $window || true
    kill $server; wait $server || true
}

echo "== the Debian package"
dpkg -i "$1" > /dev/null
dpkg --audit
LD_LIBRARY_PATH=/usr/lib/loci/_internal ldd /usr/lib/loci/_internal/PySide6/Qt/plugins/platforms/libqxcb.so \
    /usr/lib/loci/_internal/*.so* 2>/dev/null | grep "not found" | sort -u || true
try_commands loci
try_window package-first loci
try_window package-second loci
test -s /usr/share/man/man1/loci.1.gz
dpkg -r loci-palace > /dev/null
test ! -e /usr/lib/loci && test ! -e /usr/bin/loci
echo "== the AppImage"
if [ "$3" = mounted ]; then
    try_commands "$2"
    try_window image-first "$2"
    try_window image-second "$2"
else
    as_person "$2" --version && exit 1 || true
    try_commands "$2" --appimage-extract-and-run
    try_window image-unpacked "$2" --appimage-extract-and-run
fi
"""


def make_root(root: Path, *, fuse: bool) -> None:
    """Make the bare system.

    Args:
        root: its folder, which does not exist yet.
        fuse: whether AppImages can be mounted there.
    """
    subprocess.run(["debootstrap", "--variant=minbase", SUITE, str(root)], check=True)
    packages = (*X_PACKAGES, *(FUSE_PACKAGES if fuse else ()))
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["chroot", str(root), "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    subprocess.run(command, env=env, check=True)


def run_session(root: Path, built: Path, pictures: Path | None) -> int:
    """Try everything.

    Args:
        root: the bare system.
        built: the folder with what was built.
        pictures: where pictures of the screen go, as X writes them; None for nowhere.

    Returns:
        The exit code of what failed, or 0.
    """
    place = root / "built"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    deb, image = next(built.glob("*.deb")), next(built.glob("*.AppImage"))
    for source in (deb, image):
        shutil.copy2(source, place / source.name)
    can_mount = any((root / "usr" / "lib").glob("*/libfuse.so.2"))
    device = root / "dev" / "fuse"
    if can_mount and not device.exists():
        subprocess.run(["mknod", "-m", "666", str(device), "c", "10", "229"], check=True)
    given = (f"/built/{deb.name}", f"/built/{image.name}", "mounted" if can_mount else "unpacked")
    inside = ["chroot", str(root), "/bin/sh", "-c", _SESSION, "try", *given]
    alone = ["unshare", "--net", "--mount", "--pid", "--fork", "--ipc", "--kill-child"]
    code = subprocess.run([*alone, *inside], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, check=False).returncode
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        for picture in (root / "tried").glob("*.xwd"):
            shutil.copy2(picture, pictures / picture.name)
    shutil.rmtree(place)
    return code


def main() -> int:
    """Make the bare system or try in it.

    Returns:
        The exit code of what was tried; 2 for anybody but root.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("make", "run"))
    parser.add_argument("root", type=Path)
    parser.add_argument("built", type=Path, nargs="?", default=Path("dist"))
    parser.add_argument("--fuse", action="store_true", help="with make: let AppImages be mounted there")
    parser.add_argument("--pictures", type=Path, help="with run: where pictures of the screen go")
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("Only root can make and enter another system.", file=sys.stderr)
        return 2
    if given.step == "make":
        make_root(given.root.absolute(), fuse=given.fuse)
        return 0
    return run_session(given.root.absolute(), given.built.absolute(), given.pictures)


if __name__ == "__main__":
    sys.exit(main())
