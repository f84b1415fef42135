# Installs the agent as a service. Run as administrator.
param(
    [Parameter(Mandatory = $true)][string]$Version,
    [string]$Target = "C:\Program Files\Agent"
)

function Get-Checksum([string]$Path) {
    (Get-FileHash -Algorithm SHA256 -Path $Path).Hash.ToLower()
}

$archive = Join-Path $env:TEMP "agent-$Version.zip"
Invoke-WebRequest "https://downloads.example.org/agent-$Version.zip" -OutFile $archive
$expected = (Invoke-WebRequest "https://downloads.example.org/agent-$Version.sha256").Content.Trim()
if ((Get-Checksum $archive) -ne $expected) {
    throw "The checksum of $archive is wrong."
}
Expand-Archive $archive -DestinationPath $Target -Force
New-Service -Name agent -BinaryPathName "$Target\agent.exe" -StartupType Automatic
