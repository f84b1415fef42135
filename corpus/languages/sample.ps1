using namespace System.IO
param([string]$Name = "x")
$script:Version = "1.0"
enum Level { Low; High = 2 }
class Order : Base {
    [int]$Id
    hidden [string]$Name = "a"
    Order([int]$id) { $this.Id = $id }
    [string] ToString() { $local = 1; return "Order $($this.Id)" }
    static [Order] Create() { return [Order]::new(1) }
}
function Get-Order {
    [CmdletBinding()]
    param([Parameter(Mandatory)][int]$Id)
    process { $x = @{ a = 1 }; Get-Item | Where-Object { $_.Name -eq "x" } }
}
filter Select-Big { if ($_ -gt 10) { $_ } }
function global:Invoke-It([string]$a) { @"
here $a
"@ }
