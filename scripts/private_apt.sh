# shellcheck shell=bash
# Sourced by scripts that need Debian packages which the machine itself shall not have. What it has stays as it is.
#
#   private_apt FOLDER ARGUMENT ...   apt-get that keeps its lists, cache and state in FOLDER
#   debian_sources TYPE RELEASE ...   lines for sources.list; TYPE is deb or deb-src
#   debian_root FOLDER CPU RELEASE PACKAGE ...   unpacks packages of a release for a processor (as Debian calls it), and what
#                                     they depend on, into FOLDER/root; none of their scripts is run
private_apt() {
  local folder=$1
  shift
  mkdir -p "$folder/lists/partial" "$folder/archives/partial"
  : >"$folder/status"
  apt-get -qq -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o "Dir::State::status=$folder/status" -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder" \
    -o "Dir::Cache::archives=$folder/archives" -o APT::Sandbox::User=root -o Debug::NoLocking=true "$@"
}

debian_sources() {
  local mirror release  # from where the machine has its own packages
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' | awk '$1 == "Debian" && $2 == "Debian" {print $3; exit}')
  for release in "${@:2}"; do
    echo "$1 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main"
  done
}

debian_root() {
  local folder=$1 cpu=$2 release=$3 package
  local apt=$folder/apt root=$folder/root
  [ ! -e "$root/complete" ] || return 0
  rm -rf "$root"
  mkdir -p "$apt" "$root"/usr/{bin,sbin,lib,lib64}
  for package in bin sbin lib lib64; do
    ln -sfn "usr/$package" "$root/$package"
  done
  debian_sources deb "$release" >"$apt/sources.list"
  local options=(-o "APT::Architecture=$cpu" -o "APT::Architectures=$cpu")
  private_apt "$apt" "${options[@]}" update
  private_apt "$apt" "${options[@]}" install -y --no-install-recommends --download-only "${@:4}"
  for package in "$apt"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink
  done
  touch "$root/complete"
}
