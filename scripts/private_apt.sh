# Sourced by scripts that need packages which the machine itself shall not have.
#
#   private_apt FOLDER ARGUMENT ...   apt-get that keeps lists, cache and state in FOLDER; the machine's stay as they are
#   debian_mirror                     where the machine has its own Debian packages from
private_apt() {
  local folder=$1
  shift
  mkdir -p "$folder/lists/partial" "$folder/archives/partial"
  : >"$folder/status"
  apt-get -o "Dir::State::status=$folder/status" -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder" \
    -o "Dir::Cache::archives=$folder/archives" -o APT::Sandbox::User=root -o Debug::NoLocking=true "$@"
}
debian_mirror() {
  apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' | awk '$1 == "Debian" && $2 == "Debian" {print $3; exit}'
}
